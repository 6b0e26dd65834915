import { open, readFile } from 'node:fs/promises';
import { isId, type UserId } from '../domain/ids.js';
import { within } from './within.js';

/** A volume that hangs holds nobody up for longer. */
const DEADLINE_MS = 10_000;

/**
 * Appends the number of an account whose person is about to be erased to a file outside of the database, once, and to the
 * disk before it returns: a restored database then knows whom it must not bring back (decision 183, "What closing erases"). It
 * reads the file again: a full disk tears a line, and a shared volume may lose one.
 * @throws where it can't be written within 10 s: nobody is erased then
 */
export async function noteClosedAccount(file: string, userId: UserId): Promise<void> {
  await inTime(file, appendLine(file, userId));
}

async function appendLine(file: string, userId: UserId): Promise<void> {
  // Nothing where it is there already: its closing looks many times. Behind what is torn, a line of its own.
  for (const text of ['', `${userId}\n`, `\n${userId}\n`]) {
    await append(file, text);
    if ((await readLines(file)).includes(userId)) return;
  }
  throw new Error(`${file} (CLOSED_ACCOUNTS_FILE) does not keep what is written to it: ${userId}`);
}

async function readLines(file: string): Promise<string[]> {
  const lines = (await readFile(file, 'utf8')).split('\n').map((line) => line.trim());
  return lines.filter((line) => line !== '');
}

/** Makes the file where it is not there yet. @throws where its folder is missing, or can't be written within 10 s */
export async function beginClosedAccounts(file: string): Promise<void> {
  await inTime(file, append(file, ''));
}

async function append(file: string, text: string): Promise<void> {
  const handle = await open(file, 'a', 0o600);
  try {
    await handle.appendFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/**
 * Reads the numbers of closed accounts, each once. Whoever's line is torn was not erased, and what was written right behind
 * it counts.
 * @throws Error for a file that is missing or can't be read within 10 s, and for a line that is no number of an account
 */
export async function readClosedAccounts(file: string): Promise<UserId[]> {
  const lines = await inTime(file, readLines(file)).catch((error: unknown) => {
    if ((error as { code?: unknown }).code !== 'ENOENT') throw error;
    throw new Error(
      `CLOSED_ACCOUNTS_FILE names ${file}, which is not there: mount its volume, or make an empty file if no account was ever closed.`,
    );
  });
  return [...new Set(lines.flatMap((line) => numbersIn(file, line)))];
}

/** Where one number begins, and the beginning of one. */
const starts = /(?=usr_)/;
const torn = /^(u|us|usr|usr_[0-9A-HJKMNP-TV-Z]{0,25})$/;

function numbersIn(file: string, line: string): UserId[] {
  return line.split(starts).flatMap((part) => {
    if (isId('usr', part)) return [part];
    if (torn.test(part)) return [];
    throw new Error(`${file} has a line that is no number of an account: ${line.slice(0, 40)}`);
  });
}

function inTime<T>(file: string, work: Promise<T>): Promise<T> {
  const late = () =>
    new Error(`${file} (CLOSED_ACCOUNTS_FILE) did not answer within ${DEADLINE_MS / 1_000} s.`);
  return within(DEADLINE_MS, work, late);
}
