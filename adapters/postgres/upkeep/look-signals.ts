import { operationLimits } from '../../../domain/operations/limits.js';
import type { Database } from '../database.js';

/** A workflow that may be told to look at its row. */
export interface LookTarget {
  readonly workflow: string;
  readonly workflowId: string;
}

export interface Claim {
  /** True: signal it now. False: it has an unhandled signal and will look, or it was told often enough today. */
  readonly mayTell: boolean;
  /** It was told before and has not looked for longer than a look may wait. */
  readonly isRepeated: boolean;
  /** How often it was told today (UTC), this time included. */
  readonly today: number;
}

/**
 * Asks whether a workflow may be signalled, and notes that it is (decision 69, "Items that fail"). It allows one signal
 * until the workflow has looked, so that a run that can't look does not use up the signals that the server takes.
 *
 * It is told now where the two instants of its row are the same, so one that is refused in the millisecond of the signal
 * before it is wanted a millisecond later.
 * @param hasNoRun no run of it is open, so that none can have an unhandled signal
 */
export async function claimLook(
  db: Database,
  { workflow, workflowId }: LookTarget,
  hasNoRun = false,
): Promise<Claim> {
  const { rows } = await db.raw<{ rows: Claim[] }>(
    `with clock as materialized (select clock_ms() as at),
     before as (select told_at from look_signals where workflow_id = :workflowId)
     insert into look_signals as l (workflow_id, workflow_type, wanted_at, told_at, counted_on, signals)
     select :workflowId, :workflow, at, at, (at at time zone 'UTC')::date, 1 from clock
     on conflict (workflow_id) do update set
       workflow_type = excluded.workflow_type,
       wanted_at = case when l.told_at = excluded.told_at and not ${mayTell}
                        then excluded.wanted_at + interval '1 millisecond' else excluded.wanted_at end,
       told_at = case when ${mayTell} then excluded.told_at else l.told_at end,
       counted_on = excluded.counted_on,
       signals = case when l.counted_on = excluded.counted_on then l.signals else 0 end
                 + case when ${mayTell} then 1 else 0 end
     returning told_at = wanted_at as "mayTell", signals as today,
       told_at = wanted_at and exists (select 1 from before where told_at is not null) and not :hasNoRun as "isRepeated"`,
    {
      workflowId,
      workflow,
      hasNoRun,
      unhandledMs: operationLimits.lookUnhandledMs,
      perDay: operationLimits.looksPerDay,
    },
  );
  const claim = rows[0];
  if (!claim) throw new Error(`asking for a signal of ${workflowId} answered no row`);
  return claim;
}

// A signal that lies as far ahead was told by a clock that was set back since: it says nothing.
const mayTell = `((l.told_at is null or :hasNoRun
    or l.told_at < excluded.told_at - :unhandledMs * interval '1 millisecond'
    or l.told_at > excluded.told_at + :unhandledMs * interval '1 millisecond')
  and (l.counted_on <> excluded.counted_on or l.signals < :perDay))`;

/** Notes that the signal was not delivered. */
export async function releaseLook(db: Database, workflowId: string): Promise<void> {
  await db('look_signals').where({ workflow_id: workflowId }).update({ told_at: null });
}

/**
 * Notes that a workflow has looked at its row: its earlier signals are handled.
 * @param lookedAt when the look began, by the database's clock
 * @returns whether somebody wanted it to look again meanwhile and did not signal it, because it had a signal
 */
export async function acknowledgeLook(db: Database, workflowId: string, lookedAt: Date): Promise<boolean> {
  const { rows } = await db.raw<{ rows: { again: boolean }[] }>(
    `update look_signals set told_at = null
      where workflow_id = :workflowId and (told_at < :lookedAt or told_at > clock_ms())
     returning wanted_at >= :lookedAt as again`,
    { workflowId, lookedAt },
  );
  return rows[0]?.again ?? false;
}

/** Lists workflows that have a signal and have not looked for longer than a look may wait, the oldest signal first. */
export async function listUnhandledLooks(db: Database, limit: number): Promise<string[]> {
  return db('look_signals')
    .whereRaw(`told_at < (select clock_ms()) - ? * interval '1 millisecond'`, [
      operationLimits.lookUnhandledMs,
    ])
    .orderBy('told_at')
    .limit(limit)
    .pluck('workflow_id');
}

/**
 * SQL that holds for a workflow that may be told: it has no unhandled signal, and did not fail lately.
 * @param workflowId SQL of its id
 */
export function hasNoFreshSignal(workflowId: string): string {
  const unhandled = `interval '${operationLimits.lookUnhandledMs} milliseconds'`;
  return `not exists (select 1 from look_signals l where l.workflow_id = ${workflowId}
    and l.told_at > (select clock_ms()) - ${unhandled} and l.told_at <= (select clock_ms()) + ${unhandled})`;
}
