import { reliabilityLimits, reliabilityOf, type Reliability } from '../../../domain/catalog/reliability.js';
import { DAY, HOUR } from '../../../domain/durations.js';
import type { Database } from '../database.js';

const { days, countAgainHours, hoursAtOnce } = reliabilityLimits;

/** The hours (UTC) that one statement counts: from the beginning of one to the beginning of another. */
export interface Hours {
  readonly from: Date;
  readonly to: Date;
}

/**
 * Lists the hours that must be counted: from some hours before the newest counted one up to the present one, 30 days at
 * most, in parts that one statement can do.
 */
export async function listHoursToCount(db: Database, now: Date): Promise<Hours[]> {
  const { rows } = await db.raw<{ rows: { newest: Date | null }[] }>(
    // What a clock that ran ahead has counted says nothing of the hours before it.
    'select max(hour) as newest from reliability_hours where hour <= ?',
    [now],
  );
  const end = hourOf(now) + HOUR;
  const oldest = end - HOUR - days * DAY;
  const newest = rows[0]?.newest?.getTime() ?? oldest;
  const hours: Hours[] = [];
  for (let from = Math.max(oldest, newest - countAgainHours * HOUR); from < end; from += hoursAtOnce * HOUR) {
    hours.push({ from: new Date(from), to: new Date(Math.min(end, from + hoursAtOnce * HOUR)) });
  }
  return hours;
}

function hourOf(at: Date): number {
  return Math.floor(at.getTime() / HOUR) * HOUR;
}

/**
 * Counts, set-wise, what happened at each upstream with the machines of each family in these hours. It may count an
 * hour any number of times. Each fact counts in the hour in which it became known, except for the time that machines
 * ran.
 * @param now running machines count until then
 */
export async function countHours(db: Database, { from, to }: Hours, now: Date): Promise<void> {
  await db.raw(counting, { from, to, now });
}

/** SQL of whole seconds between two instants, rounded up; never below 0. */
function seconds(until: string, since: string): string {
  return `greatest(0, ceil((epoch_ms(${until}) - epoch_ms(${since})) / 1000.0))::int`;
}

const counting = `with hours as (
     select hour from generate_series(:from::timestamptz, :to::timestamptz - interval '1 hour', '1 hour') hour
   ), came_up as (
     select r.provider_code, r.family, date_trunc('hour', r.running_at, 'UTC') as hour, count(*) as created,
            array_agg(${seconds('r.running_at', 'greatest(r.started_at, a.created_at)')}) as ready_seconds,
            array_agg(${seconds('coalesce(a.answered_at, r.running_at)', 'coalesce(a.created_at, r.started_at)')})
              as ssh_seconds
       from rentals r left join allocation_attempts a on a.tag = r.tag
      where r.running_at >= :from and r.running_at < :to
      group by 1, 2, 3
   ), undelivered as (
     -- Machines that were bought and never came up; a stop makes no such rental fail. What a renter's own software kept
     -- from coming up says nothing of the machine.
     select r.provider_code, r.family, date_trunc('hour', r.settled_at, 'UTC') as hour, count(*) as machines
       from rentals r
      where r.status = 'failed' and r.settled_at >= :from and r.settled_at < :to
        and r.running_at is null and r.pod_id is not null and r.software is null
      group by 1, 2, 3
     union all
     -- Purchases of which nothing came, or what came was given back.
     select a.provider_code, l.family, date_trunc('hour', a.given_up_at, 'UTC'), count(*)
       from allocation_attempts a join listings l on l.id = a.listing_id
      where a.failed_by = 'upstream' and a.given_up_at >= :from and a.given_up_at < :to
        and not exists (select from rental_requests q where q.id = a.rental_id and q.software is not null)
      group by 1, 2, 3
   ), lost as (
     select r.provider_code, r.family, date_trunc('hour', l.settled_at, 'UTC') as hour, count(*) as losses
       from lost_machines l join rentals r on r.no = l.rental_no
      where l.settled_at >= :from and l.settled_at < :to
        -- What a renter's machine says of itself is no fault of the upstream unless somebody else says so too.
        and not exists (select 1 from bad_machines f where f.rental_id = r.id and not f.confirmed)
      group by 1, 2, 3
   ), lives as (
     select provider_code, family, running_at, coalesce(ended_at, :now) as ended_at
       from rentals where closed_at is null and running_at < :to
     union all
     select provider_code, family, running_at, ended_at
       from rentals
      where closed_at is not null and provider_code = any (array(select code from providers))
        and ended_at > :from and running_at < :to
   ), ran as (
     select v.provider_code, v.family, h.hour,
            sum(epoch_ms(least(v.ended_at, h.hour + interval '1 hour'))
                - epoch_ms(greatest(v.running_at, h.hour)))::bigint as machine_ms
       from hours h join lives v on v.running_at < h.hour + interval '1 hour' and v.ended_at > h.hour
      group by 1, 2, 3
   ), keys as (
     select provider_code, family, hour from came_up
     union select provider_code, family, hour from undelivered
     union select provider_code, family, hour from lost
     union select provider_code, family, hour from ran
     -- What was counted before may be nothing now.
     union select provider_code, family, hour from reliability_hours where hour >= :from and hour < :to
   )
   insert into reliability_hours as t
     (provider_code, family, hour, created, not_created, ready_seconds, ssh_seconds, losses, machine_ms)
   select provider_code, family, hour, coalesce(c.created, 0),
          coalesce((select sum(u.machines) from undelivered u
                     where (u.provider_code, u.family, u.hour) = (k.provider_code, k.family, k.hour)), 0),
          coalesce(c.ready_seconds, '{}'), coalesce(c.ssh_seconds, '{}'), coalesce(l.losses, 0),
          coalesce(r.machine_ms, 0)
     from keys k
     left join came_up c using (provider_code, family, hour)
     left join lost l using (provider_code, family, hour)
     left join ran r using (provider_code, family, hour)
    order by provider_code, family, hour
   on conflict (provider_code, family, hour) do update set
     created = excluded.created, not_created = excluded.not_created, ready_seconds = excluded.ready_seconds,
     ssh_seconds = excluded.ssh_seconds, losses = excluded.losses, machine_ms = excluded.machine_ms
   where (t.created, t.not_created, t.ready_seconds, t.ssh_seconds, t.losses, t.machine_ms)
         is distinct from (excluded.created, excluded.not_created, excluded.ready_seconds, excluded.ssh_seconds,
                           excluded.losses, excluded.machine_ms)`;

/**
 * Sums the hours of the last 30 days and the present one, which the catalog tells. An upstream and family without any
 * hour is forgotten.
 * @returns for how many pairs of an upstream and a family something is known
 */
export async function sumHours(db: Database, now: Date): Promise<number> {
  const since = new Date(hourOf(now) - days * DAY);
  const spread = (column: string) =>
    `select h.provider_code, h.family, percentile_disc(array[0.5, 0.9]) within group (order by s) as p
       from hours h cross join unnest(h.${column}) s group by 1, 2`;
  return db.transaction(async (trx) => {
    await trx.raw(
      `delete from reliability t
        where not exists (select 1 from reliability_hours h
                           where h.provider_code = t.provider_code and h.family = t.family and h.hour >= :since)`,
      { since },
    );
    const { rowCount } = await trx.raw<{ rowCount: number }>(
      `with hours as materialized (
         select * from reliability_hours where hour >= :since
       ), sums as (
         select provider_code, family, sum(created) as created, sum(not_created) as not_created,
                sum(losses) as losses, sum(machine_ms) as machine_ms
           from hours group by 1, 2
       ), ready as (${spread('ready_seconds')}), ssh as (${spread('ssh_seconds')})
       insert into reliability
         (provider_code, family, created, not_created, ready_p50_seconds, ready_p90_seconds, ssh_p50_seconds,
          ssh_p90_seconds, losses, machine_ms)
       select provider_code, family, s.created, s.not_created, r.p[1], r.p[2], h.p[1], h.p[2], s.losses, s.machine_ms
         from sums s
         left join ready r using (provider_code, family)
         left join ssh h using (provider_code, family)
        order by provider_code, family
       on conflict (provider_code, family) do update set
         created = excluded.created, not_created = excluded.not_created,
         ready_p50_seconds = excluded.ready_p50_seconds, ready_p90_seconds = excluded.ready_p90_seconds,
         ssh_p50_seconds = excluded.ssh_p50_seconds, ssh_p90_seconds = excluded.ssh_p90_seconds,
         losses = excluded.losses, machine_ms = excluded.machine_ms, counted_at = clock_ms()`,
      { since },
    );
    return rowCount;
  });
}

/** The counts of all upstreams and families, by `<provider> <family>`. */
export type KnownReliability = ReadonlyMap<string, Reliability | null>;

/** Reads what is told of every upstream and family: a row for each pair. */
export async function readReliability(db: Database): Promise<KnownReliability> {
  const rows = await db('reliability').select();
  return new Map(
    rows.map((row) => [
      `${row.provider_code} ${row.family}`,
      reliabilityOf({
        created: row.created,
        notCreated: row.not_created,
        sshP50Seconds: row.ssh_p50_seconds,
        sshP90Seconds: row.ssh_p90_seconds,
        losses: row.losses,
        machineMs: row.machine_ms,
      }),
    ]),
  );
}
