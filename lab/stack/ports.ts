import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { portVariables, type StackPorts, type StackSettings } from './settings.js';

const afterCrashLimitMs = 30_000;

/**
 * Makes sure that every port that this stack will listen on is free. After a crash it waits up to 30 s for the
 * servers of the dead stack, which are being ended.
 * @throws Error naming each taken one, who may hold it, and which variable to set
 */
export async function assertPortsFree(
  settings: StackSettings,
  { afterCrash, log }: { afterCrash: boolean; log: (line: string) => void },
): Promise<void> {
  const deadline = Date.now() + (afterCrash ? afterCrashLimitMs : 0);
  let taken = await listTaken(settings);
  if (taken.length > 0 && afterCrash) log('an earlier stack died: waiting for its servers to end');
  while (taken.length > 0) {
    if (Date.now() >= deadline) throw new Error(taken.join('\n'));
    await sleep(500);
    taken = await listTaken(settings);
  }
}

async function listTaken(settings: StackSettings): Promise<string[]> {
  const needed = (Object.keys(portVariables) as (keyof StackPorts)[]).filter((name) => {
    if (name === 'postgres') return settings.databaseUrl === null;
    if (name === 'temporal' || name === 'temporalUi') return settings.temporalAddress === null;
    return true;
  });
  const faults = await Promise.all(needed.map((name) => findPortFault(name, settings.ports[name])));
  return faults.filter((fault) => fault !== undefined);
}

async function findPortFault(name: keyof StackPorts, port: number): Promise<string | undefined> {
  const code = await tryListen(port);
  if (code === undefined) return undefined;
  const { variable, service, holder } = portVariables[name];
  if (code === 'EACCES')
    return `Port ${port} for ${service} may not be used by this user: set ${variable} above 1023.`;
  return (
    `Port ${port} for ${service} is taken (${code}), perhaps by ${holder} or by a stack of another folder. ` +
    `Stop it ("lsof -i :${port}" or "ss -ltnp" shows it), or set ${variable} to a free port.`
  );
}

/** @returns the error's code, or undefined when the port is free */
async function tryListen(port: number): Promise<string | undefined> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(undefined)));
  });
}

/**
 * Finds ports that nothing listens on, all different.
 * Another program may take one before it is used; whoever starts a server on it says so then.
 */
export async function findFreePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer();
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject);
        server.listen(0, '127.0.0.1', resolve);
      });
      return server;
    }),
  );
  return Promise.all(
    servers.map(async (server) => {
      const address = server.address();
      await new Promise((resolve) => server.close(resolve));
      if (address === null || typeof address === 'string')
        throw new Error('The port of a TCP server is unknown');
      return address.port;
    }),
  );
}

/**
 * Finds free ports below those that the system hands out by itself: for a program that takes no higher ones.
 * @throws Error when there are not so many
 */
export async function findFreeLowPorts(count: number): Promise<number[]> {
  const found: number[] = [];
  for (
    let port = lowPorts.first + randomInt(lowPorts.last - lowPorts.first - 2_000);
    found.length < count;
    port += 1
  ) {
    if (port > lowPorts.last) throw new Error(`There are no ${count} free ports below ${lowPorts.last}.`);
    if ((await tryListen(port)) === undefined) found.push(port);
  }
  return found;
}

const lowPorts = { first: 12_000, last: 32_000 };
