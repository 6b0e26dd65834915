import { usageFailure } from '../failure.js';
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

/**
 * Reads the address of a proxy. Without a scheme it is one of http, as curl takes it.
 * @throws Failure that names the variable
 */
function proxyUrl(variable: string, given: string): string {
  const withScheme = /^[a-z][a-z0-9+.-]*:\/\//i.test(given) ? given : `http://${given}`;
  const url = URL.canParse(withScheme) ? new URL(withScheme) : undefined;
  if (url && schemes.has(url.protocol)) return url.href;
  throw usageFailure(
    `${variable} is not a proxy that this command can use.`,
    `It looks like http://proxy.example.com:3128. Without a proxy: unset ${variable}, or set NO_PROXY to the host of the service.`,
  );
}

const schemes: ReadonlySet<string> = new Set(['http:', 'https:', 'socks5:', 'socks:']);

/** Reads the variables in both spellings, the lower one first, as curl does. */
function proxiesOf(env: Surroundings['env']): EnvProxies {
  // An empty one says: none.
  const read = (name: string): string | undefined => {
    const value = env[name.toLowerCase()] ?? env[name];
    return value === '' ? undefined : value;
  };
  const all = (name: string): string | undefined => {
    const [from, value] =
      [name, 'ALL_PROXY'].map((each) => [each, read(each)] as const).find(([, v]) => v) ?? [];
    return from === undefined || value === undefined ? undefined : proxyUrl(from, value);
  };
  const httpProxy = all('HTTP_PROXY');
  const httpsProxy = all('HTTPS_PROXY');
  const noProxy = read('NO_PROXY');
  return {
    ...(httpProxy !== undefined && { httpProxy }),
    ...(httpsProxy !== undefined && { httpsProxy }),
    ...(noProxy !== undefined && { noProxy }),
  };
}
