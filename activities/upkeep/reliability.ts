import { countHours, listHoursToCount, sumHours } from '../../adapters/postgres/catalog/reliability.js';
import { readClock } from '../../adapters/postgres/clock.js';
import type { ActivityDeps } from '../deps.js';
import { eachPart } from '../each-item.js';
import type { Tell } from '../heartbeat.js';
import { HOUR } from '../../domain/durations.js';

/**
 * Counts what our own rows say of the upstreams, and sums it for the catalog and for estimates (decision 106, "Progress
 * and reliability"). Hours that can't be counted keep nobody from what is known already.
 */
export async function countReliability(
  deps: ActivityDeps,
  tell: Tell,
): Promise<{ hours: number; known: number }> {
  const now = await readClock(deps.db);
  let hours = 0;
  await eachPart(deps, 'reliability: hours', async () => {
    for (const part of await listHoursToCount(deps.db, now)) {
      await countHours(deps.db, part, now);
      hours += (part.to.getTime() - part.from.getTime()) / HOUR;
      tell({ counted: part.to.toISOString() });
    }
  });
  const known = await eachPart(deps, 'reliability: sums', () => sumHours(deps.db, now));
  return { hours, known: known ?? 0 };
}
