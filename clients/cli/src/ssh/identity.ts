import { randomBytes } from 'node:crypto';
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Cli } from '../cli.js';
import { readIfThere, writePrivately } from '../config/files.js';
import { Failure } from '../failure.js';
import type { Ended } from '../surroundings.js';
import { isMissingProgram } from './programs.js';

const comment = 'gpu-rental';

/**
 * Makes sure that this machine has a key pair of its own for rented machines: the private half never leaves it, and
 * decides what the public one is. A public half alone opens nothing, and gives way to a new pair.
 * @returns the public half, as a line of authorized_keys
 */
export async function ensureIdentity(cli: Cli): Promise<string> {
  const file = cli.store.paths.identity;
  if (!existsSync(file)) {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    await makePrivateHalf(cli, file);
  }
  const text = readIfThere(file);
  if (text === undefined) {
    throw new Failure(
      'fault',
      `Could not create a key at ${file}.`,
      'Move away what is there, and try again.',
    );
  }
  const key = publicKeyIn(text) ?? (await publicKeyBySsh(cli, file));
  const known = readIfThere(`${file}.pub`)?.trim();
  if (known !== undefined && isLineOf(known, key)) return known;
  const line = `${key} ${comment}`;
  writePrivately(`${file}.pub`, `${line}\n`);
  return line;
}

/** Makes a pair beside its place, and puts the private half there. Of two commands at once, the first one's stays. */
async function makePrivateHalf(cli: Cli, file: string): Promise<void> {
  const draft = `${file}.${randomBytes(6).toString('hex')}`;
  try {
    const args = ['-q', '-t', 'ed25519', '-N', '', '-C', comment, '-f', draft];
    const { code, stderr } = await runKeygen(cli, args);
    if (code !== 0) throw new Failure('fault', `ssh-keygen created no key: ${stderr.trim()}`);
    putUnlessThere(draft, file);
  } finally {
    for (const left of [draft, `${draft}.pub`]) rmSync(left, { force: true });
  }
}

async function runKeygen(cli: Cli, args: readonly string[]): Promise<Ended> {
  try {
    return await cli.surroundings.run('ssh-keygen', args, { limitMs: 30_000 });
  } catch (error) {
    if (!isMissingProgram(error)) throw error;
    throw new Failure('usage', 'There is no ssh-keygen on this computer.', 'Install OpenSSH, and try again.');
  }
}

/** Errors of a system or a disk that knows no hard links. */
const NO_LINKS: ReadonlySet<string> = new Set([
  'EPERM',
  'EACCES',
  'ENOTSUP',
  'EOPNOTSUPP',
  'ENOSYS',
  'EMLINK',
]);

function putUnlessThere(draft: string, file: string): void {
  try {
    linkSync(draft, file);
  } catch (error) {
    if (isCode(error, 'EEXIST')) return;
    if (!(error instanceof Error && 'code' in error && NO_LINKS.has(String(error.code)))) throw error;
    copyUnlessThere(draft, file);
  }
}

function copyUnlessThere(draft: string, file: string): void {
  try {
    writeFileSync(file, readFileSync(draft), { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if (isCode(error, 'EEXIST')) return;
    // What a full disk took a part of is no key.
    rmSync(file, { force: true });
    throw error;
  }
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

const MAGIC = Buffer.from('openssh-key-v1\0');

/** The public key that stands in the clear in a private half of OpenSSH's form; undefined for another form. */
function publicKeyIn(text: string): string | undefined {
  const [, base64] = /-----BEGIN OPENSSH PRIVATE KEY-----([^-]+)-----END/.exec(text) ?? [];
  const bytes = Buffer.from(base64 ?? '', 'base64');
  if (!bytes.subarray(0, MAGIC.length).equals(MAGIC)) return undefined;
  try {
    // The cipher, the way from a passphrase to its key, and that one's settings stand before it, and how many keys there are.
    const count = fieldEnd(bytes, fieldEnd(bytes, fieldEnd(bytes, MAGIC.length)));
    const key = fieldAt(bytes, count + 4);
    return `${fieldAt(key, 0).toString('latin1')} ${key.toString('base64')}`;
  } catch {
    return undefined;
  }
}

/** A field with its length before it. @throws RangeError beyond the end */
function fieldAt(bytes: Buffer, at: number): Buffer {
  return bytes.subarray(at + 4, fieldEnd(bytes, at));
}

function fieldEnd(bytes: Buffer, at: number): number {
  const end = at + 4 + bytes.readUInt32BE(at);
  if (end > bytes.length) throw new RangeError('A field ends beyond the key.');
  return end;
}

async function publicKeyBySsh(cli: Cli, file: string): Promise<string> {
  const { code, stdout, stderr } = await runKeygen(cli, ['-y', '-P', '', '-f', file]);
  const [kind, key] = stdout.trim().split(/\s+/);
  if (code === 0 && kind !== undefined && key !== undefined) return `${kind} ${key}`;
  const why = stderr.trim().split('\n').at(-1) ?? '';
  throw new Failure(
    'fault',
    `${file} is not a private key that ssh can use: ${why}`,
    'Move it away, and try again: another one is made.',
  );
}

/** Tells whether a text is the line of a key, whatever its comment is. */
function isLineOf(text: string, key: string): boolean {
  return !text.includes('\n') && text.split(/\s+/).slice(0, 2).join(' ') === key;
}
