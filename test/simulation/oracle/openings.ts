import { told, type Evidence } from './evidence.js';
import { usedAfter } from './usage.js';

/** A rental that ran while its wallet opened another. */
interface Running {
  readonly opened: string;
  readonly runs: string;
  readonly price: string;
  readonly max_spend: string | null;
  readonly running_ms: string;
  /** When the other one was asked for. */
  readonly requested_ms: string;
  /** What it had been charged, in cents, when the other one was opened. */
  readonly charged: string;
}

/** Decision 19, "Order of an opening": what a wallet owed when a rental was asked for is charged before it is opened. */
export async function judgeOpenings({ ask }: Evidence): Promise<string[]> {
  const rows = await ask<Running>(
    `select n.id as opened, o.id as runs, o.price_per_hour_cents as price, o.max_spend_cents as max_spend,
            extract(epoch from o.running_at) * 1000 as running_ms, extract(epoch from q.requested_at) * 1000 as requested_ms,
            coalesce((select -sum(amount_cents) from seen_entries e
                       where e.rental_no = o.no and e.type = 'rental_charge' and e.seq <= n.opened_seq), 0) as charged
       from rentals n join rental_requests q on q.id = n.id
       join rentals o on o.wallet_id = n.wallet_id and o.no <> n.no
      where (o.ended_at is null or o.ended_at > q.requested_at)
        and not exists (select 1 from rental_changes c where c.rental_no = o.no and c.limits_at is not null)
        -- Whether it runs is known a while after it does.
        and exists (select 1 from events v
                     where v.entity_id = o.id and v.type = 'rental.running' and v.sequenced_at <= q.requested_at)
      order by n.no, o.no`,
  );
  return rows.flatMap((row) => {
    const used = usedAfter(Number(row.requested_ms) - Number(row.running_ms), row.price);
    const owed = Math.min(used, Number(row.max_spend ?? Infinity)) - Number(row.charged);
    return told(
      owed > 0,
      `${row.opened} was opened while ${row.runs} owed ${owed} cents that were not charged`,
    );
  });
}
