import type { RentalId } from '../../domain/ids.js';
import { meteringLimits } from '../../domain/metering/limits.js';
import type { Transaction } from '../../adapters/postgres/database.js';
import { tellEnded, tellLow } from './meter-events.js';

/**
 * Brings wallets that this transaction has locked up to now (decision 24, "Order of funds", decision 25, "Usage as
 * running total", and decision 26, "End of the money"). It charges every running rental what has come due, ends those
 * whose time or money is over, and leaves an intent for each that ended.
 *
 * Each set of rows is found by the wallets' ids along an index, and sets are joined by hash: the planner knows no sizes
 * here (decision 118, "A million meters"). Ids are given once, and as a subquery's: a constant array would be planned
 * element by element.
 *
 * It must start after the locks are held, in a statement of its own: its data and its clock must be no older than what
 * the last holder wrote. While operators have paused metering it does nothing (decision 37, "Brakes and the
 * watermark"). All sums are integers; numeric was measured at a third of the speed.
 */
const meterStatement = `
with ids as materialized (
  select :walletIds::bigint[] as wallet_ids
),
clock as materialized (
  select at, epoch_ms(at) as ms from (select clock_ms() as at) c
),
-- One row per running rental, from the inside out. It is one pipeline with one sort, materialized once at its end:
-- steps that were materialized each cost more than all the arithmetic.
verdicts as materialized (
  select no, wallet_id, price, low_since, available_cents, topup_below, starved_ms, from_hold, cents, waits,
    charged_after,
    hold_cents - from_hold as hold_after,
    count(*) filter (where cents > 0) over chain + seq as entry_seq,
    total - sum(cents) over chain as balance,
    -- The money ended in the first millisecond at which what could be paid had accrued; a tick that runs in time
    -- notices when one cent more is due. A later one ends at its own clock.
    case
      when waits then null
      when short and (starved_ms is not null
                      or now_ms - running_ms - ((charged_after + 1) * 3600000 + price - 1) / price <= :tickLateMs)
        then running_ms + (charged_after * 3600000 + price - 1) / price
      when short then until_ms
      -- A stop or a limit that was noticed after a cent was charged beyond it ends no earlier than that cent.
      when until_ms < now_ms or until_ms = limit_ms
        then greatest(until_ms, running_ms + (charged_after * 3600000 + price - 1) / price)
    end as ended_ms,
    case
      when short then 'balance_exhausted'
      when stop_ms = until_ms then case requested_by when 'user' then 'user' else 'operator' end
      when limit_ms = until_ms then 'limit'
    end as reason
  from (
    -- What each pays: its own hold first, then what its older siblings leave of the available money. One whose money
    -- does not suffice waits for an auto-topup that is open or begins now, but not for ever.
    select paid.*, from_hold + from_available as cents, charged_cents + from_hold + from_available as charged_after,
           claim > from_available as short,
           claim > from_available and now_ms - coalesce(starved_ms, now_ms) < :topupWaitMs
             and (topup_below is not null
                  or exists (select 1 from intents i where i.kind = 'auto_topup' and i.wallet_id = paid.wallet_id
                                and i.acknowledged_at is null)) as waits
    from (
      select claims.*, greatest(0, least(claim, available_cents - coalesce(sum(claim) over elder, 0)))::int
               as from_available
      from (
        select owed.*, least(due, hold_cents)::int as from_hold, (due - least(due, hold_cents))::int as claim
        from (
          -- What has come due. Usage is a running total: a tick that comes late or twice charges neither too much
          -- nor too little.
          select until.*,
                 greatest(0, price * greatest(0, until_ms - running_ms) / 3600000 - charged_cents)::int as due
          from (
            -- The instant until which it owes: now, or when it was stopped or reached a limit.
            select m.rental_no as no, m.wallet_id, m.price_per_hour_cents::bigint as price, m.hold_cents,
                   m.charged_cents, m.running_ms, m.limit_ms, m.starved_ms, s.requested_ms as stop_ms, s.requested_by,
                   w.available_cents, w.available_cents + w.reserved_cents as total, w.seq, w.low_since,
                   a.threshold_cents as topup_below,
                   (select ms from clock) as now_ms,
                   least((select ms from clock), m.limit_ms, s.requested_ms) as until_ms
              from wallets w
              join meters m on m.wallet_id = w.id
              left join stop_requests s on s.rental_no = m.rental_no and s.open
              left join auto_topups a
                on a.wallet_id = w.id and a.wallet_id = any ((select wallet_ids from ids)::bigint[])
               and a.enabled and coalesce(a.next_attempt_at <= (select at from clock), true)
             where w.id = any ((select wallet_ids from ids)::bigint[])
               and m.wallet_id = any ((select wallet_ids from ids)::bigint[])
               and not exists (select 1 from brakes where kind = 'metering')
          ) until
        ) owed
      ) claims
      window elder as (partition by wallet_id order by no rows between unbounded preceding and 1 preceding)
    ) paid
  ) judged
  window chain as (partition by wallet_id order by no rows between unbounded preceding and current row)
),
entries as (
  insert into ledger_entries (wallet_id, seq, type, amount_cents, balance_after_cents, rental_no, created_at)
  select wallet_id, entry_seq, 'rental_charge', -cents, balance, no, (select at from clock)
    from verdicts where cents > 0
),
-- What is left of each wallet that was charged, and for how long that lasts what still runs (low balance warning).
wallet_sums as materialized (
  select wallet_id, sum(cents - from_hold) as available, sum(from_hold) as hold, max(entry_seq) as seq,
         count(*) filter (where cents > 0) as entries, min(low_since) as low_since,
         min(balance) * 60 < :warnMinutes * sum(price::int) filter (where ended_ms is null) as low,
         min(available_cents) - sum(cents - from_hold) < min(topup_below) and bool_or(ended_ms is null) as topup
    from verdicts group by wallet_id having sum(cents) > 0 or bool_or(waits)
),
moved as (
  update wallets w set available_cents = w.available_cents - c.available, reserved_cents = w.reserved_cents - c.hold,
                       seq = c.seq,
                       low_since = case when c.low then coalesce(w.low_since, from_epoch_ms((select ms from clock))) end
    from wallet_sums c
   where w.id = any ((select wallet_ids from ids)::bigint[]) and w.id = c.wallet_id and c.entries > 0
),
warned as (
  insert into intents (kind, wallet_id)
  select 'low_balance', wallet_id from wallet_sums where low and low_since is null and entries > 0
  on conflict do nothing
),
-- Auto-topup goes by the level, on every tick, until an attempt begins (decision 34).
topping as (
  insert into intents (kind, wallet_id)
  select 'auto_topup', wallet_id from wallet_sums where topup
  on conflict do nothing
),
metered as (
  update meters m set charged_cents = v.charged_after, hold_cents = v.hold_after,
                      starved_ms = case when v.waits then coalesce(v.starved_ms, (select ms from clock)) end
    from verdicts v
   where m.wallet_id = any ((select wallet_ids from ids)::bigint[])
     and m.rental_no = v.no and v.ended_ms is null and (v.cents > 0 or v.waits or v.starved_ms is not null)
),
-- What ends takes what its meter showed into its own row; the meter goes with it (migrations/004-rentals).
turned as (
  update rentals r set
      charged_cents = v.charged_after,
      hold_cents = v.hold_after,
      status = 'stopping',
      ended_at = from_epoch_ms(v.ended_ms),
      stop_reason = case
        when v.reason <> 'limit' then v.reason
        when r.spend_limit_at <= coalesce(r.auto_stop_at, r.spend_limit_at) then 'spend_limit'
        else 'auto_stop' end
    from verdicts v
   -- Few end. The planner expects that most do, and would read all rentals.
   where r.no = any (array(select no from verdicts where ended_ms is not null)) and r.no = v.no and v.ended_ms is not null
  returning r.no, r.id, r.wallet_id
),
ended as (
  insert into intents (kind, wallet_id, rental_no)
  select 'end_rental', wallet_id, no from turned
  on conflict do nothing
)
select coalesce(sum(entries), 0)::bigint as entries,
       coalesce(bool_or(topup), false) as topup,
       coalesce(array_agg(wallet_id) filter (where low and low_since is null and entries > 0), '{}') as low,
       coalesce((select array_agg(id) from turned), '{}') as ended
  from wallet_sums`;

interface Pass {
  readonly entries: number;
  readonly topup: boolean;
  /** Wallets that became low by this pass. */
  readonly low: readonly number[];
  readonly ended: readonly RentalId[];
}

export interface Metered {
  /** How many ledger entries were written. */
  readonly entries: number;
  /** Rentals that this pass ended; each has an end_rental intent. */
  readonly ended: readonly RentalId[];
  /** Whether intents were left that should be delivered now. */
  readonly left: boolean;
}

/**
 * Meters all running rentals of these wallets up to now, and tells what ended or became low by it: in statements of
 * their own, so that a pass that changes nothing of the kind costs what it costs without them. Each wallet must be
 * locked by this transaction.
 */
export async function meterWallets(trx: Transaction, walletIds: readonly number[]): Promise<Metered> {
  return meterArray(trx, `{${walletIds.join(',')}}`);
}

/**
 * The same as `meterWallets` for many wallets.
 * @param walletIds as PostgreSQL writes an array of bigint, so that they go back as they came
 */
export async function meterArray(trx: Transaction, walletIds: string): Promise<Metered> {
  if (walletIds === '{}') return { entries: 0, ended: [], left: false };
  const { rows } = await trx.raw<{ rows: Pass[] }>(meterStatement, {
    walletIds,
    topupWaitMs: meteringLimits.topupWaitMs,
    tickLateMs: meteringLimits.tickLateMs,
    warnMinutes: meteringLimits.lowBalanceMinutes,
  });
  const [pass] = rows;
  if (!pass) throw new Error('the metering statement answered no row');
  const { entries, topup, low, ended } = pass;
  if (ended.length > 0) await tellEnded(trx, ended);
  if (low.length > 0) await tellLow(trx, low);
  return { entries, ended, left: topup || low.length > 0 || ended.length > 0 };
}
