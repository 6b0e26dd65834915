import type { RentalWarning } from '../../../domain/events/events.js';
import type { RentalId, UserId } from '../../../domain/ids.js';
import { rentalLimits } from '../../../domain/rentals/limits.js';
import type { Database } from '../database.js';
import { recordEvents } from '../events/outbox.js';

/** The most warnings of one transaction. */
const AT_ONCE = 500;

/**
 * Tells users, once for each instant, that a machine of theirs ends soon by a limit of its rental, or by the date that
 * its upstream has for it. That date is kept an hour beyond the wallet's money: one that is near could not be renewed.
 * A limit that was set for a shorter time than that is no news. A rental that is being ended at this moment is left to
 * the next round: nothing warns of what is over. Those that end soonest come first, and each part is committed by itself.
 * @param options.tell called after each part
 * @returns how many warnings were told
 */
export async function warnOfNearEnds(
  db: Database,
  { atOnce = AT_ONCE, tell }: { atOnce?: number; tell?: (done: { readonly warned: number }) => void } = {},
): Promise<number> {
  let warned = 0;
  for (;;) {
    const told = await warnOfSoonest(db, atOnce);
    warned += told;
    tell?.({ warned });
    if (told < atOnce) return warned;
  }
}

async function warnOfSoonest(db: Database, atOnce: number): Promise<number> {
  return db.transaction(async (trx) => {
    const { rows } = await trx.raw<{
      rows: { rentalId: RentalId; userId: UserId; warning: RentalWarning; at: Date }[];
    }>(
      `with near as materialized (
         select r.no, r.id, r.user_id, n.warning, n.at
           from rentals r
           left join allocation_attempts a on a.tag = r.tag and a.state = 'adopted'
           cross join (select clock_ms() as at) clock
           cross join lateral (values ('auto_stop_near', r.auto_stop_at), ('spend_limit_near', r.spend_limit_at),
                                      ('upstream_end_near', a.end_by)) n (warning, at)
          where r.status = 'running'
            and n.at > clock.at and n.at <= clock.at + :beforeMs * interval '1 millisecond'
            and n.at > r.running_at + :beforeMs * interval '1 millisecond'
            and not exists (select 1 from stop_requests s where s.rental_no = r.no)
            and not exists (select 1 from rental_warnings w
                             where w.rental_no = r.no and w.warning = n.warning and w.at = n.at)
          order by n.at, r.no limit :atOnce
            for share of r skip locked
       ), told as (
         insert into rental_warnings (rental_no, warning, at)
         select no, warning, at from near
         on conflict do nothing
         returning rental_no, warning, at
       )
       select near.id as "rentalId", near.user_id as "userId", near.warning, near.at
         from told join near on near.no = told.rental_no and near.warning = told.warning and near.at = told.at
        order by near.at, near.no`,
      { beforeMs: rentalLimits.warnBeforeMs, atOnce },
    );
    await recordEvents(
      trx,
      'rental.warned',
      rows.map(({ rentalId, userId, warning, at }) => ({
        userId,
        entityId: rentalId,
        data: { warning, at: at.toISOString() },
      })),
    );
    return rows.length;
  });
}
