import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** The balancer before the APIs, as in production: it passes connections on and reads nothing of them. */
export interface Front {
  close(): Promise<void>;
}

/**
 * Listens on loopback and passes each connection to the APIs in turn, or to the next one when nothing listens at the
 * first. It cuts a connection whose API dies: as in production, its client then does not know the outcome.
 */
export async function startFront(port: number, apiPorts: readonly number[]): Promise<Front> {
  const open = new Set<Socket>();
  const state = { turn: 0 };
  const server = createServer((client) => {
    track(client, open);
    state.turn += 1;
    const order = apiPorts.map((_, index) => apiPorts[(state.turn + index) % apiPorts.length] ?? 0);
    pass(client, order, open);
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    async close() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of open) socket.destroy();
      await closed;
    },
  };
}

function pass(client: Socket, [first, ...others]: readonly number[], open: Set<Socket>): void {
  if (first === undefined || client.destroyed) {
    client.destroy();
    return;
  }
  const api = connect(first, '127.0.0.1');
  const next = (): void => pass(client, others, open);
  api.once('error', next);
  api.once('connect', () => {
    api.off('error', next);
    track(api, open);
    client.pipe(api);
    api.pipe(client);
    client.once('close', () => api.destroy());
    api.once('close', () => client.destroy());
  });
}

function track(socket: Socket, open: Set<Socket>): void {
  open.add(socket);
  socket.on('error', () => socket.destroy());
  socket.once('close', () => open.delete(socket));
}
