import type { IncomingMessage } from 'node:http';
import type { Plugin, ProxyOptions } from 'vite';

/** What the service answers itself: data, its description, and the mock's payment pages. */
const SERVICE = '^/(v1|docs|healthz|readyz|mock)(/|$)';

/** The addresses at which the service answers with one of the two documents; others below /app are the router's. */
const documents: Readonly<Record<string, string>> = {
  '/login': '/app/index.html',
  '/app': '/app/index.html',
  '/app/card': '/app/card.html',
};

/** Answers pages at the addresses at which the service does. */
export function servedAddresses(): Plugin {
  return {
    name: 'served-addresses',
    apply: 'serve',
    configureServer({ middlewares }) {
      middlewares.use((request: IncomingMessage, response, next) => {
        const [path = '', query] = (request.url ?? '').split('?', 2);
        if (path === '/') {
          response.writeHead(302, { Location: '/app' }).end();
          return;
        }
        const document = documents[path];
        if (document !== undefined) request.url = query === undefined ? document : `${document}?${query}`;
        next();
      });
    },
  };
}

/**
 * Asks the service for what is its own, so that its cookie counts here. Pages of this server, and of no other, change
 * things as pages of the service do.
 * @param apiUrl scheme, host and port of the service
 */
export function serviceProxy(apiUrl: string): Record<string, ProxyOptions> {
  return {
    [SERVICE]: {
      target: apiUrl,
      changeOrigin: true,
      configure(proxy) {
        proxy.on('proxyReq', (outgoing, incoming) => {
          if (incoming.headers.origin === `http://${incoming.headers.host ?? ''}`) {
            outgoing.setHeader('origin', new URL(apiUrl).origin);
          }
        });
      },
    },
  };
}
