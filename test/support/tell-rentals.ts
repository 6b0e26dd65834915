import type { Database } from '../../adapters/postgres/database.js';
import { readRentalHistory } from '../../adapters/postgres/rental-timeline.js';
import type { RentalId } from '../../domain/ids.js';

/**
 * What happened to these rentals, a line each instant: a campaign of faults that fails shows them, for its machines
 * and its database are gone when somebody looks.
 */
export async function tellRentals(db: Database, ids: readonly RentalId[]): Promise<string> {
  const told: string[] = [];
  for (const id of ids) {
    const history = await readRentalHistory(db, id);
    if (!history) {
      told.push(`${id}: there is no such rental`);
      continue;
    }
    const { rental, pods, timeline } = history;
    told.push(
      `${id}: ${rental.status}, ${rental.price_per_hour_cents} cents/h, charged ${rental.charged_cents}, refunded ` +
        `${rental.refunded_cents}, overage ${rental.overage_cents}, written off ${rental.written_off_cents}, error ${rental.error ?? 'none'}`,
      ...timeline.map(({ at, what }) => `  ${at.toISOString()}  ${what}`),
      ...pods.map((pod) => `  ${JSON.stringify(pod)}`),
    );
  }
  return told.join('\n');
}
