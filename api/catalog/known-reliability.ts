import { readReliability, type KnownReliability } from '../../adapters/postgres/catalog/reliability.js';
import type { Database } from '../../adapters/postgres/database.js';
import { catalogLimits } from '../../domain/catalog/limits.js';

/**
 * Makes the reader of what is known of the upstreams' reliability. It reads the few rows at most twice a minute, so
 * that a page of the catalog costs no more for them. Callers at the same time share one read; one that fails is read
 * again by the next.
 */
export function reliabilityReader(db: Database): () => Promise<KnownReliability> {
  const held: { known?: Promise<KnownReliability>; untilMs: number } = { untilMs: 0 };
  return () => {
    if (held.known === undefined || performance.now() >= held.untilMs) {
      held.untilMs = performance.now() + catalogLimits.reliabilityFreshMs;
      held.known = readReliability(db).catch((error: unknown) => {
        held.untilMs = 0;
        throw error;
      });
    }
    return held.known;
  };
}
