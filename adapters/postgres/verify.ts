import type { UserId } from '../../domain/ids.js';
import type { Database } from './database.js';

/** One thing that does not add up, with enough to find it. */
export interface Discrepancy {
  readonly rule: 'chain' | 'wallet' | 'holds' | 'rental' | 'price';
  readonly walletId: number;
  readonly detail: string;
}

/**
 * Walks every wallet and checks what must hold: each entry continues its predecessor, the newest equals the wallet,
 * what is reserved equals the holds of its rentals, each rental's charges and refunds equal its entries, and each
 * settled rental's net charge, overage and write-off equal the formula of decision 25.
 * @param userId only this user's wallet
 * @returns every discrepancy, at most 100
 */
export async function verifyLedger(db: Database, userId?: UserId): Promise<Discrepancy[]> {
  const { rows } = await db.raw<{ rows: Discrepancy[] }>(
    `with w as (select * from wallets where :userId::text is null or user_id = :userId),
     chain as (
       select e.wallet_id, e.seq, e.amount_cents, e.balance_after_cents,
              lag(e.seq, 1, 0::bigint) over by_seq as before_seq,
              lag(e.balance_after_cents, 1, 0::bigint) over by_seq as before
         from ledger_entries e join w on w.id = e.wallet_id
       window by_seq as (partition by e.wallet_id order by e.seq)
     ), newest as (
       select distinct on (e.wallet_id) e.wallet_id, e.seq, e.balance_after_cents
         from ledger_entries e join w on w.id = e.wallet_id order by e.wallet_id, e.seq desc
     ), entries as (
       select e.rental_no, -sum(e.amount_cents) filter (where e.type = 'rental_charge') as charged,
              sum(e.amount_cents) filter (where e.type = 'refund') as refunded
         from ledger_entries e join w on w.id = e.wallet_id where e.rental_no is not null group by e.rental_no
     ), priced as (
       select r.*, least(r.max_spend_cents,
                (2 * r.price_per_hour_cents::numeric * coalesce(epoch_ms(r.ended_at) - r.running_ms, 0) + 3600000)
                  ::bigint / 7200000) as final_cents
         from rentals_now r join w on w.id = r.wallet_id where r.settled_at is not null
     )
     select 'chain' as rule, wallet_id as "walletId",
            'entry ' || seq || ' has balance ' || balance_after_cents || ' after ' || before as detail
       from chain where seq <> before_seq + 1 or balance_after_cents <> before + amount_cents
     union all
     select 'wallet', w.id, 'total ' || w.available_cents + w.reserved_cents || ', newest entry ' ||
            coalesce(n.balance_after_cents, 0)
       from w left join newest n on n.wallet_id = w.id
      where w.available_cents + w.reserved_cents <> coalesce(n.balance_after_cents, 0) or w.seq <> coalesce(n.seq, 0)
     union all
     select 'holds', w.id, 'reserved ' || w.reserved_cents || ', holds ' || coalesce(h.held, 0)
       from w left join (select wallet_id, sum(hold_cents) as held from rentals_now group by wallet_id) h on h.wallet_id = w.id
      where w.reserved_cents <> coalesce(h.held, 0)
     union all
     select 'rental', r.wallet_id, r.id || ' says charged ' || r.charged_cents || ' refunded ' || r.refunded_cents ||
            ', entries say ' || coalesce(e.charged, 0) || ' and ' || coalesce(e.refunded, 0)
       from rentals_now r join w on w.id = r.wallet_id left join entries e on e.rental_no = r.no
      where r.charged_cents <> coalesce(e.charged, 0) or r.refunded_cents <> coalesce(e.refunded, 0)
     union all
     select 'price', wallet_id, id || ' is settled at ' ||
            charged_cents - refunded_cents + overage_cents + written_off_cents || ', the formula says ' || final_cents
       from priced
      where charged_cents - refunded_cents + overage_cents + written_off_cents
            <> case status when 'failed' then 0 else final_cents end
     limit 100`,
    { userId: userId ?? null },
  );
  return rows;
}
