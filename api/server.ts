import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';

import { outcomeUnread } from './http/middleware/outcomes.js';
import { Pipelines } from './http/pipelines.js';
import { defaultPace, PaceWatch, type PaceLimits } from './http/pace.js';

/** How long a client may take, in milliseconds. */
export interface ServerTimeouts {
  /** From the first byte of a request to the end of its headers. */
  readonly headersMs: number;
  /** From the first byte of a request to its last. */
  readonly requestMs: number;
  /** Between two requests on one connection. */
  readonly keepAliveMs: number;
  /** A connection without any traffic: longer than any answer is waited for. */
  readonly idleMs: number;
  /** How fast an answer must be taken; default: defaultPace. */
  readonly pace?: PaceLimits;
}

export const defaultTimeouts: ServerTimeouts = {
  headersMs: 10_000,
  requestMs: 30_000,
  // Longer than the minute that proxies commonly keep a connection: we must not be the first to close.
  keepAliveMs: 65_000,
  idleMs: 120_000,
};

/** How long requests under way may take to end once the process is asked to stop. */
export const stopWithinMs = 25_000;

/** Answers requests: the callback of the Koa app. */
type Handle = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

export interface ApiServer {
  readonly server: Server;
  /**
   * Takes no new requests, lets those under way end, and cuts connections that have not ended within the limit.
   * @returns how many connections had to be cut
   */
  stop(withinMs: number): Promise<number>;
}

/** Listens for requests. It cuts slow clients, so that none holds a connection for longer than honest ones need. */
export async function startServer(
  handle: Handle,
  address: { readonly host: string; readonly port: number },
  timeouts: ServerTimeouts = defaultTimeouts,
): Promise<ApiServer> {
  const underWay = new Set<ServerResponse>();
  let stopping = false;
  const server = createServer({
    headersTimeout: timeouts.headersMs,
    requestTimeout: timeouts.requestMs,
    keepAliveTimeout: timeouts.keepAliveMs,
    connectionsCheckingInterval: Math.min(5_000, timeouts.headersMs / 2),
  });
  server.setTimeout(timeouts.idleMs, (socket) => socket.destroy());
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    if (stopping) {
      refuse(request, response);
      return;
    }
    underWay.add(response);
    // What watches an answer hears of its end once each, and the pipeline of a file four times: that is no leak.
    response.setMaxListeners(20);
    response.once('close', () => {
      underWay.delete(response);
      // Its headers may have left before the stop, without a word about the connection.
      if (stopping) setImmediate(() => server.closeIdleConnections());
    });
    void handle(request, response);
  };
  const pipelines = new Pipelines();
  server.on('request', (request, response) => {
    pipelines.enter(request, response, () => answer(request, response));
  });
  const paceWatch = new PaceWatch(underWay, timeouts.pace ?? defaultPace);
  server.listen(address.port, address.host);
  await once(server, 'listening');
  return {
    server,
    async stop(withinMs) {
      stopping = true;
      const closed = once(server, 'close');
      let cut = 0;
      const hurry = setTimeout(() => {
        cut = underWay.size;
        server.closeAllConnections();
      }, withinMs);
      server.close();
      // A kept connection would bring further requests after this answer.
      for (const response of underWay) if (!response.headersSent) response.setHeader('Connection', 'close');
      server.closeIdleConnections();
      await closed;
      paceWatch.stop();
      clearTimeout(hurry);
      return cut;
    },
  };
}

/** Refuses a request on a kept connection: another process, or this one after its start, will answer it. */
function refuse(request: IncomingMessage, response: ServerResponse): void {
  const requestId = randomUUID();
  const [path = ''] = (request.url ?? '').split('?');
  const isKeyed = request.headers['idempotency-key'] !== undefined;
  const details = outcomeUnread(request.method ?? '', path, isKeyed);
  const body = {
    error: 'temporarily_unavailable',
    message: 'This server is shutting down. Send the request again.',
    ...(details && { details }),
    requestId,
  };
  response
    .writeHead(503, { 'Content-Type': 'application/json', 'X-Request-Id': requestId, Connection: 'close' })
    .end(JSON.stringify(body));
}
