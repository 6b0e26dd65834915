import { MINUTE } from '../../../domain/durations.js';
import type { RentalId, UserId } from '../../../domain/ids.js';
import type { RentalWarning } from '../../../domain/events/events.js';
import { machineLimits } from '../../../domain/machines/limits.js';
import type { SoftwarePort } from '../../../domain/rentals/software.js';
import type { PodStatus } from '../../providers/provider.js';
import { isOlderSql } from '../clock.js';
import type { Database } from '../database.js';
import { recordEvents } from '../events/outbox.js';
import type { PodRow } from '../rows/tables.js';

export interface MovedTo {
  readonly host: string;
  readonly port: number;
  readonly username: string;
}

/** A running machine that can be probed. */
export interface ReachablePod {
  readonly podId: string;
  readonly rentalId: RentalId;
  /** null: its daemon has not answered yet; then the lists show it elsewhere. */
  readonly host: string | null;
  readonly port: number | null;
  readonly fingerprint: string | null;
  /** Where the lists show it now, when that differs from the rental's address. */
  readonly movedTo: MovedTo | null;
}

const reachable = `case when p.host is not null and p.port is not null and (p.host, p.port) is distinct from (r.host, r.port)
                        then jsonb_build_object('host', p.host, 'port', p.port, 'username', coalesce(p.username, 'root')) end as "movedTo",
                   p.pod_id as "podId", r.id as "rentalId", r.host, r.port, r.host_key_fingerprint as fingerprint`;

/** A running machine that a list does not show. */
export interface MissingPod extends ReachablePod {
  /** Whether it was held when an earlier list missed it. */
  readonly isHeld: boolean;
  /** Whether a probe found it alive a moment ago while the lists missed it. */
  readonly isFresh: boolean;
  /** Where it was found ready without SSH: at a public port of its own software. null: elsewhere, or nowhere. */
  readonly readyAt: {
    readonly ports: readonly SoftwarePort[];
    readonly pod: Pick<PodRow, 'host' | 'port' | 'ports'>;
  } | null;
}

/**
 * Finds the running machines that a list does not show although the one before did, and counts all that run and all that
 * it does not show. One missing machine is news of that machine; many at once are news of the list. A machine that was
 * silent already is not probed again.
 */
export async function findMissingPods(
  db: Database,
  providerCode: string,
  listedIds: readonly string[],
): Promise<{ missing: MissingPod[]; vanished: number; running: number; accepted: boolean }> {
  const of = `from rentals r join pods p on p.provider_code = r.provider_code and p.pod_id = r.pod_id
             where r.closed_at is null and r.status = 'running' and r.provider_code = :providerCode
               and p.gone_at is null`;
  const bindings = { providerCode, listed: [...listedIds], freshMs: machineLimits.reachEveryMs / 2 };
  const isMissing = 'not exists (select 1 from unnest(:listed::text[]) as l (id) where l.id = p.pod_id)';
  const { rows: missing } = await db.raw<{ rows: MissingPod[] }>(
    `select ${reachable}, p.held_since is not null as "isHeld",
            p.held_since is not null and coalesce(p.probed_at between
              clock_ms() - :freshMs * interval '1 millisecond' and clock_ms(), false) as "isFresh",
            case when r.host is null and r.ready_by = 'port' then jsonb_build_object('ports', r.software->'ports',
              'pod', jsonb_build_object('host', p.host, 'port', p.port, 'ports', p.ports)) end as "readyAt"
       ${of} and p.status = 'active' and p.missing_lists = 0 and ${isMissing}`,
    bindings,
  );
  if (missing.length === 0) return { missing, vanished: 0, running: 0, accepted: false };
  const { rows } = await db.raw<{ rows: { vanished: number; running: number; accepted: boolean }[] }>(
    // What an earlier list missed is missing still: those that turned out dead say no less about the list.
    `select (select count(*) ${of} and ${isMissing}) as vanished, (select count(*) ${of}) as running,
            -- An end that is later than operators may set was noted by a clock that ran ahead: nobody accepted this list.
            exists (select 1 from providers where code = :providerCode and missing_accepted_until > clock_ms()
              and missing_accepted_until <= clock_ms() + :acceptedMs * interval '1 millisecond') as accepted`,
    { ...bindings, acceptedMs: machineLimits.missingAcceptedMaxMs },
  );
  const { vanished = 0, running = 0, accepted = false } = rows[0] ?? {};
  return { missing, vanished, running, accepted };
}

/** Lists running machines that have gone unprobed for the longest time. */
export async function listPodsToProbe(db: Database, providerCode: string): Promise<ReachablePod[]> {
  // Each status by itself, since the many active ones are read by an index of theirs.
  const shownAs = (status: PodStatus): string => `(select ${reachable}
       from rentals r join pods p on p.provider_code = r.provider_code and p.pod_id = r.pod_id
      where r.closed_at is null and r.status = 'running' and r.provider_code = :providerCode
        and p.status = '${status}' and p.gone_at is null and p.missing_lists = 0
        -- Own software runs before its daemon answers, if it ever does.
        and (r.host is not null or r.software is not null and p.host is not null and p.port is not null)
        and (p.probed_at is null or p.probed_at < clock_ms() - :everyMs * interval '1 millisecond')
      order by p.probed_at nulls first limit :atMost)`;
  const { rows } = await db.raw<{ rows: ReachablePod[] }>(
    // A machine that runs is pending while its host is cut off or unhealthy: it may run on, and its owner must know.
    `${shownAs('pending')} union all ${shownAs('active')} limit :atMost`,
    { providerCode, everyMs: machineLimits.reachEveryMs, atMost: machineLimits.probesAtOnce },
  );
  return rows;
}

export interface ProbedPod {
  readonly podId: string;
  readonly answered: boolean;
  readonly keyChanged: boolean;
}

/**
 * Writes down which daemons answered; a single silence means nothing (k of n). It tells the owners of machines that
 * have just become silent, or answer with another key than before.
 */
export async function recordProbes(
  db: Database,
  providerCode: string,
  probed: readonly ProbedPod[],
): Promise<void> {
  if (probed.length === 0) return;
  await db.transaction(async (trx) => {
    const { rows } = await trx.raw<{ rows: Warned[] }>(
      `with probed as materialized (
         select p.provider_code, p.pod_id, p.host_key_changed as was_changed, x.answered, x."keyChanged"
           from jsonb_to_recordset(:probed::jsonb) as x ("podId" text, answered boolean, "keyChanged" boolean)
           join pods p on p.provider_code = :providerCode and p.pod_id = x."podId"
          order by p.pod_id for no key update of p
       ), written as (
         update pods p set probed_at = clock_ms(),
                silent_probes = case when x.answered then 0 else p.silent_probes + 1 end,
                host_key_changed = x."keyChanged"
           from probed x where p.provider_code = x.provider_code and p.pod_id = x.pod_id
         returning p.provider_code, p.pod_id, p.silent_probes = :silentProbes as silent,
                   x."keyChanged" and not x.was_changed as changed
       )
       select r.id as "rentalId", r.user_id as "userId", w.silent, w.changed
         from written w
         join rentals r on r.provider_code = w.provider_code and r.pod_id = w.pod_id
                       and r.closed_at is null and r.status = 'running'
        where w.silent or w.changed
        order by r.no`,
      { providerCode, probed: JSON.stringify(probed), silentProbes: machineLimits.silentProbes },
    );
    await recordEvents(trx, 'rental.warned', rows.flatMap(warningsOf));
  });
}

interface Warned {
  readonly rentalId: RentalId;
  readonly userId: UserId;
  readonly silent: boolean;
  readonly changed: boolean;
}

function warningsOf({ rentalId, userId, silent, changed }: Warned) {
  const warnings: RentalWarning[] = [];
  if (silent) warnings.push('ssh_unreachable');
  if (changed) warnings.push('host_key_changed');
  return warnings.map((warning) => ({ userId, entityId: rentalId, data: { warning, at: null } }));
}

/** Lists pods that the lists miss and that count as alive until an operator decides, oldest first. */
export async function listHeldPods(
  db: Database,
): Promise<{ provider_code: string; pod_id: string; tag: string; held_since: Date }[]> {
  return db('pods')
    .whereNotNull('held_since')
    .whereNull('gone_at')
    .orderBy('held_since')
    .select('provider_code', 'pod_id', 'tag', 'held_since');
}

/**
 * Records the pods of live rentals that no list ever showed and nobody recorded, so that lists without them count:
 * after two such lists they are gone, and their rentals take the way of a crash (decision 22, "Machines of nobody").
 */
export async function expectPodsOfRentals(db: Database): Promise<number> {
  const { rowCount } = await db.raw<{ rowCount: number }>(
    `insert into pods (provider_code, pod_id, tag, status, upstream_status, first_seen_at)
     select r.provider_code, r.pod_id, r.tag, 'pending', 'not listed', clock_ms()
       from rentals r left join allocation_attempts a on a.tag = r.tag
      where r.closed_at is null and r.status in ('provisioning', 'running') and r.pod_id is not null
        -- A machine in the place of another one is younger than its rental.
        and ${isOlderSql('coalesce(r.running_at, a.changed_at, r.started_at)', MINUTE)}
        and not exists (select 1 from pods p where p.provider_code = r.provider_code and p.pod_id = r.pod_id)
     on conflict do nothing`,
  );
  return rowCount;
}

/** Records the host key that a running machine shows at its address, where none was seen when it answered first. */
export async function learnHostKey(
  db: Database,
  { rentalId, host, port }: Pick<ReachablePod, 'rentalId' | 'host' | 'port'>,
  fingerprint: string,
): Promise<void> {
  await db('rentals')
    .where({ id: rentalId, status: 'running', host, port })
    .whereNull('host_key_fingerprint')
    .update({ host_key_fingerprint: fingerprint });
}

/** Records the new address of a running machine, or its first one, with the key of its daemon there. */
export async function moveAddress(
  db: Database,
  rentalId: RentalId,
  to: MovedTo & { readonly fingerprint: string },
): Promise<void> {
  await db('rentals')
    .where({ id: rentalId, status: 'running' })
    .update({
      host: to.host,
      port: to.port,
      username: db.raw('coalesce(username, ?)', [to.username]),
      host_key_fingerprint: to.fingerprint,
    });
}
