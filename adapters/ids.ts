import { randomFillSync } from 'node:crypto';
import { ulid } from 'ulid';
import type { IdPrefix } from '../domain/ids.js';

/**
 * Mints a public id: the prefix and a ULID (decision 1, "Public ids"). For the API and activities only: it is random.
 */
export function newId<P extends IdPrefix>(prefix: P): `${P}_${string}` {
  return `${prefix}_${ulid(undefined, rollDice)}`;
}

const pool = new Uint8Array(4_096);
let used = pool.length;

/**
 * Returns a number in [0, 1) from the system's randomness, of which it draws a pool at a time. A draw for each of the
 * sixteen characters of an id would take 70 µs an id, and a catalog of 25,000 new offers would hold up its process for
 * 2 s.
 */
function rollDice(): number {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  return (pool[used++] ?? 0) / 256;
}
