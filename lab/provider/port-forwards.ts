import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** Where a port of a pod is open. */
export interface PortForward {
  readonly private: number;
  readonly public: number;
}

export interface PortForwards {
  readonly forwards: readonly PortForward[];
  close(): Promise<void>;
}

/** Opens each port of a pod under a number that the lab chooses, another one at each start. All machines are this one. */
export async function openForwards(host: string, ports: readonly number[]): Promise<PortForwards> {
  const sockets = new Set<Socket>();
  const opened = await Promise.all(
    ports.map(async (port) => ({ port, server: await forward(host, port, sockets) })),
  );
  return {
    forwards: opened.map(({ port, server }) => ({
      private: port,
      public: (server.address() as AddressInfo).port,
    })),
    async close() {
      for (const socket of sockets) socket.destroy();
      await Promise.all(opened.map(({ server }) => new Promise((resolve) => server.close(resolve))));
    },
  };
}

async function forward(host: string, port: number, sockets: Set<Socket>): Promise<Server> {
  const server = createServer((outside) => {
    const inside = connect(port, host);
    for (const [from, to] of [
      [outside, inside],
      [inside, outside],
    ] as const) {
      sockets.add(from);
      from.on('error', () => to.destroy());
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
      from.pipe(to);
    }
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port: 0 }, resolve);
  });
  return server;
}
