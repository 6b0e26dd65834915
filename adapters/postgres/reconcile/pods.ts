import { machineLimits } from '../../../domain/machines/limits.js';
import { rentalLimits } from '../../../domain/rentals/limits.js';
import type { Finding } from '../../../domain/operations/reconcile.js';
import { lastOfEach } from '../../providers/listed-pod.js';
import type { Pod } from '../../providers/provider.js';
import type { Database } from '../database.js';

/** Lists upstreams at which something of ours runs or may run, whether they are configured or not. */
export async function listProvidersInUse(db: Database): Promise<string[]> {
  const { rows } = await db.raw<{ rows: { code: string }[] }>(
    `select provider_code as code from rentals where closed_at is null and pod_id is not null
     union select provider_code from allocation_attempts where state in ('open', 'condemned')
     union select provider_code from pods where gone_at is null
     order by 1`,
  );
  return rows.map(({ code }) => code);
}

/**
 * Compares machines: each one that an upstream lists belongs to a live rental or an open attempt, or was told to end a
 * short while ago (decision 22, "Machines of nobody"); each live rental that has a machine finds it in the list. Read
 * the list before the call: an attempt's row is always older than its machine (decision 21, "Lost upstream answers").
 */
export async function comparePods(
  db: Database,
  code: string,
  pods: readonly Pod[],
  graceMs: number,
): Promise<Finding[]> {
  const bindings = {
    code,
    graceMs,
    pods: JSON.stringify(lastOfEach(pods)),
    openMs: 2 * rentalLimits.attemptOpenMs,
    slowMs: machineLimits.slowEndMs,
  };
  const [ofPods, ofRentals] = [
    await db.raw<{ rows: Finding[] }>(findingsOfPods, bindings),
    await db.raw<{ rows: Finding[] }>(findingsOfRentals, bindings),
  ];
  return [...ofPods.rows, ...ofRentals.rows];
}

const listed = `listed as materialized (
       select * from jsonb_to_recordset(:pods::jsonb) as x
         ("podId" text, tag text, status text, "upstreamStatus" text, "pricePerHourCents" int)
     )`;

const findingsOfPods = `with ${listed}, owned as (
       select l.*, a.id as attempt_id, a.rental_id, a.state, a.error, r.status as rental_status, r.closed_at,
              k.since, k.seconds, k.cents, case
           when a.id is null then 'no attempt carries its tag'
           when a.state in ('failed', 'gone') then 'its attempt is ' || a.state
           when a.state = 'open' and a.created_at < clock_ms() - :openMs * interval '1 millisecond'
             then 'its attempt was never decided'
           when a.state <> 'adopted' then null
           -- Its opening may not be committed yet.
           when r.id is null and a.changed_at < clock_ms() - :graceMs * interval '1 millisecond' then 'it has no rental'
           when r.closed_at is not null then 'its rental is closed'
           when r.pod_id <> l."podId" then 'its rental has another machine under the same tag'
         end as why
         from listed l
         left join allocation_attempts a on a.tag = l.tag
         left join rentals r on r.id = a.rental_id
         left join pod_leaks k on k.provider_code = :code and k.pod_id = l."podId" and k.gone_at is null
        where l.status <> 'lost'
     ), judged as (
       select o.*, case when why is not null then 'pod_without_rental'
                        when since < clock_ms() - :slowMs * interval '1 millisecond' then 'pod_not_ending' end as kind
         from owned o
     )
     select kind, :code || '/' || "podId" as subject,
            jsonb_strip_nulls(jsonb_build_object('provider', :code::text, 'podId', "podId", 'rentalId', rental_id)) as "subjectIds",
            jsonb_strip_nulls(jsonb_build_object('tag', tag, 'why', coalesce(why, 'it was told to end'),
              'upstream', "upstreamStatus", 'attempt', state, 'attemptError', error, 'rental', rental_status,
              'unpaidSince', since, 'unpaidSeconds', seconds, 'unpaidCents', cents,
              'pricePerHourCents', "pricePerHourCents")) as evidence
       from judged where kind is not null`;

const findingsOfRentals = `with ${listed}
     select 'rental_without_pod' as kind, r.id as subject,
            jsonb_strip_nulls(jsonb_build_object('rentalId', r.id, 'userId', r.user_id, 'provider', r.provider_code,
              'podId', r.pod_id)) as "subjectIds",
            jsonb_strip_nulls(jsonb_build_object('tag', r.tag, 'rental', r.status, 'runningAt', r.running_at,
              'listedAs', l."upstreamStatus", 'watcherSays', p.upstream_status, 'lastAliveAt', p.last_alive_at,
              'goneAt', p.gone_at, 'heldSince', p.held_since)) as evidence
       from rentals r
       left join listed l on l."podId" = r.pod_id
       left join pods p on p.provider_code = r.provider_code and p.pod_id = r.pod_id
      where r.closed_at is null and r.provider_code = :code and r.status in ('provisioning', 'running')
        and (r.pod_id is not null or r.status = 'running')
        and coalesce(r.running_at, r.started_at) < clock_ms() - :graceMs * interval '1 millisecond'
        and (l."podId" is null or l.status in ('lost', 'ending'))`;
