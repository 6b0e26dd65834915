import type { GpuRental } from '@gpu-rental/client';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Cli } from '../cli.js';
import { readIfThere } from '../config/files.js';
import { usageFailure } from '../failure.js';
import { fingerprintOf } from './fingerprint.js';

/** A server closes the connection after some six keys that it does not know. */
const offeredAtMost = 4;

/**
 * Chooses the keys by which to enter a machine: this machine's own, which each rental made here knows, and those of
 * ~/.ssh that are stored with the service. A public half alone means that an agent holds the private one.
 */
export async function chooseKeys(cli: Cli, client: GpuRental, given: string | undefined): Promise<string[]> {
  if (given !== undefined) return [namedKey(given)];
  const own = cli.store.paths.identity;
  const stored = await storedFingerprints(cli, client);
  const { home } = cli.surroundings;
  const fitting = (home === '' ? [] : publicHalves(join(home, '.ssh'))).filter(({ fingerprint }) =>
    stored.has(fingerprint),
  );
  return [
    ...(existsSync(own) ? [own] : []),
    ...fitting
      .map(({ file }) => file.replace(/\.pub$/, ''))
      .map((file) => (existsSync(file) ? file : `${file}.pub`)),
  ].slice(0, offeredAtMost);
}

/** A key that is named on the command line. @throws Failure when there is none */
export function namedKey(file: string): string {
  if (!existsSync(file)) throw usageFailure(`There is no key at ${file}.`);
  return file;
}

/** The stored keys are a help only: without them, this machine's own key is left. */
async function storedFingerprints(cli: Cli, client: GpuRental): Promise<ReadonlySet<string>> {
  try {
    const keys = await client.sshKeys.list({ signal: cli.signal, timeoutMs: 10_000 });
    // One that a program added opens only machines whose request names it.
    return new Set(keys.filter(({ byKey }) => !byKey).map(({ fingerprint }) => fingerprint));
  } catch {
    return new Set();
  }
}

function publicHalves(folder: string): { readonly file: string; readonly fingerprint: string }[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => name.endsWith('.pub'))
    .flatMap((name) => {
      const file = join(folder, name);
      const [, key] = (readIfThere(file) ?? '').trim().split(/\s+/);
      return key === undefined ? [] : [{ file, fingerprint: fingerprintOf(key) }];
    });
}
