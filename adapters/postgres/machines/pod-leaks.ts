import { machineLimits } from '../../../domain/machines/limits.js';
import { isOlderSql } from '../clock.js';
import type { Database } from '../database.js';
import type { PodLeakRow } from '../rows/tables.js';

/** Lists pods that nobody pays for and that are still there, the oldest first. */
export async function listLeakingPods(db: Database): Promise<PodLeakRow[]> {
  return db('pod_leaks').whereNull('gone_at').orderBy('since').limit(500);
}

export interface LeakSum {
  readonly providerCode: string;
  readonly kind: PodLeakRow['kind'];
  readonly pods: number;
  readonly seconds: number;
  readonly cents: number;
}

/** Sums the cost of pods in the last `days` that nobody paid for, by upstream and cause. */
export async function sumLeaks(db: Database, days: number): Promise<LeakSum[]> {
  const { rows } = await db.raw<{ rows: LeakSum[] }>(
    `select provider_code as "providerCode", kind, count(*) as pods, sum(seconds)::bigint as seconds,
            sum(cents)::bigint as cents
       from pod_leaks where since > clock_ms() - :days * interval '1 day'
      group by provider_code, kind order by provider_code, kind`,
    { days },
  );
  return rows;
}

export interface FreeSum {
  readonly providerCode: string;
  readonly kind: string;
  readonly machines: number;
  readonly users: number;
  /** The user who had most of them. */
  readonly topUserId: string;
  readonly topUserMachines: number;
  readonly seconds: number;
  readonly cents: number;
}

/**
 * Sums the cost of machines in the last `days`, until their rentals ended, for which nobody was billed (decision 83,
 * "Cost of one caller").
 */
export async function sumFreeMachines(db: Database, days: number): Promise<FreeSum[]> {
  const { rows } = await db.raw<{ rows: FreeSum[] }>(
    `with by_user as (
       select provider_code, kind, user_id, count(*) as machines, sum(seconds) as seconds, sum(cents) as cents
         from free_machines where settled_at > (select clock_ms()) - :days * interval '1 day'
        group by provider_code, kind, user_id
     )
     select provider_code as "providerCode", kind, sum(machines)::bigint as machines, count(*) as users,
            (array_agg(user_id order by machines desc, user_id))[1] as "topUserId",
            max(machines) as "topUserMachines", sum(seconds)::bigint as seconds, sum(cents)::bigint as cents
       from by_user group by provider_code, kind order by provider_code, kind`,
    { days },
  );
  return rows;
}

/**
 * Claims, each once, the pods that were told to end long ago and are still there: an operator must look at the
 * upstream. Their renters pay nothing for them.
 */
export async function claimSlowEnds(db: Database): Promise<PodLeakRow[]> {
  const { rows } = await db.raw<{ rows: PodLeakRow[] }>(
    // Begins with the few that are still there, so that it does not read all pods that ever were.
    `with slow as materialized (
       select * from pod_leaks
        where gone_at is null and slow_end_told_at is null
          and ${isOlderSql('since', ':slowMs')}
     ), told as (
       update allocation_attempts a set slow_end_told_at = clock_ms()
        where a.tag = any (array(select tag from slow))
       returning a.tag
     )
     select slow.* from slow join told using (tag)`,
    { slowMs: machineLimits.slowEndMs },
  );
  return rows;
}
