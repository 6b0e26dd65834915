import type { RentalId } from '../../domain/ids.js';
import { meteringLimits } from '../../domain/metering/limits.js';
import type { Transaction } from '../../adapters/postgres/database.js';
import { attemptMayBegin } from '../../adapters/postgres/payments/topup-level.js';
import { tellEnded, tellLow } from './meter-events.js';

/**
 * Brings wallets that this transaction has locked up to now (decision 24, "Order of funds", decision 25, "Usage as
 * running total", and decision 26, "End of the money"). It charges every running rental what has come due, ends those
 * whose time or money is over, and leaves an intent for each that ended.
 *
 * Each set of rows is found by the wallets' ids along an index, and sets are joined by hash or merged, never row by row:
 * the planner knows no sizes here (decision 118, "A million meters"). Ids are given once, and as a subquery's: a
 * constant array would be planned element by element.
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
-- Auto-topups that may begin an attempt now.
refills as materialized (
  select wallet_id, threshold_cents from auto_topups a
   where wallet_id = any ((select wallet_ids from ids)::bigint[])
     and ${attemptMayBegin('a', '(select at from clock)')}
),
-- One row per running rental, from the inside out. It is one pipeline with one sort, materialized once at its end:
-- steps that were materialized each cost more than all the arithmetic. What may be null stands last in each row, so that
-- the rest is found at fixed places. "offset 0" keeps what was computed once from being computed by each of its uses.
verdicts as materialized (
  select wallet_id, no, cents, count(*) filter (where cents > 0) over chain + seq as entry_seq,
    total - sum(cents) over chain as balance,
    charged_after, hold_cents - from_hold as hold_after, from_hold, available_cents, price, waits,
    -- The balance ran out in the first millisecond at which what could be paid had accrued; a tick that runs in time
    -- notices when one cent more is due. A later one ends at its own clock.
    case
      when waits then null
      when short and (starved_ms is not null
                      or (select ms from clock) - running_ms - ((charged_after + 1) * 3600000 + price - 1) / price
                         <= :tickLateMs)
        then running_ms + (charged_after * 3600000 + price - 1) / price
      when short then until_ms
      -- A stop or a limit that was noticed after a cent was charged beyond it ends no earlier than that cent.
      when over is not null then greatest(until_ms, running_ms + (charged_after * 3600000 + price - 1) / price)
    end as ended_ms,
    case when short then 'balance_exhausted' else over end as reason,
    starved_ms, low_since, may_follow
  from (
    -- One whose money does not suffice waits for an auto-topup that is open or begins now, but not for ever.
    select paid.*, from_hold + from_available as cents, charged_cents + from_hold + from_available as charged_after,
           claim > from_available as short,
           claim > from_available and (select ms from clock) - coalesce(starved_ms, (select ms from clock)) < :topupWaitMs
             and (wallet_id in (select wallet_id from refills)
                  or exists (select 1 from intents i where i.kind = 'auto_topup' and i.wallet_id = paid.wallet_id
                                and i.acknowledged_at is null)) as waits
    from (
      -- What each pays: its own hold first, then what its older siblings leave of the available money.
      select claims.*, greatest(0, least(claim, available_cents - (sum(claim) over chain - claim)))::int as from_available
      from (
        select owed.*, least(due, hold_cents)::int as from_hold, (due - least(due, hold_cents))::int as claim
        from (
          -- What has come due. Usage is a running total: a tick that comes late or twice charges neither too much
          -- nor too little.
          select wallet_id, no, price, greatest(0, read_hold_cents - (charged_cents - read_cents)) as hold_cents,
                 charged_cents, running_ms, available_cents, total, seq, until_ms,
                 greatest(0, price * greatest(0, until_ms - running_ms) / 3600000 - charged_cents)::int as due,
                 starved_ms, low_since, may_follow,
                 case until_ms when stop_ms then 'stop' when limit_ms then 'limit' end as over
          from (
            -- The instant until which it owes: now, or when it was stopped or reached a limit.
            -- What was charged, and what is left of the hold, goes on from the reading as in the view meters.
            select m.wallet_id, m.rental_no as no, m.price_per_hour_cents::bigint as price,
                   m.hold_cents as read_hold_cents, m.charged_cents as read_cents,
                   case when m.follows_wallet then m.price_per_hour_cents * (w.metered_ms - m.running_ms) / 3600000
                        else m.charged_cents end as charged_cents,
                   m.running_ms, w.available_cents, w.available_cents + w.reserved_cents as total, w.seq,
                   least((select ms from clock), m.limit_ms, s.requested_ms) as until_ms,
                   m.limit_ms, m.starved_ms, s.requested_ms as stop_ms, w.low_since,
                   -- null: it follows already. Not while the clock stands behind the wallet's instant.
                   case when not m.follows_wallet then (select ms from clock) > w.metered_ms end as may_follow
              from wallets w
              join meter_readings m on m.wallet_id = w.id
              left join stop_requests s on s.rental_no = m.rental_no and s.open
             where w.id = any ((select wallet_ids from ids)::bigint[])
               and m.wallet_id = any ((select wallet_ids from ids)::bigint[])
               and not exists (select 1 from brakes where kind = 'metering')
          ) until
          offset 0
        ) owed
      ) claims
      window chain as (partition by wallet_id order by no rows between unbounded preceding and current row)
      offset 0
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
         min(available_cents) - sum(cents - from_hold) as left_cents,
         sum(price::int) filter (where ended_ms is null) is not null as runs
    from verdicts group by wallet_id having count(*) filter (where cents > 0) > 0 or bool_or(waits)
),
-- What is left in a charged wallet that runs and does not wait has paid up to now: it follows its wallet.
moved as (
  update wallets w set available_cents = w.available_cents - c.available, reserved_cents = w.reserved_cents - c.hold,
                       seq = c.seq, metered_ms = greatest(w.metered_ms, (select ms from clock)),
                       low_since = case when c.low then coalesce(w.low_since, from_epoch_ms((select ms from clock))) end
    from (select wallet_id, available, hold, seq, low from wallet_sums where entries > 0 order by wallet_id offset 0) c
   where w.id = any ((select wallet_ids from ids)::bigint[]) and w.id = c.wallet_id
),
warned as (
  insert into intents (kind, wallet_id)
  select 'low_balance', wallet_id from wallet_sums where low and low_since is null and entries > 0
  on conflict do nothing
),
-- Auto-topup goes by the level, on every tick, until an attempt begins (decision 34).
below as materialized (
  select s.wallet_id from wallet_sums s join refills r on r.wallet_id = s.wallet_id
   where s.runs and s.left_cents < r.threshold_cents
),
topping as (
  insert into intents (kind, wallet_id)
  select 'auto_topup', wallet_id from below
  on conflict do nothing
),
-- Few rows are written (decision 126): those that wait or have waited, and those that begin to follow their wallet.
written as materialized (
  select wallet_id, no, charged_after, hold_after,
         case when waits then coalesce(starved_ms, (select ms from clock)) end as starved_after,
         not waits and cents > 0 and may_follow as follows_after
    from verdicts
   where ended_ms is null and (waits or starved_ms is not null or (cents > 0 and may_follow is not null))
   order by wallet_id, no
),
-- The wallets of those few alone: the meters of all that are metered were found above, and finding them costs as much again.
metered as (
  update meter_readings m set charged_cents = v.charged_after, hold_cents = v.hold_after, starved_ms = v.starved_after,
                              follows_wallet = v.follows_after
    from written v
   where m.wallet_id = any (array(select wallet_id from written)) and m.wallet_id = v.wallet_id
     and m.rental_no = v.no
),
ending as materialized (
  select no, charged_after, hold_after, ended_ms, reason from verdicts where ended_ms is not null
),
-- What ends takes what its meter showed into its own row; the meter goes with it.
turned as (
  update rentals r set
      charged_cents = e.charged_after,
      hold_cents = e.hold_after,
      status = 'stopping',
      ended_at = from_epoch_ms(e.ended_ms),
      stop_reason = case e.reason
        when 'stop' then
          (select s.requested_by
             from stop_requests s where s.rental_no = r.no and s.open)
        when 'limit' then
          case when r.spend_limit_at < coalesce(r.auto_stop_at, 'infinity') then 'spend_limit' else 'auto_stop' end
        else e.reason end
    from ending e
   -- Few end. The planner expects that most do, and would read all rentals.
   where r.no = any (array(select no from ending)) and r.no = e.no
  returning r.no, r.id, r.wallet_id
),
ended as (
  insert into intents (kind, wallet_id, rental_no)
  select 'end_rental', wallet_id, no from turned
  on conflict do nothing
)
select coalesce(sum(entries), 0)::bigint as entries,
       (select case when not exists (select 1 from brakes where kind = 'metering') then ms end from clock) as "atMs",
       exists (select 1 from below) as topup,
       coalesce(array_agg(wallet_id) filter (where low and low_since is null and entries > 0), '{}') as low,
       coalesce((select array_agg(id) from turned), '{}') as ended
  from wallet_sums`;

/** A prepared statement's name (PostgreSQL: PREPARE). Its plan is made under the settings of its first calls. */
export interface KeptPlan {
  readonly name: string;
}

interface Pass {
  readonly entries: number;
  readonly atMs: number | null;
  readonly topup: boolean;
  /** Wallets that became low by this pass. */
  readonly low: readonly number[];
  readonly ended: readonly RentalId[];
}

export interface Metered {
  /** How many ledger entries were written. */
  readonly entries: number;
  /**
   * The instant up to which it metered, in milliseconds since 1970. null: metering is paused; Infinity: there was no
   * wallet to meter.
   */
  readonly atMs: number | null;
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
 * @param plan the name under which the connection keeps the statement's plan; without it each call plans anew
 */
export async function meterArray(trx: Transaction, walletIds: string, plan?: KeptPlan): Promise<Metered> {
  if (walletIds === '{}') return { entries: 0, atMs: Infinity, ended: [], left: false };
  const bindings = {
    walletIds,
    topupWaitMs: meteringLimits.topupWaitMs,
    tickLateMs: meteringLimits.tickLateMs,
    warnMinutes: meteringLimits.lowBalanceMinutes,
  };
  const { rows } = await trx.raw<{ rows: Pass[] }>(meterStatement, bindings).options({ ...plan });
  const [pass] = rows;
  if (!pass) throw new Error('the metering statement answered no row');
  const { entries, atMs, topup, low, ended } = pass;
  if (ended.length > 0) await tellEnded(trx, ended);
  if (low.length > 0) await tellLow(trx, low);
  return { entries, atMs, ended, left: topup || low.length > 0 || ended.length > 0 };
}
