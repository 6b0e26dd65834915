import {
  learnFrom,
  startLimits,
  type CountedStarts,
  type KnownStarts,
} from '../../../domain/catalog/starts.js';
import { keptFor } from '../../kept.js';
import type { Database } from '../database.js';
import type { ListingRow } from '../rows/tables.js';

type Counted = Pick<ListingRow, 'id' | 'provider_code' | 'family' | 'region_code'> &
  Omit<CountedStarts, 'offer'>;

/**
 * Reads what came of the machines that were lately asked for, by the offer (decision 176, "Failover that learns"): a
 * bounded number of the newest attempts. What a renter's own software kept from coming up says nothing of the machine, and
 * neither does what nobody waited for to the end.
 */
export async function readStarts(db: Database): Promise<KnownStarts> {
  const { rows } = await db.raw<{ rows: Counted[] }>(
    `with asked as (
       select * from allocation_attempts
        where created_at > clock_ms() - :windowHours::int * interval '1 hour'
        order by created_at desc limit :mostRead::int
     ), told as (
       select a.listing_id, a.answered_at is not null as came_up,
              greatest(0, floor((epoch_ms(clock_ms()) - epoch_ms(a.created_at)) / 3600000.0))::int as "hoursAgo"
         from asked a
        where a.answered_at is not null
           or ((a.failed_by = 'upstream'
                or exists (select from rentals r
                            where r.id = a.rental_id and r.tag = a.tag and r.status = 'failed'
                              and r.running_at is null and r.pod_id is not null))
               and not exists (select from rental_requests q where q.id = a.rental_id and q.software is not null))
     )
     select l.id, l.provider_code, l.family, l.region_code, t."hoursAgo",
            count(*) filter (where t.came_up)::int as succeeded,
            count(*) filter (where not t.came_up)::int as failed
       from told t join listings l on l.id = t.listing_id
      group by l.id, t."hoursAgo"`,
    { windowHours: startLimits.windowHours, mostRead: startLimits.mostRead },
  );
  return learnFrom(
    rows.map(({ hoursAgo, succeeded, failed, ...offer }) => ({ offer, hoursAgo, succeeded, failed })),
  );
}

/** Tells what `readStarts` found a moment ago, so that the choice of an offer costs no more for it. */
export const knownStarts = keptFor<Database, KnownStarts>(new WeakMap(), startLimits.freshMs, readStarts);
