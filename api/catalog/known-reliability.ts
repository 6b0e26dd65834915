import { knownStarts } from '../../adapters/postgres/catalog/starts.js';
import { readReliability, type KnownReliability } from '../../adapters/postgres/catalog/reliability.js';
import type { Database } from '../../adapters/postgres/database.js';
import type { ListingRow } from '../../adapters/postgres/rows/tables.js';
import { catalogLimits } from '../../domain/catalog/limits.js';
import type { Reliability } from '../../domain/catalog/reliability.js';
import type { RecentStarts } from '../../domain/catalog/starts.js';
import { keptFor } from '../../adapters/kept.js';

/**
 * Tells what is known of the upstreams' reliability. It reads the few rows at most twice a minute, so that a page of
 * the catalog or a quote costs no more for them.
 */
const knownReliability = keptFor<Database, KnownReliability>(
  new WeakMap(),
  catalogLimits.reliabilityFreshMs,
  readReliability,
);

/** What is known of an offer: of machines like it, and of its own. */
export interface OfferRecord {
  readonly reliability: Reliability | null;
  readonly recentStarts: RecentStarts | null;
}

export type RecordOf = (row: ListingRow) => OfferRecord;

/** All that is told of offers now, and what changes whenever that does. */
export async function knownRecords(
  db: Database,
): Promise<{ readonly recordOf: RecordOf; readonly version: unknown }> {
  const [reliability, starts] = [await knownReliability(db), await knownStarts(db)];
  return {
    recordOf: (row) => ({
      reliability: reliability.get(`${row.provider_code} ${row.family}`) ?? null,
      recentStarts: starts.recent.get(row.id) ?? null,
    }),
    version: [[...reliability], [...starts.recent]],
  };
}
