import { InvalidArgumentError, type Command } from 'commander';
import { isId, type IdPrefix, type OperationId } from '../domain/ids.js';
import { readInstant } from '../domain/instants.js';

/** The options of every command that changes something. */
export interface OperatorOptions {
  /** Who does it; undefined where the login is their own. */
  readonly by?: string;
  readonly reason: string;
  readonly operation?: OperationId;
  readonly yes?: boolean;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

/** Adds the options of `OperatorOptions`. */
export function asOperator(command: Command): Command {
  return command
    .option('--by <name>', 'who you are, if the login is not your own; recorded permanently')
    .requiredOption('--reason <text>', 'why; recorded permanently, and shown to the user when money moves')
    .option('--operation <id>', 'repeats an operation (op_…) safely: nothing happens twice', idOf('op'))
    .option('--yes', 'do not ask')
    .option('--dry-run', 'show what would happen, and do nothing')
    .option('--json', 'print the result as JSON');
}

/** Reads an id with this prefix. @throws InvalidArgumentError telling what an id looks like */
export function idOf<P extends IdPrefix>(prefix: P): (text: string) => `${P}_${string}` {
  return (text) => {
    if (isId(prefix, text)) return text;
    throw new InvalidArgumentError(`Use an id such as ${prefix}_01J…`);
  };
}

/** Reads one of some words. @throws InvalidArgumentError naming them all */
export function oneOf<T extends string>(words: readonly T[]): (text: string) => T {
  return (text) => {
    const word = words.find((known) => known === text);
    if (word !== undefined) return word;
    throw new InvalidArgumentError(`Use one of ${words.join(', ')}.`);
  };
}

/** Reads whole cents, signed. @throws InvalidArgumentError */
export function centsOf(text: string): number {
  const cents = Number(text);
  if (/^-?\d+$/.test(text) && Number.isSafeInteger(cents)) return cents;
  throw new InvalidArgumentError('Use whole cents, such as 500 for $5.00.');
}

/** Reads whole cents above 0. @throws InvalidArgumentError */
export function positiveCentsOf(text: string): number {
  const cents = centsOf(text);
  if (cents > 0) return cents;
  throw new InvalidArgumentError('Use whole cents, at least 1, such as 250 for $2.50.');
}

/** Reads an instant with its offset, or a day. @throws InvalidArgumentError with an example */
export function instantOf(text: string): Date {
  const at = readInstant(text);
  if (at) return at;
  throw new InvalidArgumentError(
    'Use a valid time, such as 2026-11-21T09:00:00Z, or a day, such as 2026-11-21.',
  );
}

/** Reads how many are wanted. @throws InvalidArgumentError */
export function countOf(text: string): number {
  const count = Number(text);
  if (/^\d{1,4}$/.test(text) && count >= 1 && count <= 1_000) return count;
  throw new InvalidArgumentError('Use a number from 1 to 1000.');
}
