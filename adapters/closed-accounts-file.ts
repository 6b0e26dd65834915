import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { isId, type UserId } from '../domain/ids.js';

/**
 * Appends the number of an account whose person is about to be erased to a file outside of the database, and to the disk
 * before it returns: a restored database then knows whom it must not bring back (decision 181, "What closing erases").
 * @throws where it can't be written: nobody is erased then
 */
export function noteClosedAccount(file: string, userId: UserId): void {
  writeFileSync(file, `${userId}\n`, { flag: 'a', mode: 0o600, flush: true });
}

/**
 * Reads the numbers of closed accounts; a file that is not there yet holds none.
 * @throws Error for a line that is no number of an account
 */
export function readClosedAccounts(file: string): UserId[] {
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
  const numbers = lines.map((line) => line.trim()).filter((line) => line !== '');
  return [...new Set(numbers)].map((line) => {
    if (isId('usr', line)) return line;
    throw new Error(`${file} has a line that is no number of an account: ${line.slice(0, 40)}`);
  });
}
