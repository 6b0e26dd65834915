import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { portVariables, type StackPorts, type StackSettings } from './settings.js';

const afterCrashLimitMs = 30_000;

/**
 * Checks that every port that this stack will listen on is free. After a crash it waits up to 30 s for the servers of
 * the dead stack to end.
 * @throws Error that names each taken port, its likely holder, and the variable to set
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
    if (name === 'temporal' || name === 'temporalUi') return settings.temporal === null;
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
 * Below the ports that a system hands out by itself (from 32768 on Linux, from 49152 elsewhere). Temporal's PostgreSQL
 * schema, too, keeps ports as smallint: with a port above 32767 that server ends at once.
 */
const range = { first: 12_000, last: 32_000 };

/**
 * Finds different ports on 127.0.0.1 that nothing listens on. They lie below those that a system hands out by itself:
 * between the search and the use, such a port may become an end of another program's connection. Another program may
 * still begin to listen on one; the start of a server on it then says so.
 * @throws Error when there are not enough
 */
export async function findFreePorts(count: number): Promise<number[]> {
  const found = new Set<number>();
  for (let tried = 0; found.size < count; tried += 1) {
    if (tried === range.last) throw new Error(`There are no ${count} free ports below ${range.last}.`);
    const port = randomInt(range.first, range.last);
    if (!found.has(port) && (await tryListen(port)) === undefined) found.add(port);
  }
  return [...found];
}

/** Gives each server of a stack a free port. @returns the variables that say so (settings.ts) */
export async function findStackPorts(): Promise<Record<string, string>> {
  const variables = Object.values(portVariables).map(({ variable }) => variable);
  const ports = await findFreePorts(variables.length);
  return Object.fromEntries(variables.map((variable, index) => [variable, String(ports[index])]));
}
