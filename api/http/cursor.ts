import { isId, type IdPrefix } from '../../domain/ids.js';
import type { Refusal } from '../../domain/refusal.js';
import { fieldRefusal } from './validation.js';

/** Writes the opaque cursor of a keyset: the sort key of a page's last row (decision 7, "Times and cursors"). */
export function toCursor(key: readonly (string | number)[]): string {
  return Buffer.from(JSON.stringify(key)).toString('base64url');
}

/**
 * Reads a cursor that an earlier page gave.
 * @param isKey tells whether the decoded text is a key of this list
 * @throws Refusal validation_failed for a text that no page of this list gave
 */
export function readCursor<Key extends readonly (string | number)[]>(
  cursor: string | undefined,
  isKey: (value: readonly unknown[]) => value is Key,
): Key | undefined {
  if (cursor === undefined) return undefined;
  const value = decoded(cursor);
  if (!Array.isArray(value) || !isKey(value)) {
    throw noSuchCursor();
  }
  return value;
}

/** Makes a page of rows that were read one beyond its size, with the cursor of the next page, null on the last one. */
export function pageOf<Row>(
  rows: readonly Row[],
  pageSize: number,
  keyOf: (row: Row) => readonly (string | number)[],
): { page: Row[]; nextCursor: string | null } {
  const page = rows.slice(0, pageSize);
  const last = page.at(-1);
  return { page, nextCursor: rows.length > pageSize && last !== undefined ? toCursor(keyOf(last)) : null };
}

/**
 * Tells whether a key is one id of the caller's own. Rows that are numbered over all users would tell how many there
 * are.
 */
export function isIdKey<P extends IdPrefix>(
  prefix: P,
): (value: readonly unknown[]) => value is [`${P}_${string}`] {
  return (value): value is [`${P}_${string}`] =>
    value.length === 1 && typeof value[0] === 'string' && isId(prefix, value[0]);
}

/**
 * Finds the number of the row that a cursor names.
 * @param find returns undefined when the caller has no such row
 * @throws Refusal validation_failed for a row that is not the caller's
 */
export async function numberOf<Id>(
  key: readonly [Id] | undefined,
  find: (id: Id) => Promise<number | undefined>,
): Promise<number | undefined> {
  if (key === undefined) return undefined;
  const no = await find(key[0]);
  if (no === undefined) throw noSuchCursor();
  return no;
}

/** Tells whether a key is one whole, positive number. */
export function isNumberKey(value: readonly unknown[]): value is [number] {
  return value.length === 1 && Number.isSafeInteger(value[0]) && Number(value[0]) > 0;
}

function decoded(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
  } catch {
    return undefined;
  }
}

/** The refusal of a cursor that no page of the list gave. */
export function noSuchCursor(): Refusal {
  return fieldRefusal('cursor', 'cursor must be the nextCursor of a previous response');
}
