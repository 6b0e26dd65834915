import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** One request as it was sent, and its answer. */
export interface Exchange {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly query: string;
  /** The headers that matter to the API. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly status: number;
  readonly answer: unknown;
}

export interface RecordingProxy {
  readonly url: string;
  /** In the order of their answers. */
  readonly exchanges: readonly Exchange[];
  close(): Promise<void>;
}

const passedOn = ['authorization', 'content-type', 'idempotency-key', 'stripe-version'];

/** Passes every request on to the simulator, and keeps it with its answer. */
export async function startRecordingProxy(targetUrl: string): Promise<RecordingProxy> {
  const exchanges: Exchange[] = [];
  const server = createServer((request, response) => {
    void passOn(targetUrl, request, response, exchanges);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    exchanges,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

async function passOn(
  targetUrl: string,
  request: IncomingMessage,
  response: ServerResponse,
  exchanges: Exchange[],
): Promise<void> {
  try {
    const url = new URL(request.url ?? '/', targetUrl);
    const headers = Object.fromEntries(
      passedOn.flatMap((name): [string, string][] => {
        const value = request.headers[name];
        return typeof value === 'string' ? [[name, value]] : [];
      }),
    );
    const method = request.method ?? 'GET';
    const body = await text(request);
    const answer = await fetch(url, { method, headers, ...(body === '' ? {} : { body }) });
    const answered = await answer.text();
    exchanges.push({
      method,
      path: url.pathname,
      query: url.search.slice(1),
      headers,
      body,
      status: answer.status,
      answer: JSON.parse(answered) as unknown,
    });
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(answered);
  } catch {
    // The client sees a cut connection, which is an error of its own and ends the run.
    response.destroy();
  }
}
