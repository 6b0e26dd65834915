import type { Surroundings } from '../surroundings.js';
import type { EnvProxies } from './env-proxy.mjs';

/**
 * Chooses how requests leave. Node 20's own fetch ignores HTTPS_PROXY and its like, so a package's fetch takes its
 * place where one of them is set; without one it is not even loaded.
 */
export function fetchOf({ env, fetch: given }: Pick<Surroundings, 'env' | 'fetch'>): typeof fetch {
  if (given) return given;
  const proxies = proxiesOf(env);
  if (proxies.httpProxy === undefined && proxies.httpsProxy === undefined) return globalThis.fetch;
  const loaded = import('./env-proxy.mjs').then(({ fetchByProxy }) => fetchByProxy(proxies));
  return async (input, init) => (await loaded)(input, init);
}

/** Reads the variables in both spellings, the lower one first, as curl does. */
function proxiesOf(env: Surroundings['env']): EnvProxies {
  // An empty one says: none.
  const read = (name: string): string | undefined => {
    const value = env[name.toLowerCase()] ?? env[name];
    return value === '' ? undefined : value;
  };
  const httpProxy = read('HTTP_PROXY') ?? read('ALL_PROXY');
  const httpsProxy = read('HTTPS_PROXY') ?? read('ALL_PROXY');
  const noProxy = read('NO_PROXY');
  return {
    ...(httpProxy !== undefined && { httpProxy }),
    ...(httpsProxy !== undefined && { httpsProxy }),
    ...(noProxy !== undefined && { noProxy }),
  };
}
