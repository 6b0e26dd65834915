import { randomBytes } from 'node:crypto';
import { linkSync, mkdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Cli } from '../cli.js';
import { readIfThere } from '../config/files.js';
import { Failure } from '../failure.js';
import { isMissingProgram } from './programs.js';

/**
 * Makes sure that this machine has a key pair of its own for rented machines: the private half never leaves it.
 * @returns the public half, as a line of authorized_keys
 */
export async function ensureIdentity(cli: Cli): Promise<string> {
  const file = cli.store.paths.identity;
  const known = readPublicHalf(file);
  if (known !== undefined) return known;
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  await makePair(cli, file);
  const made = readPublicHalf(file);
  if (made === undefined)
    throw new Failure('fault', `Could not create a key at ${file}.`, 'Check the permissions there.');
  return made;
}

/** The public half; undefined unless both are there. */
function readPublicHalf(file: string): string | undefined {
  if (readIfThere(file) === undefined) return undefined;
  return readIfThere(`${file}.pub`)?.trim();
}

/** Makes a pair beside its place, and moves it there. Of two commands at once, the first one's pair stays. */
async function makePair(cli: Cli, file: string): Promise<void> {
  const draft = `${file}.${randomBytes(6).toString('hex')}`;
  try {
    const args = ['-q', '-t', 'ed25519', '-N', '', '-C', 'gpu-rental', '-f', draft];
    const { code, stderr } = await cli.surroundings.run('ssh-keygen', args, { limitMs: 30_000 });
    if (code !== 0) throw new Failure('fault', `ssh-keygen created no key: ${stderr.trim()}`);
    linkUnlessThere(`${draft}.pub`, `${file}.pub`);
    linkUnlessThere(draft, file);
  } catch (error) {
    if (!isMissingProgram(error)) throw error;
    throw new Failure('usage', 'There is no ssh-keygen on this computer.', 'Install OpenSSH, and try again.');
  } finally {
    for (const left of [draft, `${draft}.pub`]) rmSync(left, { force: true });
  }
}

function linkUnlessThere(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
}
