import { readReliability, type KnownReliability } from '../../adapters/postgres/catalog/reliability.js';
import type { Database } from '../../adapters/postgres/database.js';
import type { ListingRow } from '../../adapters/postgres/rows/tables.js';
import { catalogLimits } from '../../domain/catalog/limits.js';
import type { Reliability } from '../../domain/catalog/reliability.js';
import { keptFor } from '../kept.js';

/**
 * Tells what is known of the upstreams' reliability. It reads the few rows at most twice a minute, so that a page of
 * the catalog or a quote costs no more for them.
 */
export const knownReliability = keptFor<Database, KnownReliability>(
  new WeakMap(),
  catalogLimits.reliabilityFreshMs,
  readReliability,
);

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
