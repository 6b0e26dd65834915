import type { Command } from 'commander';

/** The options of every command that reads. */
export interface Print {
  readonly json?: boolean;
}

/** Adds `--json`. */
export function readable(command: Command): Command {
  return command.option('--json', 'print it as JSON');
}

/** Prints rows, one a line, or all of them as JSON. */
export function printRows<T>(
  rows: readonly T[],
  json: boolean | undefined,
  lineOf: (row: T) => string,
): void {
  if (json === true) console.log(JSON.stringify(rows));
  else if (rows.length === 0) console.log('Nothing.');
  else for (const row of rows) console.log(lineOf(row).trimEnd());
}

/** A fact with its label; null where there is none. */
export type Fact = readonly [label: string, text: string | number | null];

/** Prints the facts of one thing, one a line, or the thing itself as JSON. */
export function printFacts(thing: unknown, json: boolean | undefined, facts: readonly Fact[]): void {
  if (json === true) {
    console.log(JSON.stringify(thing));
    return;
  }
  for (const [label, text] of facts) {
    if (text !== null) console.log(`${label.padEnd(10)} ${text}`);
  }
}

export function iso(at: Date | null): string {
  return at === null ? 'never' : at.toISOString();
}

/** "; since …", or nothing. */
export function whenSet(at: Date | null, words: string): string {
  return at === null ? '' : `; ${words} ${at.toISOString()}`;
}
