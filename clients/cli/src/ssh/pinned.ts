import { mkdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isServiceId } from '../checked-answers.js';
import type { Cli } from '../cli.js';
import { namesInFolder, readJsonFile, writePrivately } from '../config/files.js';
import { usageFailure } from '../failure.js';
import { isMeant } from '../rentals/find-rental.js';
import { nameOf, shortId } from '../views/rental.js';
import { forgetHostKey, type Reachable } from './known-hosts.js';

/** How a machine was reached when the service was last asked: by this it is found while the service is away. */
export interface Pinned extends Reachable {
  /** The sign-in that it belongs to. */
  readonly place: string;
  /** The files of the keys that were offered. */
  readonly keys: readonly string[];
  /** When the service told of it; ISO 8601, UTC. */
  readonly toldAt: string;
}

/** Keeps how a machine is reached. It is a help for later only: what can't be written stops nobody from entering now. */
export function keepPinned(cli: Cli, machine: Reachable, keys: readonly string[]): void {
  const { host, port, username, hostKeyFingerprint } = machine;
  const { id, name } = machine.rental;
  const pinned: Pinned = {
    ...{ rental: { id, name }, host, port, username, hostKeyFingerprint },
    ...{ place: cli.place, keys: keys.map((file) => resolve(file)) },
    toldAt: new Date(cli.surroundings.now()).toISOString(),
  };
  try {
    mkdirSync(cli.store.paths.machines, { recursive: true, mode: 0o700 });
    writePrivately(fileOf(cli, id), `${JSON.stringify(pinned, null, 2)}\n`);
  } catch {
    // As above.
  }
}

/** The machines of a sign-in that a name, an id or nothing at all may mean, as they were kept. */
export function pinnedMachines(cli: Cli, given: string | undefined, at = cli.place): Pinned[] {
  return allPinned(cli).filter(
    ({ place, rental }) => place === at && (given === undefined || isMeant(rental, given)),
  );
}

/** @throws Failure when they are several: nobody can tell which of them still runs */
export function onlyPinned(machines: readonly Pinned[]): Pinned {
  const [first, ...others] = machines;
  if (first && others.length === 0) return first;
  const names = machines.map(({ rental }) => `${shortId(rental.id)} (${nameOf(rental)})`).join(', ');
  throw usageFailure('More than one machine may be meant.', `Name one of them: ${names}`);
}

/** Forgets a machine that has ended, and its host key. What can't be removed leads nowhere, and keeps nobody from going on. */
export function forgetMachine(cli: Cli, rentalId: string): void {
  try {
    forgetHostKey(cli, rentalId);
    rmSync(fileOf(cli, rentalId), { force: true });
  } catch {
    // As above.
  }
}

function allPinned(cli: Cli): Pinned[] {
  return namesInFolder(cli.store.paths.machines)
    .filter(isServiceId)
    .flatMap((id) => {
      try {
        // Whoever uses it checks it as an answer of the service.
        const found = readJsonFile(fileOf(cli, id)) as unknown as Pinned;
        return found.rental.id === id ? [found] : [];
      } catch {
        return [];
      }
    });
}

function fileOf(cli: Cli, rentalId: string): string {
  return join(cli.store.paths.machines, rentalId);
}
