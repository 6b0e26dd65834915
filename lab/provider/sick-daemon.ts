import { createServer, type AddressInfo, type Socket } from 'node:net';
import type { PodSshServer } from './pod-ssh-server.js';

/**
 * Stands in a daemon's place on a sick pod.
 * @param ailment silent: accepts and stays silent, as an upstream's proxy does before the daemon is up; refused: the
 * port is real, and nobody listens there
 */
export async function startSickDaemon(
  host: string,
  port: number,
  ailment: 'silent' | 'refused',
): Promise<PodSshServer> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port }, resolve);
  });
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      for (const socket of sockets) socket.destroy();
    });
  const taken = (server.address() as AddressInfo).port;
  if (ailment === 'refused') await close();
  return { port: taken, close };
}
