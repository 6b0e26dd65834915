import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/** A message that a receiver got. */
export interface Received {
  readonly type: string;
  readonly id: string;
  readonly seq?: number;
  readonly entityId: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

type Answering = (message: Received, response: ServerResponse, socket: Socket) => void;

/** A receiver of webhooks on loopback, with its own ways. */
export interface Receiver {
  readonly url: string;
  readonly received: Received[];
  /** The events that it got, without challenges. */
  events(): Received[];
  /** How it answers events; default: 204. */
  answer: Answering;
  /** How it answers challenges; default: as it should. */
  answerChallenge: Answering;
  /** Requests that it has at once. */
  readonly now: { open: number; most: number };
  close(): Promise<void>;
}

/** Starts a receiver. Call `close` in an `after` hook. */
export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = [];
  const now = { open: 0, most: 0 };
  const server = createServer((request, response) => {
    now.open += 1;
    now.most = Math.max(now.most, now.open);
    response.on('close', () => (now.open -= 1));
    let body = '';
    request.on('data', (chunk) => (body += String(chunk)));
    request.on('end', () => {
      const message = { ...(JSON.parse(body) as Received), headers: request.headers, body };
      received.push(message);
      const answer = message.type === 'webhook.challenge' ? receiver.answerChallenge : receiver.answer;
      answer(message, response, request.socket);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received,
    now,
    events: () => received.filter(({ type }) => type !== 'webhook.challenge'),
    answer: (_message, response) => void response.writeHead(204).end(),
    answerChallenge: ({ data }, response) =>
      void response.end(JSON.stringify({ challenge: data['challenge'] })),
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return receiver;
}
