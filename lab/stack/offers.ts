import { setTimeout as pause } from 'node:timers/promises';
import { summarizeFamilies } from '../../adapters/postgres/catalog/listings.js';
import { openDatabase } from '../../adapters/postgres/database.js';

const lookEveryMs = 100;
const giveUpAfterMs = 60_000;

/**
 * Waits until the worker has read what the upstream sells: until then every wish is told that no machine matches. An
 * upstream may have nothing to sell, so the stack is up without offers, too.
 * @returns what there is, in words
 */
export async function awaitOffers(databaseUrl: string, signal: AbortSignal): Promise<string> {
  const db = openDatabase(databaseUrl, 1, 'stack');
  const until = performance.now() + giveUpAfterMs;
  try {
    do {
      const families = await summarizeFamilies(db);
      if (families.length > 0) return `of ${families.length} GPU families`;
      await pause(lookEveryMs, undefined, { signal });
    } while (performance.now() < until);
    return `none within ${giveUpAfterMs / 1_000} s; the worker’s log says why`;
  } finally {
    await db.destroy();
  }
}
