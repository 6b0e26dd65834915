import type { UserId } from '../../../domain/ids.js';
import { meteringLimits } from '../../../domain/metering/limits.js';
import { rentalLimits } from '../../../domain/rentals/limits.js';
import { operationRentalCauseSql, settlementCauseSql } from './cause-sql.js';

/** What is checked, the cause of others first. */
export const ruleNames = ['chain', 'wallet', 'holds', 'rental', 'price', 'order', 'cap'] as const;

/** An inconsistency, with enough to find it. */
export interface Discrepancy {
  readonly rule: (typeof ruleNames)[number];
  readonly walletId: number;
  /** Of the wallet. */
  readonly userId: UserId;
  /** The entry's number for `chain`. */
  readonly seq: number | null;
  /** For `rental`, `price` and `order`. */
  readonly rentalId: string | null;
  readonly detail: string;
}

/** The most discrepancies that are returned at once. */
export const discrepancyLimit = 100;

/**
 * The end of billing of each settled rental, and its price by the formula of decision 25, "Usage as running total".
 * Both are derived from the rows of its stop, its limits, its machine, its money and its ticks, and from nothing that
 * its settlement wrote (decision 78, "Check of settled rentals"). On purpose it does not share the code that settles,
 * but says it again in SQL. Over looked_at and entries.
 */
export const pricedRentals = `
  evidence as (
    select r.*, epoch_ms(r.ended_at) as ended_ms, q.requested_ms as stop_ms, coalesce(e.charged, 0)::bigint as charged,
           (coalesce(e.charged, 0) + coalesce(x.amount_cents, 0))::bigint as ticked,
           -- A spend limit that was lowered to what had accrued holds from its change on (decision 105).
           least(q.requested_ms, epoch_ms(r.auto_stop_at),
                 case when r.max_spend_cents is not null then greatest(h.spend_ms,
                   r.running_ms + ceil(r.max_spend_cents::numeric * 3600000 / r.price_per_hour_cents)::bigint) end
           ) as asked_ms,
           coalesce(epoch_ms(r.auto_stop_at) < h.stop_ms or
                    r.max_spend_cents < r.price_per_hour_cents::bigint * greatest(0, h.spend_ms - r.running_ms) / 3600000,
                    false) as lowered,
           -- What 0.1 settled as lost has no row of its own: then the pod's, if it still shows the loss. One whose pod
           -- was gone well before it was settled was lost, whatever it says.
           case when l.rental_no is not null then epoch_ms(l.last_alive_at)
                when r.stop_reason = 'pod_lost' then least(epoch_ms(r.ended_at), epoch_ms(p.last_alive_at))
                when p.gone_at < r.settled_at - interval '10 seconds' then epoch_ms(p.last_alive_at) end as alive_ms
      from looked_at r
      left join entries e on e.rental_no = r.no
      left join stop_requests q on q.rental_no = r.no
      left join lost_machines l on l.rental_no = r.no
      left join pods p on p.provider_code = r.provider_code and p.pod_id = r.pod_id
      left join lateral (
        select max(epoch_ms(limits_at)) filter (where jsonb_exists(asked, 'maxSpendCents')) as spend_ms,
               max(epoch_ms(limits_at)) filter (where jsonb_exists_any(asked, array['autoStopAt', 'autoStopAfterMs']))
                 as stop_ms
          from rental_changes where rental_no = r.no and limits_at is not null
      ) h on true
      left join ledger_causes c on c.cause = ${settlementCauseSql('r.id')}
      left join lateral ledger_between(c.wallet_id, c.seq, c.seq) x on true
     where r.settled_at is not null
  ), instants as (
    -- The first milliseconds at which so many cents had accrued: those of the ticks, one more, and all that was charged.
    select v.*, running_ms + (ticked * 3600000 + price_per_hour_cents - 1) / price_per_hour_cents as ticked_ms,
           running_ms + ((ticked + 1) * 3600000 + price_per_hour_cents - 1) / price_per_hour_cents as short_ms,
           running_ms + (charged * 3600000 + price_per_hour_cents - 1) / price_per_hour_cents as charged_ms
      from evidence v
  ), bounds as (
    select i.*,
           -- A stop that was committed while a tick ran ends no earlier than the cent which that tick took.
           case when asked_ms = stop_ms then greatest(asked_ms, least(ticked_ms, stop_ms + ${meteringLimits.stopCommitMs}))
                else asked_ms end as asked_end_ms,
           -- The money's end is known to the cent if ticks ran in time; a late one ends it at its own clock, or where
           -- it was to end anyway.
           case when stop_reason = 'balance_exhausted'
                then case when ended_ms between ticked_ms and charged_ms or ended_ms = asked_ms
                            or ended_ms - short_ms > ${meteringLimits.tickLateMs} then ended_ms else charged_ms end
           end as money_ms
      from instants i
  ), due as (
    select b.*, case when running_ms is null then ended_ms
                     when coalesce(alive_ms, asked_end_ms, money_ms) is not null
                     then greatest(running_ms, least(alive_ms, asked_end_ms, money_ms)) end as due_ms,
           status = 'failed' and alive_ms > running_ms + ${rentalLimits.refundWindowMs} as failed_late
      from bounds b
  ), priced as (
    select d.*, charged_cents - refunded_cents + overage_cents + written_off_cents as settled_cents,
           case when status = 'failed' then 0
                when running_ms is null then 0
                else least(max_spend_cents, (2 * price_per_hour_cents::numeric * (coalesce(due_ms, running_ms) - running_ms)
                                             + 3600000)::bigint / 7200000) end as final_cents
      from due d
  )`;

/**
 * Checks orders of many against the ledger, over ordered (their items) and w: each gave the amount of its entry, and
 * none too much.
 */
const orderRules = `
     select 'order', r.wallet_id, r.user_id, null::bigint, r.id, i.order_id || ' gave ' || coalesce(i.refunded_cents, 0) ||
            ' for ' || r.id || ', its entry says ' || coalesce(e.amount_cents, 0)
       from ordered i
       join rentals r on r.no = i.rental_no join w on w.id = r.wallet_id
       left join ledger_causes c on c.cause = ${operationRentalCauseSql('i.order_id', 'r.id')}
       left join kept_entries e on e.wallet_id = c.wallet_id and e.seq = c.seq
      where coalesce(i.refunded_cents, 0) <> coalesce(e.amount_cents, 0)
     union all
     select 'order', r.wallet_id, r.user_id, null, r.id, 'orders of many gave ' || g.given || ' for ' || r.id ||
            ', which was charged ' || r.charged_cents || ' less ' || r.refunded_cents
       from (select rental_no, sum(refunded_cents) as given from ordered group by rental_no) g
       join rentals_now r on r.no = g.rental_no join w on w.id = r.wallet_id
      where g.given > r.charged_cents - r.refunded_cents`;

/**
 * Checks the sums of API keys against their rentals, over w and all of its looked_at: what a key has spent is what its
 * settled rentals cost, and what it reserves is what the others may cost.
 */
export const capRule = `
     select 'cap', w.id, w.user_id, null, null, k.id || ' has spent ' || k.spent_cents || ' and reserves ' ||
            k.reserved_cents || ', its rentals say ' || coalesce(c.spent, 0) || ' and ' || coalesce(c.reserved, 0)
       from api_keys k join w on w.user_id = k.user_id
       left join (
         select api_key_id,
                sum(charged_cents - refunded_cents + overage_cents) filter (where settled_at is not null) as spent,
                sum(max_spend_cents) filter (where settled_at is null) as reserved
           from looked_at where api_key_id is not null group by api_key_id
       ) c on c.api_key_id = k.id
      where k.spent_cents <> coalesce(c.spent, 0) or k.reserved_cents <> coalesce(c.reserved, 0)`;

/** The seals of a span of entries, by the last one of each. */
const endsInSpan = (last: string) => `${last} between :fromSeq::bigint and :toSeq::bigint`;

/**
 * Checks seals against themselves and the rows that they leave, over w: readers add up the sums that a seal keeps, and do
 * not open it.
 */
export const sealRule = `
     select 'chain', s.wallet_id, w.user_id, s.last_seq, null,
            'the seal of the entries ' || s.first_seq || ' to ' || s.last_seq || ' has other sums than they'
       from w join ledger_seals s on s.wallet_id = w.id and ${endsInSpan('s.last_seq')}
      where (exists (
              select 1
                from (select rental_no, count(*) as entries, sum(amount_cents) as cents,
                             epoch_ms(min(created_at)) as earliest, epoch_ms(max(created_at)) as latest
                        from entries_of_seal(s) where rental_no is not null group by rental_no) x
                full join unnest(s.rental_nos, s.rental_entries, s.rental_cents, s.rental_earliest_ms, s.rental_latest_ms)
                  as told (no, entries, cents, earliest, latest) on told.no = x.rental_no
               where (x.entries, x.cents, x.earliest, x.latest)
                     is distinct from (told.entries, told.cents, told.earliest, told.latest))
         or s.closing_cents <> s.opening_cents + (select sum(amount_cents) from entries_of_seal(s))
         or exists (
              select 1 from entries_of_seal(s) x
                left join ledger_rows e on e.wallet_id = s.wallet_id and e.seq = x.seq
               where (x.rental_no is null or e.seq is not null)
                 and ((e.amount_cents, e.balance_after_cents, e.created_at)
                        is distinct from (x.amount_cents, x.balance_after_cents, x.created_at)
                      or x.rental_no is not null
                         and (e.type, e.rental_no, e.note, e.processor_charge_id)
                             is distinct from ('rental_charge', x.rental_no, null, null))))`;

/**
 * Checks the hashes of seals, over w: each follows from the seal before it, and from all that its proof covers (decision 140,
 * "Proof of the ledger").
 */
export const hashRule = `
     select 'chain', h.wallet_id, w.user_id, h.last_seq, null,
            'the entries ' || h.first_seq || ' to ' || h.last_seq || ' have another hash than the one that was proven'
       from w join ledger_hashes h on h.wallet_id = w.id and ${endsInSpan('h.last_seq')}
       left join ledger_seals s on s.wallet_id = h.wallet_id and s.last_seq = h.last_seq
      where hash_of_seal(coalesce(s, seal_of(h.wallet_id, h.first_seq, h.last_seq)), h.epoch) is distinct from h.hash
         or s.first_seq <> h.first_seq
     union all
     select 'chain', s.wallet_id, w.user_id, s.last_seq, null,
            'the seal of the entries ' || s.first_seq || ' to ' || s.last_seq || ' has no hash'
       from w join ledger_seals s on s.wallet_id = w.id and ${endsInSpan('s.last_seq')}
      where not exists (select 1 from ledger_hashes h where h.wallet_id = s.wallet_id and h.last_seq = s.last_seq)`;

/** All rules but the chain's, over w (wallets), newest, held, looked_at (rentals), entries, priced and ordered. */
export const rules = `
     select 'wallet' as rule, w.id as "walletId", w.user_id as "userId", null::bigint as seq, null::text as "rentalId",
            'total ' || w.available_cents + w.reserved_cents || ', newest entry ' ||
            coalesce(n.balance_after_cents, 0) as detail
       from w left join newest n on n.wallet_id = w.id
      where w.available_cents + w.reserved_cents <> coalesce(n.balance_after_cents, 0) or w.seq <> coalesce(n.seq, 0)
     union all
     select 'holds', w.id, w.user_id, null, null, 'reserved ' || w.reserved_cents || ', holds ' || coalesce(h.held, 0)
       from w left join held h on h.wallet_id = w.id
      where w.reserved_cents <> coalesce(h.held, 0)
     union all
     select 'rental', r.wallet_id, r.user_id, null, r.id, r.id || ' says charged ' || r.charged_cents || ' refunded ' ||
            r.refunded_cents || ', entries say ' || coalesce(e.charged, 0) || ' and ' || coalesce(e.refunded, 0)
       from looked_at r left join entries e on e.rental_no = r.no
      where r.charged_cents <> coalesce(e.charged, 0) or r.refunded_cents <> coalesce(e.refunded, 0)
     union all
     select 'price', wallet_id, user_id, null, id, id || ' is settled at ' || settled_cents || ', the formula says ' ||
            final_cents || case when due_ms is null and running_ms is not null then '; nothing that is kept ended it'
                                when lowered then '; a limit was lowered below what had accrued by then'
                                when failed_late then '; it failed, and was last seen alive later than the first minute'
                                when status <> 'failed' and due_ms <> ended_ms
                                then '; it is billed until ' || from_epoch_ms(ended_ms) || ' and ended at ' ||
                                     from_epoch_ms(due_ms)
                                else '' end
       from priced
      where settled_cents <> final_cents or failed_late or lowered
         or status <> 'failed' and running_ms is not null and due_ms is distinct from ended_ms
     union all ${orderRules}`;

/** Reads the discrepancies of a query in one order, whatever way the database takes to them. */
export const firstOf = (found: string): string => `
   select * from (${found}) found
    order by array_position('{${ruleNames.join()}}'::text[], rule), "walletId", seq, "rentalId", detail
    limit ${discrepancyLimit}`;

export const sums = `-sum(e.amount_cents) filter (where e.type = 'rental_charge') as charged,
              sum(e.amount_cents) filter (where e.type = 'refund') as refunded`;
