import { createServer } from 'node:net';
import type { Cli } from '../cli.js';
import { runAtTerminal, type Connection } from './connection.js';

/** One forward: a port here, and the port of the machine that it leads to. */
export interface Forward {
  readonly localPort: number;
  readonly remotePort: number;
}

/** ssh runs it as soon as the connection stands. */
const connected = 'LocalCommand=echo "Connected. Press ctrl-C to end." >&2';

/** Leads ports of 127.0.0.1 to ports of a machine, until ctrl-C. @returns the exit code */
export async function forwardPorts(
  cli: Cli,
  connection: Connection,
  ports: readonly Forward[],
): Promise<number> {
  const { host, port, username, options } = connection;
  const settings = [
    'ExitOnForwardFailure=yes',
    'ServerAliveInterval=15',
    'PermitLocalCommand=yes',
    connected,
  ];
  const args = [
    ...['-N', '-p', String(port), '-l', username, ...options],
    ...settings.flatMap((setting) => ['-o', setting]),
    ...ports.flatMap(({ localPort, remotePort }) => ['-L', `127.0.0.1:${localPort}:127.0.0.1:${remotePort}`]),
    ...['--', host],
  ];
  const code = await runAtTerminal(cli, 'ssh', args, connection);
  return cli.signal.aborted ? 0 : code;
}

/** Finds a free port of 127.0.0.1. @param wanted the one to take if nobody has it */
export async function findFreePort(wanted: number): Promise<number> {
  return (await tryPort(wanted)) ?? (await tryPort(0)) ?? wanted;
}

function tryPort(port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(undefined));
    server.listen({ host: '127.0.0.1', port }, () => {
      const address = server.address();
      const found = typeof address === 'object' && address !== null ? address.port : undefined;
      server.close(() => resolve(found));
    });
  });
}
