/** The proxies of the environment; noProxy lists hosts that are reached without one, as in NO_PROXY. */
export interface EnvProxies {
  readonly httpProxy?: string;
  readonly httpsProxy?: string;
  readonly noProxy?: string;
}

export function fetchByProxy(proxies: EnvProxies): typeof fetch;
