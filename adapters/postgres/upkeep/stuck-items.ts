import { operationLimits } from '../../../domain/operations/limits.js';
import {
  longestPauseMs,
  nextTryMs,
  nextUnansweredTryMs,
  type Duty,
} from '../../../domain/operations/stuck.js';
import type { LastAnswers } from '../../peer-error.js';
import { storable } from '../../storable.js';
import { readClock } from '../clock.js';
import type { Database, Transaction } from '../database.js';
import type { StuckItemRow } from '../rows/tables.js';

export interface Failure {
  readonly duty: Duty;
  readonly item: string;
  readonly error: string;
  /** Another try soon is of no use: the item is set aside at once. */
  readonly isHopeless?: boolean;
  /**
   * Set where the failure says nothing of the item (decision 95, "Outages of a peer"): it counts only where the peer
   * has answered others.
   */
  readonly lastAnswers?: LastAnswers | undefined;
}

/** The result of a failure. */
export interface Stuck {
  readonly attempts: number;
  /** In milliseconds from now. */
  readonly nextTryMs: number;
  /** This failure set it aside; it was not set aside before. */
  readonly isNewlySetAside: boolean;
}

/**
 * Counts a failed try of an item, and returns when it may be tried again (decision 69, "Items that fail"). An early
 * try, by a new event or an operator, is written down and not counted.
 */
export async function noteFailure(db: Database, failure: Failure, random = Math.random()): Promise<Stuck> {
  const key = { duty: failure.duty, item: failure.item.slice(0, 300) };
  return db.transaction(async (trx) => {
    const known = await trx('stuck_items').where(key).forUpdate().first();
    const now = await readClock(trx);
    const told = { last_error: storable(failure.error).slice(0, 500), last_failed_at: now };
    if (known && isBeforeItsTime(known, now, failure)) {
      await trx('stuck_items').where(key).update(told);
      const waitMs = known.next_attempt_at.getTime() - now.getTime();
      return { attempts: known.attempts, nextTryMs: waitMs, isNewlySetAside: false };
    }
    const { attempts, setAsideAt, isCounted } = countedOf(known, now, failure);
    const waitMs =
      known && !isCounted && setAsideAt === null
        ? nextUnansweredTryMs(now.getTime() - known.first_failed_at.getTime(), random)
        : nextTryMs(attempts, setAsideAt !== null, random);
    const next_attempt_at = new Date(now.getTime() + waitMs);
    const row = { ...told, attempts, next_attempt_at, set_aside_at: setAsideAt };
    await trx('stuck_items')
      .insert({ ...key, first_failed_at: now, ...row })
      .onConflict(['duty', 'item'])
      .merge(row);
    return { attempts, nextTryMs: waitMs, isNewlySetAside: setAsideAt === now };
  });
}

function isBeforeItsTime(known: StuckItemRow, now: Date, { isHopeless }: Failure): boolean {
  const waitMs = known.next_attempt_at.getTime() - now.getTime();
  return waitMs > 0 && waitMs <= longestPauseMs && (known.set_aside_at !== null || isHopeless !== true);
}

function countedOf(
  known: StuckItemRow | undefined,
  now: Date,
  { isHopeless, lastAnswers }: Failure,
): { attempts: number; setAsideAt: Date | null; isCounted: boolean } {
  const isCounted = !known || lastAnswers === undefined || hasAnsweredOthers(known, now, lastAnswers);
  const attempts = (known?.attempts ?? 0) + (isCounted ? 1 : 0);
  const isOver = isHopeless === true || attempts >= operationLimits.triesUntilSetAside;
  return { attempts, setAsideAt: known?.set_aside_at ?? (isOver ? now : null), isCounted };
}

/** Tells whether the peer has answered since the item failed last: then the item is the likelier cause. */
function hasAnsweredOthers(known: StuckItemRow, now: Date, last: LastAnswers): boolean {
  const isAlone = now.getTime() - known.first_failed_at.getTime() > operationLimits.aloneAtPeerMs;
  return (isAlone ? last.anyCallMsAgo : last.thisCallMsAgo) < now.getTime() - known.last_failed_at.getTime();
}

/** Tells whether a try of an item has failed within this many milliseconds. */
export async function hasFailedWithin(db: Database, duty: Duty, item: string, ms: number): Promise<boolean> {
  const since = db.raw(`clock_ms() - ? * interval '1 millisecond'`, [ms]);
  const row = await db('stuck_items').where({ duty, item }).where('last_failed_at', '>', since).first('item');
  return row !== undefined;
}

/** Finds those of these items whose last try failed, by item. */
export async function findStuck(
  db: Database,
  duty: Duty,
  items: readonly string[],
): Promise<Map<string, { isWaiting: boolean }>> {
  if (items.length === 0) return new Map();
  const { rows } = await db.raw<{ rows: { item: string; isWaiting: boolean }[] }>(
    `select item, ${isAhead('next_attempt_at')} as "isWaiting" from stuck_items
      where duty = :duty and item = any (:items::text[])`,
    { duty, items: [...items] },
  );
  return new Map(rows.map(({ item, isWaiting }) => [item, { isWaiting }]));
}

/** Lists all items of a duty whose last try failed. */
export async function listItemsOf(db: Database, duty: Duty): Promise<string[]> {
  return db('stuck_items').where({ duty }).pluck('item');
}

/** Notes that an item succeeded. */
export async function clearStuck(db: Database, duty: Duty, item: string): Promise<void> {
  await db('stuck_items').where({ duty, item }).delete();
}

/**
 * SQL that holds for an item that waits for no later try. A loop lists its items by it, so that waiting items never
 * fill up the list.
 * @param item SQL of the item's name
 */
export function isNotWaiting(duty: Duty, item: string): string {
  return `not exists (select 1 from stuck_items s
    where s.duty = '${duty}' and s.item = ${item} and ${isAhead('s.next_attempt_at')})`;
}

/** A try that is further off than the longest pause was put off by a clock that was set back since: it says nothing. */
function isAhead(nextAttemptAt: string): string {
  const longest = `interval '${longestPauseMs} milliseconds'`;
  return `(${nextAttemptAt} > (select clock_ms()) and ${nextAttemptAt} <= (select clock_ms()) + ${longest})`;
}

/** Lists the last failures, items that were set aside first. */
export async function listStuck(
  db: Database,
  filter: { readonly onlySetAside: boolean },
  limit: number,
): Promise<StuckItemRow[]> {
  const query = db('stuck_items')
    // An item that is no longer tried, because its loop does not find it, is done by other means.
    .whereRaw(`next_attempt_at > (select clock_ms()) - interval '3 hours'`)
    .orderByRaw('set_aside_at nulls last, first_failed_at')
    .limit(limit);
  if (filter.onlySetAside) void query.whereNotNull('set_aside_at');
  return query;
}

/**
 * Lists the workflows that wait for items which are set aside, or were put back and have not failed since: a second try
 * to signal them finds them as well.
 */
export async function listWorkflowsOf(
  db: Database,
  { duty, item }: { readonly duty?: Duty | undefined; readonly item?: string | undefined },
): Promise<string[]> {
  const query = db('stuck_items')
    .whereIn('duty', ['workflow', 'step', 'refund'])
    .whereRaw('(set_aside_at is not null or attempts = 0)');
  if (duty !== undefined) void query.andWhere({ duty });
  if (item !== undefined) void query.andWhere({ item });
  // A step's item is its rental and its name; a refund's item is its order and its rental.
  const items = await query.orderBy('first_failed_at').pluck<string[]>('item');
  return [...new Set(items.map((one) => one.split(' ')[0] ?? ''))];
}

/**
 * Lets items be tried at once and from their first try on, as if they had never failed.
 * @param item all of the duty when left out
 * @returns how many there were
 */
export async function putBack(
  trx: Transaction,
  duty: string | undefined,
  item: string | undefined,
): Promise<number> {
  const query = trx('stuck_items').whereNotNull('set_aside_at');
  if (duty !== undefined) void query.andWhere({ duty });
  if (item !== undefined) void query.andWhere({ item });
  return query.update({ attempts: 0, set_aside_at: null, next_attempt_at: trx.raw('clock_ms()') });
}
