import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Answer {
  readonly status: number;
  readonly body: object;
}

/**
 * Stands between a client and the service: it hands everything on, but answers each create of a rental in its own way
 * after it was done, and refuses to let anybody look at one.
 */
export async function startBetween(
  serviceUrl: string,
  answerOf: (opened: { readonly rentalId: string }) => Answer,
): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const server = createServer((request, response) => {
    const hand = async (): Promise<void> => {
      const { method = '', url = '', headers } = request;
      const body = Buffer.concat((await request.toArray()) as Buffer[]);
      const { host: _, connection: __, 'transfer-encoding': ___, ...kept } = headers;
      const answer = await fetch(new URL(url, serviceUrl), {
        method,
        headers: kept as Record<string, string>,
        ...(body.length > 0 && { body }),
      });
      const text = await answer.text();
      const send = (given: Answer): void => {
        response.writeHead(given.status, { 'Content-Type': 'application/json' });
        response.end(JSON.stringify(given.body));
      };
      if (method === 'POST' && url === '/v1/rentals') {
        send(answerOf({ rentalId: (JSON.parse(text) as { id: string }).id }));
      } else if (method === 'GET' && url.startsWith('/v1/rentals/')) {
        const details = { scope: 'read' };
        send({ status: 403, body: { error: 'key_scope', message: 'No.', requestId: 'req_2', details } });
      } else {
        response.writeHead(answer.status, { 'Content-Type': 'application/json' });
        response.end(text);
      }
    };
    void hand();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
