import type { KeptAliveBy } from '../../../domain/events/events.js';
import type { RentalId, UserId } from '../../../domain/ids.js';
import type { MinuteOfUse, TelemetryTold } from '../../../domain/machines/telemetry.js';
import { Refusal } from '../../../domain/refusal.js';
import { refusalOfEnding } from '../../../domain/rentals/changes.js';
import {
  guardSetAnew,
  isIdle,
  judgeIdle,
  type GuardState,
  type GuardVerdict,
  type IdleGuard,
} from '../../../domain/rentals/idle-guard.js';
import { readClock } from '../clock.js';
import type { Database, Transaction } from '../database.js';
import { recordEvents } from '../events/outbox.js';
import { noteForUser } from '../notices/user-notices.js';
import type { RentalRow } from '../rows/tables.js';
import { endingOf } from './facts.js';

/** Sets a rental's guard, or takes it away with all that is known of it. */
export async function writeIdleGuard(
  trx: Transaction,
  rentalNo: number,
  guard: IdleGuard | null,
): Promise<void> {
  if (guard === null) {
    await trx('idle_guards').where({ rental_no: rentalNo }).delete();
    return;
  }
  const set = { ...guardSetAnew(guard), ignores: [...guard.ignores] };
  await trx('idle_guards')
    .insert({ rental_no: rentalNo, ...set })
    .onConflict('rental_no')
    .merge(set);
}

/** Finds the guard that a rental has; undefined where it has none. */
export async function findIdleGuard(db: Database, rentalNo: number): Promise<IdleGuard | undefined> {
  return db('idle_guards').where({ rental_no: rentalNo }).first('minutes', 'ignores');
}

/**
 * Tells whether the use of a rental's next machine has to be told: that was asked for, or it is guarded by now. The rental
 * says so from then on.
 */
export async function mustTellUse(
  db: Database,
  { no, telemetry }: Pick<RentalRow, 'no' | 'telemetry'>,
): Promise<boolean> {
  if (telemetry) return true;
  const guarded = db('idle_guards').where({ rental_no: no }).select('rental_no');
  return (await db('rentals').whereIn('no', guarded).update({ telemetry: true })) > 0;
}

interface Guarded extends GuardState, IdleGuard {
  readonly no: number;
  readonly id: RentalId;
  readonly userId: UserId;
  readonly name: string | null;
  readonly gpuCount: number;
  readonly model: string;
  readonly podId: string;
  readonly keepAliveUntilMs: number | null;
}

/**
 * Judges the guarded machines of an upstream by a minute of each: it warns of those that stop soon, and asks for the end
 * of those that are idle for long enough, as their users would (decision 15, "Stopping a rental"). The next tick ends
 * them: at the instant of a limit that was reached before.
 * @param nowMs by the database's clock
 */
export async function judgeGuards(
  db: Database,
  { providerCode, told }: { readonly providerCode: string; readonly told: TelemetryTold },
  minutes: readonly MinuteOfUse[],
  nowMs: number,
): Promise<void> {
  const byPod = new Map(minutes.map((minute) => [minute.podId, minute]));
  await db.transaction(async (trx) => {
    const guarded = await lockGuarded(trx, providerCode, [...byPod.keys()]);
    const verdicts = guarded.flatMap((machine) => {
      const minute = byPod.get(machine.podId);
      if (minute === undefined) return [];
      const judged = { ...minute, isIdle: isIdle(minute, told, machine) };
      return [{ machine, verdict: judgeIdle(machine, machine, judged, nowMs) }];
    });
    if (verdicts.length === 0) return;
    await writeStates(trx, verdicts);
    const to = (act: GuardVerdict['act']) => verdicts.filter(({ verdict }) => verdict.act === act);
    await stop(trx, to('stop'));
    await warn(trx, to('warn'));
  });
}

/** Whoever keeps one alive meanwhile waits, or is waited for. */
async function lockGuarded(
  trx: Transaction,
  providerCode: string,
  podIds: readonly string[],
): Promise<Guarded[]> {
  const { rows } = await trx.raw<{ rows: Guarded[] }>(
    `select r.no, r.id, r.user_id as "userId", r.name, r.gpu_count as "gpuCount", r.model, r.pod_id as "podId",
            g.minutes, g.ignores, epoch_ms(g.idle_since) as "idleSinceMs", epoch_ms(g.seen_at) as "seenMs",
            epoch_ms(g.stops_at) as "stopsAtMs", epoch_ms(g.keep_alive_until) as "keepAliveUntilMs"
       from rentals r join idle_guards g on g.rental_no = r.no
      where r.closed_at is null and r.status = 'running' and r.provider_code = :providerCode
        and r.pod_id = any (:podIds::text[])
        and not exists (select 1 from stop_requests s where s.rental_no = r.no)
      order by r.no for update of g`,
    { providerCode, podIds: [...podIds] },
  );
  return rows;
}

interface Judged {
  readonly machine: Guarded;
  readonly verdict: GuardVerdict;
}

async function writeStates(trx: Transaction, verdicts: readonly Judged[]): Promise<void> {
  const states = verdicts.map(({ machine: { no }, verdict }) => ({ no, ...verdict }));
  await trx.raw(
    `update idle_guards g set idle_since = from_epoch_ms(x."idleSinceMs"), seen_at = from_epoch_ms(x."seenMs"),
            stops_at = from_epoch_ms(x."stopsAtMs")
       from jsonb_to_recordset(:states::jsonb) as x (no bigint, "idleSinceMs" bigint, "seenMs" bigint, "stopsAtMs" bigint)
      where g.rental_no = x.no`,
    { states: JSON.stringify(states) },
  );
}

/** One that was settled meanwhile needs no end any more. */
async function stop(trx: Transaction, stopped: readonly Judged[]): Promise<void> {
  await trx.raw(
    `insert into stop_requests (rental_no, requested_by)
     select no, 'idle' from rentals where no = any (?::bigint[]) and settled_at is null on conflict do nothing`,
    [stopped.map(({ machine }) => machine.no)],
  );
}

async function warn(trx: Transaction, warned: readonly Judged[]): Promise<void> {
  const told = warned.map(({ machine, verdict }) => ({ machine, at: new Date(verdict.stopsAtMs ?? 0) }));
  await recordEvents(
    trx,
    'rental.warned',
    told.map(({ machine: { userId, id }, at }) => ({
      ...{ userId, entityId: id },
      data: { warning: 'idle_stop_near' as const, at: at.toISOString() },
    })),
  );
  for (const { machine, at } of told) {
    const { userId, id: rentalId, name, gpuCount, model, minutes } = machine;
    await noteForUser(trx, {
      ...{ userId, kind: 'rental_idle_near' },
      cause: { kind: 'idle_warned', rentalId, at },
      facts: { rentalId, name, gpuCount, model, minutes, stopsAt: at.toISOString() },
    });
  }
}

/**
 * Makes sure that a rental has a guard, and is not ending.
 * @throws Refusal no_idle_guard, rental_ending, already_stopped
 */
export async function requireGuard(db: Database | Transaction, rentalNo: number): Promise<void> {
  const rental = await db('rentals').where({ no: rentalNo }).first();
  const stop = await db('stop_requests').where({ rental_no: rentalNo }).first('rental_no');
  const refusal = rental && refusalOfEnding(endingOf(rental), stop !== undefined, await readClock(db));
  if (refusal) throw refusal;
  if (await db('idle_guards').where({ rental_no: rentalNo }).first('rental_no')) return;
  throw new Refusal(
    'no_idle_guard',
    'This rental has no idle guard, so it doesn’t stop for being idle. Set stopWhenIdleMinutes first if you want one.',
  );
}

/**
 * Keeps a guarded machine alive until an instant, or as long as was asked for before.
 * @throws Refusal as requireGuard
 */
export async function keepAlive(db: Database, { no }: Pick<RentalRow, 'no'>, until: Date): Promise<void> {
  await db.transaction(async (trx) => {
    await trx('idle_guards').where({ rental_no: no }).forUpdate().first('rental_no');
    await requireGuard(trx, no);
    await trx.raw('select keep_rental_alive(:no, :until, :by)', {
      no,
      until,
      by: 'renter' satisfies KeptAliveBy,
    });
  });
}
