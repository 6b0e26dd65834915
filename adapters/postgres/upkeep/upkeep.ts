import type { RentalId, TopupId, UserId } from '../../../domain/ids.js';
import { operationLimits } from '../../../domain/operations/limits.js';
import { isOlderSql, notAheadSql } from '../clock.js';
import type { Database } from '../database.js';
import type { AllocationAttemptRow } from '../rows/tables.js';

/** Lists rentals to which something is still owed and that are older than a moment: each should have a workflow. */
export async function listUnclosedRentals(db: Database): Promise<RentalId[]> {
  const rows = await db('rentals')
    .whereNull('closed_at')
    .whereRaw(isOlderSql('started_at', operationLimits.reviveAfterMs))
    .select('id');
  return rows.map(({ id }) => id);
}

/** Lists top-ups whose payment is not decided and that are older than a moment: each should have a workflow. */
export async function listUnclosedTopups(db: Database): Promise<TopupId[]> {
  const rows = await db('topups')
    .whereNull('closed_at')
    .whereNot({ source: 'auto_topup' })
    .whereRaw(isOlderSql('created_at', operationLimits.reviveAfterMs))
    .select('id');
  return rows.map(({ id }) => id);
}

/** Lists users whose auto-topup has an undecided attempt. */
export async function listUsersWithOpenAutoTopups(db: Database): Promise<UserId[]> {
  const rows = await db('topups')
    .whereNull('closed_at')
    .where({ source: 'auto_topup' })
    .whereRaw(isOlderSql('created_at', operationLimits.reviveAfterMs))
    .select('user_id');
  return rows.map((row) => row.user_id);
}

/**
 * Lets the waits of purchases and of their machines begin now where they began at an instant ahead: that is of a clock that
 * was set back since. What they were to wait for may have begun a moment ago, so none is over by it (decision 195, "Instants
 * ahead").
 */
export async function beginWaitsAnew(db: Database): Promise<void> {
  await db.raw(
    `update allocation_attempts set ${notAhead('created_at', 'changed_at', 'asked_at', 'not_before')}
      where created_at > (select clock_ms())
         or state in ('open', 'condemned') and changed_at > (select clock_ms())
         or id = any (array(select a.id from rentals r join allocation_attempts a on a.rental_id = r.id
                             where r.status = 'provisioning' and a.changed_at > (select clock_ms())))`,
  );
  await db.raw(
    `update pods set ${notAhead('first_seen_at', 'active_at', 'probed_at')}
      where gone_at is null and greatest(first_seen_at, active_at, probed_at) > (select clock_ms())`,
  );
}

function notAhead(...columns: string[]): string {
  return columns.map((column) => `${column} = ${notAheadSql(column)}`).join(', ');
}

export interface StrayPod {
  readonly podId: string;
  readonly tag: string;
  readonly why: string;
}

/**
 * Lists pods of ours that no live rental owns (decision 22, "Machines of nobody"): their tag is unknown, or its attempt
 * was given up, or the rental is closed. A pod with an open attempt younger than `openForMs` is left to the workflow
 * that made it. A pod that a restored database did not know is left to a human (decision 67, "Restored databases").
 */
export async function listStrayPods(
  db: Database,
  providerCode: string,
  openForMs: number,
): Promise<StrayPod[]> {
  const { rows } = await db.raw<{ rows: StrayPod[] }>(
    `select p.pod_id as "podId", p.tag,
            case when a.id is null then 'no attempt carries its tag'
                 when a.state = 'adopted' then 'its rental is closed'
                 else 'its attempt is ' || a.state end as why
       from pods p
       left join allocation_attempts a on a.tag = p.tag
       left join rentals r on r.id = a.rental_id
      where p.provider_code = :providerCode and p.gone_at is null
        and (a.id is null and p.first_seen_at < clock_ms() - interval '1 minute'
             or a.state in ('condemned', 'failed', 'gone')
             or a.state = 'adopted' and r.closed_at is not null
             or a.state = 'open' and a.created_at < clock_ms() - :openForMs * interval '1 millisecond')
        and not exists (select 1 from unknown_pods u
                         where u.provider_code = p.provider_code and u.pod_id = p.pod_id and u.released_at is null)`,
    { providerCode, openForMs },
  );
  return rows;
}

/**
 * Decides, committed, that a stray pod shall end. An open attempt is condemned first, so that it can't be adopted any
 * more (decision 22, "Machines of nobody"). An adoption in between keeps the pod.
 * @returns whether the pod may be ended
 */
export async function condemnStrayPod(
  db: Database,
  { tag, why }: Pick<StrayPod, 'tag' | 'why'>,
): Promise<boolean> {
  // Waits for an adoption that is under way, and then no longer finds the attempt open.
  await db('allocation_attempts')
    .where({ tag, state: 'open' })
    .update({
      state: 'condemned',
      error: why,
      failed_by: 'us',
      changed_at: db.raw('clock_ms()'),
      given_up_at: db.raw('coalesce(given_up_at, clock_ms())'),
    });
  const { rows } = await db.raw<{ rows: { owned: boolean }[] }>(
    `select exists (select 1 from allocation_attempts a
                     where a.tag = :tag
                       and (a.state = 'open'
                            or a.state = 'adopted'
                               and not exists (select 1 from rentals r
                                                where r.id = a.rental_id and r.closed_at is not null))) as owned`,
    { tag },
  );
  return rows[0]?.owned === false;
}

/**
 * Lists attempts that are still open long after their call, for which no provisioning rental waits: a crash left them.
 */
export async function listForgottenAttempts(
  db: Database,
  openForMs: number,
): Promise<AllocationAttemptRow[]> {
  const { rows } = await db.raw<{ rows: AllocationAttemptRow[] }>(
    `select a.* from allocation_attempts a
      where a.state = 'open' and a.created_at < clock_ms() - :openForMs * interval '1 millisecond'
        and not exists (select 1 from rentals r where r.id = a.rental_id and r.status = 'provisioning')`,
    { openForMs },
  );
  return rows;
}

/**
 * Closes condemned attempts of which the upstream has shown nothing for long: whatever their call did, it left no pod. The
 * list that says so was asked for so long after it was given up, however long it took to come.
 */
export async function closeCondemnedAttempts(db: Database, afterMs: number): Promise<number> {
  const { rowCount } = await db.raw<{ rowCount: number }>(
    `update allocation_attempts a set state = 'gone', changed_at = clock_ms()
      where a.state = 'condemned' and a.changed_at < clock_ms() - :afterMs * interval '1 millisecond'
        and exists (select 1 from providers v where v.code = a.provider_code
                       and v.pods_listed_at between a.changed_at + :afterMs * interval '1 millisecond' and clock_ms())
        and not exists (select 1 from pods p where p.tag = a.tag and p.gone_at is null)`,
    { afterMs },
  );
  return rowCount;
}
