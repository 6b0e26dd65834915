import type { SimProcess } from './scope.js';

/** What the server may refuse. */
export interface Refusals {
  /** The SQLSTATE with which the server refuses a statement; undefined: it does it. */
  refuses(sql: string): string | undefined;
  /** The error of a connection that does not come about. */
  unconnected(): Error | undefined;
}

interface Asker {
  readonly process: SimProcess | undefined;
}

/** @throws Error when no connection comes about; the world outside is always connected */
export function refuseConnection(faults: Refusals | undefined, { process }: Asker): void {
  const error = process === undefined ? undefined : faults?.unconnected();
  if (error !== undefined) throw error;
}

/**
 * Returns what is sent: the statement, or one that fails at the server in its place, so that its transaction is undone
 * there as by the fault itself.
 */
export function orRefused(
  faults: Refusals | undefined,
  { process }: Asker,
  sql: string,
  sent: readonly [config: unknown, values: unknown],
): readonly [config: unknown, values: unknown] {
  const state = process === undefined ? undefined : faults?.refuses(sql);
  if (state === undefined) return sent;
  return [`do $$ begin raise exception 'a planted fault' using errcode = '${state}'; end $$`, undefined];
}
