import { readReliability, type KnownReliability } from '../../adapters/postgres/catalog/reliability.js';
import type { Database } from '../../adapters/postgres/database.js';
import type { ListingRow } from '../../adapters/postgres/rows/tables.js';
import { catalogLimits } from '../../domain/catalog/limits.js';
import type { Reliability } from '../../domain/catalog/reliability.js';

interface Held {
  readonly known: Promise<KnownReliability>;
  readonly untilMs: number;
}

/** What was read of each database last. */
const held = new WeakMap<Database, Held>();

/**
 * Tells what is known of the upstreams' reliability. It reads the few rows at most twice a minute, so that a page of
 * the catalog or a quote costs no more for them. Callers at the same time share one read; one that fails is read again
 * by the next.
 */
export function knownReliability(db: Database): Promise<KnownReliability> {
  const last = held.get(db);
  if (last !== undefined && performance.now() < last.untilMs) return last.known;
  const known = readReliability(db).catch((error: unknown) => {
    held.delete(db);
    throw error;
  });
  held.set(db, { known, untilMs: performance.now() + catalogLimits.reliabilityFreshMs });
  return known;
}

/** Tells what is known of machines like one. */
export type ReliabilityOf = (row: ListingRow) => Reliability | null;

/** Makes `ReliabilityOf` of what is known now. */
export async function reliabilityNow(db: Database): Promise<ReliabilityOf> {
  return reliabilityIn(await knownReliability(db));
}

/** Makes `ReliabilityOf` of what is known. */
export function reliabilityIn(known: KnownReliability): ReliabilityOf {
  return ({ provider_code: code, family }) => known.get(`${code} ${family}`) ?? null;
}
