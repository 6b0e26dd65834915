import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import type { TestPostgres, TestTemporal } from './started-servers.js';

/** The servers that the processes of a parallel run share. */
export interface SharedServers {
  readonly postgres: TestPostgres;
  readonly temporal: TestTemporal;
}

type Starts = { readonly [Name in keyof SharedServers]: () => Promise<SharedServers[Name]> };
type Answer = { readonly server: unknown } | { readonly fault: string };

const portVariable = 'GPU_RENTAL_TEST_SERVERS';

/**
 * Lets the processes of a parallel run request this one's servers: they inherit its environment. Each process waits
 * only for the servers that it requests, so the files load while a server starts.
 * @param starts may be called more than once
 */
export async function offerServers(starts: Starts): Promise<void> {
  const server: Server = createServer((socket) => void answer(socket, starts));
  server.unref().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the offer of servers has no port');
  process.env[portVariable] = String(address.port);
}

/** Whether another process began this run and has the servers. */
export function areServersShared(): boolean {
  return process.env[portVariable] !== undefined;
}

/**
 * Requests a server from the process that began this run.
 * @throws Error with the reason why the server did not start
 */
export async function askForServer<Name extends keyof SharedServers>(
  name: Name,
): Promise<SharedServers[Name]> {
  const socket = connect(Number(process.env[portVariable]), '127.0.0.1');
  socket.write(name);
  const answered = JSON.parse(await text(socket)) as Answer;
  if ('fault' in answered) throw new Error(answered.fault);
  return answered.server as SharedServers[Name];
}

async function answer(socket: Socket, starts: Starts): Promise<void> {
  // The process at the other end may be gone.
  socket.on('error', () => undefined);
  socket.end(JSON.stringify(await startFor(socket, starts)));
}

async function startFor(socket: Socket, starts: Starts): Promise<Answer> {
  try {
    const [name] = (await once(socket, 'data')) as [Buffer];
    return { server: await starts[name.toString() as keyof SharedServers]() };
  } catch (error) {
    return { fault: error instanceof Error ? error.message : String(error) };
  }
}
