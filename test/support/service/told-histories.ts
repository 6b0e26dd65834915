import type { Database } from '../../../adapters/postgres/database.js';
import { DAY } from '../../../domain/durations.js';
import { listEventKinds } from '../../../adapters/postgres/payments/event-handling.js';
import { readRentalHistory } from '../../../adapters/postgres/explain/rental-timeline.js';
import type { RentalId, TopupId } from '../../../domain/ids.js';

/** The most histories to add: more help nobody. */
const atMost = 20;

/**
 * Runs a campaign's assertions. A failure gets the histories of the rentals and top-ups that its message names: by the
 * time somebody reads it, the campaign's machines and database are gone.
 */
export async function tellingHistories<T>(db: Database, assertions: () => Promise<T>): Promise<T> {
  try {
    return await assertions();
  } catch (error) {
    const named = String(error).match(/\b(rent|top)_[0-9A-HJKMNP-TV-Z]{26}\b/g) ?? [];
    const told: string[] = [];
    for (const id of [...new Set(named)].slice(0, atMost)) {
      told.push(
        id.startsWith('rent_') ? await tellRental(db, id as RentalId) : await tellTopup(db, id as TopupId),
      );
    }
    throw new Error([String(error), ...told].join('\n'), { cause: error });
  }
}

async function tellRental(db: Database, id: RentalId): Promise<string> {
  const history = await readRentalHistory(db, id);
  if (!history) return `${id}: there is no such rental`;
  const { rental, pods, timeline } = history;
  return [
    `${id}: ${rental.status}, ${rental.price_per_hour_cents} cents/h, charged ${rental.charged_cents}, refunded ` +
      `${rental.refunded_cents}, overage ${rental.overage_cents}, written off ${rental.written_off_cents}, error ${rental.error ?? 'none'}`,
    ...timeline.map(({ at, what }) => `  ${at.toISOString()}  ${what}`),
    ...pods.map((pod) => `  ${JSON.stringify(pod)}`),
  ].join('\n');
}

async function tellTopup(db: Database, id: TopupId): Promise<string> {
  const row = await db('topups').where({ id }).first();
  const kinds = await listEventKinds(db, id, 365 * DAY);
  return `${id}: ${JSON.stringify(row ?? 'there is no such top-up')}\n  events: ${[...kinds].join(', ') || 'none'}`;
}
