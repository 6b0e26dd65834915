import { randomBytes } from 'node:crypto';
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { Failure } from '../failure.js';

/**
 * Writes a file as a whole or not at all, readable by its owner only: whoever reads meanwhile sees the file before, and
 * a full disk leaves it. A link stays one: what it leads to is written.
 */
export function writePrivately(given: string, text: string): void {
  const file = leadsTo(given);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const draft = `${file}.${randomBytes(6).toString('hex')}`;
  try {
    const handle = openSync(draft, 'wx', 0o600);
    try {
      // A disk that is nearly full takes a part of one write, without an error: this one goes on.
      writeFileSync(handle, text);
      fsyncSync(handle);
    } finally {
      closeSync(handle);
    }
    renameSync(draft, file);
  } catch (error) {
    rmSync(draft, { force: true });
    throw about(given, error);
  }
}

/** Removes a file, if it is there. A link stays one: what it leads to is removed. */
export function removeFile(file: string): void {
  rmSync(leadsTo(file), { force: true });
}

function leadsTo(file: string): string {
  try {
    return realpathSync(file);
  } catch (error) {
    if (!isNotThere(error)) throw error;
  }
  try {
    return resolve(dirname(file), readlinkSync(file));
  } catch {
    return file;
  }
}

/** Some errors of the system do not say which file they are about. */
function about(file: string, error: unknown): unknown {
  return error instanceof Error ? Object.assign(error, { path: file }) : error;
}

function isNotThere(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}

/** Lists the names in a folder: none where it can't be read. */
export function namesInFolder(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Reads a file; undefined when there is none. */
export function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (isNotThere(error)) return undefined;
    throw about(file, error);
  }
}

/**
 * Reads a file of ours that holds JSON.
 * @throws Failure that names the file, when it holds something else
 */
export function readJsonFile(file: string): Readonly<Record<string, unknown>> {
  const text = readIfThere(file);
  if (text === undefined) return {};
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      return value as Record<string, unknown>;
    }
  } catch {
    // Told below.
  }
  throw new Failure(
    'usage',
    `${file} can’t be read: it is not a JSON object.`,
    'Fix it, or remove it and sign in again with: gpu login',
  );
}
