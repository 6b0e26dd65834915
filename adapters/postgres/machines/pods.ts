import { rentalLimits } from '../../../domain/rentals/limits.js';
import { lastOfEach } from '../../providers/listed-pod.js';
import type { Pod } from '../../providers/provider.js';
import type { Database, Transaction } from '../database.js';
import type { PodRow, RentalRow } from '../rows/tables.js';

/** The upstream's last word on a pod, as the watcher wrote it. */
export interface KnownPod {
  readonly row: PodRow;
  /** The upstream said so itself, or its lists show the pod no more. */
  readonly lost: boolean;
  /** null when it never was alive. */
  readonly lastAliveAt: Date | null;
}

/** Reads what is known of a rental's pod; undefined before the first list showed it. */
export async function findPodOfRental(
  db: Database | Transaction,
  rental: Pick<RentalRow, 'provider_code' | 'pod_id'>,
): Promise<KnownPod | undefined> {
  if (rental.pod_id === null) return undefined;
  const row = await db('pods').where({ provider_code: rental.provider_code, pod_id: rental.pod_id }).first();
  if (!row) return undefined;
  return {
    row,
    lost: row.status === 'lost' || row.status === 'ending' || row.gone_at !== null,
    lastAliveAt: row.last_alive_at,
  };
}

/** One statement writes this many machines of a list: its parameter stays below a megabyte. */
const PODS_AT_ONCE = 2_000;

/** One list of our pods at an upstream. */
export interface PodList {
  readonly pods: readonly Pod[];
  /** When it was asked for, by the database's clock: what it shows alive was alive then, and may be lost by now. */
  readonly askedAt: Date;
}

/**
 * Writes down one list of our pods at an upstream, in one transaction that touches only what changed. A pod that two
 * lists in a row did not show is gone. When a pod stops being alive, the list before is the last that showed it alive
 * (decision 27, "Refund of failed machines"). A pod that the list names twice counts as it was named last.
 * @param heldIds pods that are alive although the list misses them
 * @param unseenIds pods that were held, of which nothing was seen since that began
 */
export async function recordPodList(
  db: Database,
  providerCode: string,
  { pods, askedAt }: PodList,
  heldIds: readonly string[] = [],
  unseenIds: readonly string[] = [],
): Promise<void> {
  const each = lastOfEach(pods);
  await db.transaction(async (trx) => {
    for (let from = 0; from < each.length; from += PODS_AT_ONCE) {
      await recordListed(trx, providerCode, each.slice(from, from + PODS_AT_ONCE));
    }
    const listedIds = each.map(({ podId }) => podId);
    await recordMissing(trx, providerCode, { listedIds, heldIds, unseenIds, askedAt });
  });
}

async function recordListed(trx: Transaction, providerCode: string, pods: readonly Pod[]): Promise<void> {
  await trx.raw(
    `with listed as materialized (
       select * from jsonb_to_recordset(:pods::jsonb) as x
         ("podId" text, tag text, status text, "upstreamStatus" text, host text, port int, username text,
          "pricePerHourCents" int, ports jsonb, hardware jsonb, "startedAt" timestamptz)
     ), before as materialized (
       select pods_listed_at from providers where code = :providerCode
     )
     insert into pods (provider_code, pod_id, tag, status, upstream_status, host, port, username,
                       price_per_hour_cents, ports, hardware, first_seen_at, active_at, started_at, first_started_at)
     select :providerCode, "podId", tag, status, "upstreamStatus", host, port, username, "pricePerHourCents", ports,
            hardware, clock_ms(),
            case status when 'active' then clock_ms() end, start.at, start.at
       from listed,
            -- A word about the time to come, or of a machine that does not run, tells no start.
            lateral (select case when status = 'active' and "startedAt" <= clock_ms() + interval '1 minute'
                                 then "startedAt" end as at) as start
     on conflict (provider_code, pod_id) do update set
       status = excluded.status, upstream_status = excluded.upstream_status, host = excluded.host,
       port = excluded.port, username = excluded.username, price_per_hour_cents = excluded.price_per_hour_cents, ports = excluded.ports,
       hardware = excluded.hardware,
       missing_lists = 0, gone_at = null, held_since = null,
       active_at = coalesce(pods.active_at, excluded.active_at),
       started_at = greatest(pods.started_at, excluded.started_at),
       first_started_at = coalesce(pods.first_started_at, excluded.started_at),
       last_alive_at = case when pods.status = 'active' and excluded.status <> 'active' and pods.missing_lists = 0
                            then greatest(pods.last_alive_at, (select pods_listed_at from before))
                            else pods.last_alive_at end
     where (pods.status, pods.upstream_status, pods.host, pods.port, pods.username, pods.missing_lists, pods.gone_at,
            pods.held_since, pods.price_per_hour_cents, pods.ports, pods.hardware)
           is distinct from (excluded.status, excluded.upstream_status, excluded.host, excluded.port,
                             excluded.username, 0, null, null, excluded.price_per_hour_cents, excluded.ports,
                             excluded.hardware)
        or excluded.started_at > coalesce(pods.started_at, '-infinity')`,
    { providerCode, pods: JSON.stringify(pods) },
  );
}

async function recordMissing(
  trx: Transaction,
  providerCode: string,
  {
    listedIds,
    heldIds,
    unseenIds,
    askedAt,
  }: {
    listedIds: readonly string[];
    heldIds: readonly string[];
    unseenIds: readonly string[];
    askedAt: Date;
  },
): Promise<void> {
  await trx.raw(
    `with before as materialized (
       select pods_listed_at from providers where code = :providerCode
     ), held as (
       update pods set held_since = clock_ms(), missing_lists = 0,
                       last_alive_at = greatest(last_alive_at, (select pods_listed_at from before))
        where provider_code = :providerCode and pod_id = any (:heldIds::text[]) and held_since is null
     ), missing as (
       update pods set
         missing_lists = missing_lists + 1,
         last_alive_at = case when status = 'active' and missing_lists = 0 and pod_id <> all (:unseenIds::text[])
                              then greatest(last_alive_at, (select pods_listed_at from before))
                              else last_alive_at end,
         gone_at = case when missing_lists >= 1 then clock_ms() end
       where provider_code = :providerCode and gone_at is null and pod_id <> all (:heldIds::text[])
          and not exists (select 1 from unnest(:listedIds::text[]) as l (id) where l.id = pods.pod_id)
     )
     update providers set pods_listed_at = :askedAt where code = :providerCode`,
    { providerCode, listedIds: [...listedIds], heldIds: [...heldIds], unseenIds: [...unseenIds], askedAt },
  );
}

/**
 * Tells whether something waits for an upstream's lists: a machine is being got, is in its first minute (decision 27,
 * "Refund of failed machines"), or is being ended, or an attempt is open.
 */
export async function isBusy(db: Database, providerCode: string): Promise<boolean> {
  const { rows } = await db.raw<{ rows: { busy: boolean }[] }>(
    `select exists (select 1 from rentals where closed_at is null and provider_code = :providerCode
                       and status <> 'running')
         or exists (select 1 from rentals where closed_at is null and provider_code = :providerCode
                       and running_at > (select clock_ms()) - :youngMs * interval '1 millisecond')
         or exists (select 1 from allocation_attempts where provider_code = :providerCode and state = 'open')
         or exists (select 1 from pods where provider_code = :providerCode and gone_at is null
                       and (missing_lists > 0 or status = 'ending')) as busy`,
    { providerCode, youngMs: rentalLimits.refundWindowMs },
  );
  return rows[0]?.busy ?? true;
}

/** The upstream's word on a pod that no list has shown yet. */
const NEVER_LISTED = 'not listed';

/**
 * Tells whether a list that was asked for after this instant shows a pod as if nobody had asked for its end, or no list
 * has told of it yet. One statement reads both: a list that comes in between would count without what it shows.
 */
export async function isShownAsBefore(
  db: Database,
  { provider_code, pod_id }: Pick<PodRow, 'provider_code' | 'pod_id'>,
  at: Date,
): Promise<boolean> {
  const { rowCount } = await db.raw<{ rowCount: number }>(
    `select from pods p join providers v on v.code = p.provider_code
      where p.provider_code = :code and p.pod_id = :podId and p.missing_lists = 0
        and (p.upstream_status = :neverListed or p.status <> 'ending' and v.pods_listed_at > :at)`,
    { code: provider_code, podId: pod_id, neverListed: NEVER_LISTED, at },
  );
  return rowCount > 0;
}

/**
 * Records a pod that is being ended before any list has shown it, so that lists without it count: it is gone after two,
 * as any other.
 */
export async function expectPod(
  db: Database,
  pod: { readonly providerCode: string; readonly podId: string; readonly tag: string },
): Promise<void> {
  await db('pods')
    .insert({
      provider_code: pod.providerCode,
      pod_id: pod.podId,
      tag: pod.tag,
      status: 'ending',
      upstream_status: NEVER_LISTED,
      first_seen_at: db.raw('clock_ms()'),
    })
    .onConflict(['provider_code', 'pod_id'])
    .ignore();
}

/**
 * Records that a pod which the newest list shows alive is alive until now: this service ends it now, so it was not lost
 * before.
 */
export async function recordSeenAlive(db: Database, providerCode: string, podId: string): Promise<void> {
  await db('pods')
    .where({ provider_code: providerCode, pod_id: podId, status: 'active', missing_lists: 0 })
    .whereNull('gone_at')
    .update({ last_alive_at: db.raw('greatest(last_alive_at, clock_ms())') });
}

/**
 * Records an operator's word that a pod is gone, whatever its upstream's list says. The time of its end is unknown: the
 * newest list that showed it alive is the last that is known of it.
 */
export async function recordPodGone(db: Database, providerCode: string, tag: string): Promise<void> {
  await db('pods')
    .where({ provider_code: providerCode, tag })
    .update({
      gone_at: db.raw('coalesce(gone_at, clock_ms())'),
      last_alive_at: db.raw(
        `case when status = 'active' and missing_lists = 0 and gone_at is null
              then greatest(last_alive_at, (select pods_listed_at from providers where code = provider_code))
              else last_alive_at end`,
      ),
    });
}

/**
 * Leaves an intent for each running rental whose pod the upstream no longer shows alive.
 * @returns how many new ones
 */
export async function recordLostPods(db: Database, providerCode: string): Promise<number> {
  const { rowCount } = await db.raw<{ rowCount: number }>(
    `insert into intents (kind, wallet_id, rental_no)
     select 'pod_lost', r.wallet_id, r.no
       from rentals r join pods p on p.provider_code = r.provider_code and p.pod_id = r.pod_id
      where r.closed_at is null and r.status = 'running' and r.provider_code = :providerCode
        and (p.status in ('lost', 'ending') or p.gone_at is not null)
     on conflict do nothing`,
    { providerCode },
  );
  return rowCount;
}
