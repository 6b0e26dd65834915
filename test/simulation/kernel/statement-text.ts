/** Reads the limit for locks that a transaction sets for itself: the server must not count real time. */
export function lockLimitOf(sql: string, values: unknown[] | undefined): number | undefined {
  const local = /set local lock_timeout = '(\d+)ms'/i.exec(sql)?.[1];
  if (local !== undefined) return Number(local);
  return sql.includes("set_config('lock_timeout'") ? Number.parseInt(String(values?.[0]), 10) : undefined;
}

/** The commands of statements that change rows. */
export const writes: ReadonlySet<unknown> = new Set(['INSERT', 'UPDATE', 'DELETE']);

/** Shortens a statement to what tells it from others. */
export function labelOf(sql: string): string {
  return sql.replaceAll(/\s+/g, ' ').trim().slice(0, 70);
}

/** Makes an error of whatever was thrown. */
export function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
