import type { UserId } from '../../../domain/ids.js';
import type { FreeMachine, FreeMachineLimits, FreeMachines } from '../../../domain/rentals/free-machines.js';
import type { Transaction } from '../database.js';

/** The most accounts and machines that one look reads: so many are refused by fewer of them. */
const MAX_ACCOUNTS = 100;
const MAX_MACHINES = 1_000;

/**
 * Reads the machines of an account that may count as free, and those of all accounts that have one bound with it: they
 * paid by the same card, or are as new and of the same address (decision 83, "Cost of one caller"). Call it under the
 * lock of the wallet. The statement reads the clock once for each scan: an index can't compare with a clock that is read
 * for each row, and the lock would last while all that the user ever rented is read.
 */
export async function readFreeMachines(
  trx: Transaction,
  userId: UserId,
  { newAccountMs, minMs }: FreeMachineLimits,
): Promise<FreeMachines> {
  const { rows } = await trx.raw<{ rows: [Omit<FreeMachines, 'machines'> & { machines: Seen[] | null }] }>(
    `with accounts as (
       select :userId as user_id
       union select theirs.user_id
         from (select mine.kind, mine.value from account_ties mine
                where mine.user_id = :userId and (mine.kind = 'card' or ${isNew('mine')}) limit 20) tie
         cross join lateral (
           select t.user_id from account_ties t
            where t.kind = tie.kind and t.value = tie.value and (t.kind = 'card' or ${isNew('t')})
            order by t.tied_at desc limit :accounts) theirs
     ), machines as (
       select r.price_per_hour_cents, r.tag, r.started_at, r.running_at, r.ended_at, r.terminated_at, r.settled_at,
              r.charged_cents - r.refunded_cents as net_cents, r.software, r.provider_code, r.pod_id
         from accounts a cross join lateral (
           (select * from rentals r
             where r.user_id = a.user_id and r.settled_at > (select clock_ms()) - interval '1 hour'
               and r.pod_id is not null
               and (r.status = 'failed' and (r.running_at is not null or r.software is not null)
                    or r.status <> 'failed'
                       and (r.stop_reason in ('user', 'auto_stop', 'spend_limit', 'balance_exhausted', 'idle')
                            -- Its user can make it call itself bad.
                            or r.stop_reason = 'pod_lost'
                               and exists (select from bad_machines f where f.rental_id = r.id and f.outcome = 'billed'))
                       -- One that ran for longer was paid for.
                       and (r.running_at is null or r.ended_at < r.running_at + :minMs * interval '1 ms'))
             order by r.settled_at desc limit :machines)
           union all
           select * from rentals r
            where r.user_id = a.user_id and r.settled_at is null and r.running_at is null and r.closed_at is null
         ) r
       union all
       -- Machines that rentals left because own software called them bad, which its user can make it do.
       select b.price_per_hour_cents, b.tag, b.created_at, null, f.found_at, f.found_at, f.found_at, 0, r.software,
              b.provider_code, b.pod_id
         from accounts a join rentals r on r.user_id = a.user_id and r.software is not null
         join bad_machines f on f.rental_id = r.id and f.outcome = 'not_billed'
         join allocation_attempts b on b.id = f.attempt_id and (b.tag <> r.tag or r.pod_id is null)
        where f.found_at > (select clock_ms()) - interval '1 hour'
     )
     select clock_ms() as at,
            (select jsonb_agg(jsonb_build_array(m.price_per_hour_cents, epoch_ms(coalesce(b.created_at, m.started_at)),
                      -- Who is root there says when it answers, so it costs from when its upstream ran it.
                      epoch_ms(coalesce(p.active_at, m.running_at)), epoch_ms(m.ended_at), epoch_ms(m.terminated_at), epoch_ms(m.settled_at),
                      m.net_cents))
               from machines m left join allocation_attempts b on b.tag = m.tag
                 left join pods p on m.software is not null and p.provider_code = m.provider_code and p.pod_id = m.pod_id) as machines,
            -- Mostly there is nothing to compare it with.
            case when exists (select 1 from machines) then
            (select coalesce(sum(p.cents), 0)::bigint from accounts a cross join lateral (
               select sum(r.charged_cents - r.refunded_cents) as cents from rentals r
                where r.user_id = a.user_id and r.settled_at > (select clock_ms()) - interval '30 days'
               union all
               select sum(r.charged_cents - r.refunded_cents) from rentals_now r
                where r.user_id = a.user_id and r.settled_at is null) p) else 0 end as "paidCents"`,
    { userId, newAccountMs, minMs, accounts: MAX_ACCOUNTS, machines: MAX_MACHINES },
  );
  const [{ at, machines, paidCents }] = rows;
  return { at, paidCents, machines: (machines ?? []).map(machineOf) };
}

/** SQL that holds for a tie of an account that is still new. @param tie its alias */
function isNew(tie: string): string {
  return `${tie}.kind = 'address' and ${tie}.tied_at > (select clock_ms()) - :newAccountMs * interval '1 ms'`;
}

/** A machine as the statement tells it: price, then instants in milliseconds, then cents. */
type Seen = [number, number, number | null, number | null, number | null, number | null, number];

function machineOf([price, bought, running, ended, gone, settled, netCents]: Seen): FreeMachine {
  return {
    pricePerHourCents: price,
    boughtAt: new Date(bought),
    runningAt: instantOf(running),
    endedAt: instantOf(ended),
    goneAt: instantOf(gone),
    settledAt: instantOf(settled),
    netCents,
  };
}

function instantOf(ms: number | null): Date | null {
  return ms === null ? null : new Date(ms);
}
