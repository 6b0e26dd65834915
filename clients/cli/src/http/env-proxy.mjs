import { EnvHttpProxyAgent, fetch } from 'undici';

/**
 * Returns a fetch whose connections go through the proxies that are named. What it is given is taken apart: this fetch
 * is the package's, which does not know the Request of Node's own.
 */
export function fetchByProxy(proxies) {
  const dispatcher = new EnvHttpProxyAgent(proxies);
  return async (input, init) => {
    const request = new Request(input, init);
    const { url, method, headers, redirect, signal } = request;
    const body = request.body === null ? undefined : await request.arrayBuffer();
    return fetch(url, { method, headers: [...headers], redirect, signal, body, dispatcher });
  };
}
