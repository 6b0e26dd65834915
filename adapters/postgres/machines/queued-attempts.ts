import type { Database } from '../database.js';
import type { AllocationAttemptRow } from '../rows/tables.js';
import { rentalLimits } from '../../../domain/rentals/limits.js';

/**
 * The purchases `q` that wait for their turn, but for those that waited too long, and those that a crash left without a
 * rental: an opening has its rental within its time.
 */
const waiting = `q.state = 'open' and q.launch_at is not null
  and q.created_at > clock_ms() - ${rentalLimits.queueMs} * interval '1 millisecond'
  and (q.created_at > clock_ms() - ${rentalLimits.openBudgetMs} * interval '1 millisecond'
       or exists (select 1 from rentals r where r.id = q.rental_id and r.status = 'provisioning'))`;

/**
 * Counts the purchases that wait for their turn at an upstream (decision 158, "Machines in turn").
 * @param before counts those alone that came before this one
 */
export async function countQueued(
  db: Database,
  providerCode: string,
  before: Pick<AllocationAttemptRow, 'id'> | null = null,
): Promise<number> {
  const { rows } = await db.raw<{ rows: { count: number }[] }>(
    `select count(*)::int as count from allocation_attempts q
      where q.provider_code = :providerCode and ${waiting} and (:before::bigint is null or q.id < :before::bigint)`,
    { providerCode, before: before?.id ?? null },
  );
  return rows[0]?.count ?? 0;
}

/**
 * Notes that the upstream is about to be asked for a purchase that waits: from now on it may have bought a machine. A turn
 * that is later than any waits was noted by a clock that ran ahead (decision 195, "Instants ahead").
 * @returns false when it was asked for before, does not wait any more, or its upstream refuses to be asked yet
 */
export async function beginQueued(db: Database, id: number): Promise<boolean> {
  const begun = await db('allocation_attempts')
    .where({ id, state: 'open', asked_at: null })
    .whereNotNull('launch_at')
    .whereRaw(
      `(not_before is null or not_before <= clock_ms()
        or not_before > clock_ms() + ${rentalLimits.queueMs} * interval '1 millisecond')`,
    )
    .update({ asked_at: db.raw('clock_ms()') });
  return begun === 1;
}

/** Puts a purchase back to its place, for as long as any waits: the upstream took another's, and nothing was bought. */
export async function requeue(db: Database, id: number, waitMs: number): Promise<void> {
  const forMs = Math.min(Math.ceil(waitMs), rentalLimits.queueMs);
  const then = db.raw(`clock_ms() + ?::int * interval '1 millisecond'`, [forMs]);
  await db('allocation_attempts')
    .where({ id, state: 'open', pod_id: null })
    .update({ asked_at: null, launch_at: then, not_before: then });
}

/**
 * Gives up a purchase that was out of turn: its upstream was not asked for it. The row goes on saying so, by a turn that
 * would have come.
 */
export async function endOutOfTurn(db: Database, id: number, waitMs: number, error: string): Promise<void> {
  await db('allocation_attempts')
    .where({ id, state: 'open' })
    .update({
      ...{ state: 'failed', failed_by: 'us', error: error.slice(0, 500) },
      ...{ changed_at: db.raw('clock_ms()'), given_up_at: db.raw('clock_ms()') },
      launch_at: db.raw(`clock_ms() + ?::int * interval '1 millisecond'`, [Math.ceil(waitMs)]),
    });
}

/** Tells whether the upstream was asked for a purchase, or may have been. */
export function wasAsked({
  launch_at: launchAt,
  asked_at: askedAt,
}: Pick<AllocationAttemptRow, 'launch_at' | 'asked_at'>): boolean {
  return launchAt === null || askedAt !== null;
}

/** Ends the wait of a purchase that was asked for: it is as old as the question, and as unknown as any other. */
export async function endWait(db: Database, id: number): Promise<void> {
  await db('allocation_attempts')
    .where({ id })
    .whereNotNull('asked_at')
    .update({ created_at: db.ref('asked_at'), launch_at: null, asked_at: null });
}
