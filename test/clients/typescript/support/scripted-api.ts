import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request as it arrived. */
export interface Arrived {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

/** How the next request is answered: by a status with a body, or by whatever is done to the connection. */
export type Reply =
  | { readonly status: number; readonly body?: unknown; readonly headers?: Record<string, string> }
  | ((response: ServerResponse, request: IncomingMessage) => void);

/** An API that answers requests one after the other as it was told to; one that nobody foresaw is a fault. */
export class ScriptedApi {
  readonly arrived: Arrived[] = [];
  /** Requests that nobody foresaw. */
  unforeseen = 0;
  readonly #replies: Reply[] = [];
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(): Promise<ScriptedApi> {
    const server = createServer();
    const api = new ScriptedApi(server);
    server.on('request', (request, response) => void api.#answer(request, response));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return api;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Forgets what arrived, and answers the next requests so. */
  script(...replies: readonly Reply[]): void {
    this.arrived.length = 0;
    this.#replies.splice(0, Infinity, ...replies);
  }

  /** How many replies nobody has asked for. */
  get left(): number {
    return this.#replies.length;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = Buffer.concat((await request.toArray()) as Buffer[]).toString('utf8');
    const { method = '', url = '', headers } = request;
    this.arrived.push({ method, path: url, headers, body });
    if (this.#replies.length === 0) this.unforeseen += 1;
    const reply = this.#replies.shift() ?? { status: 599, body: { error: 'unforeseen', message: url } };
    if (typeof reply === 'function') {
      reply(response, request);
      return;
    }
    response.writeHead(reply.status, { 'Content-Type': 'application/json', ...reply.headers });
    response.end(typeof reply.body === 'string' ? reply.body : JSON.stringify(reply.body ?? {}));
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}

/** A refusal as the API words it. */
export function refusal(
  status: number,
  error: string,
  details?: object,
  headers?: Record<string, string>,
): Reply {
  const body = { error, message: `it is ${error}`, ...(details && { details }), requestId: 'req-1' };
  return { status, body, ...(headers && { headers }) };
}

/** Takes the request, and dies before it answers. */
export function dies(response: ServerResponse): void {
  response.destroy();
}
