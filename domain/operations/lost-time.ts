import { elapsedMsAtCents, finalCents, longestMsAt } from '../metering/metering.js';
import type { StopReason } from '../rentals/rental.js';
import { rentalLimits } from '../rentals/limits.js';

/** How a rental's billing ended, as the steps of its workflow answer it. */
export interface ToldEnd {
  /** ISO instant. */
  readonly at: string;
  readonly reason: StopReason | 'failed';
  /** The bill, once it is settled: what the user was charged, and what they still owe. */
  readonly cents: number | null;
}

/** The instants that the history of a rental's runs has kept since the backup. */
export interface RunHistory {
  /** When the last run closed, having ended its rental; null while it runs. */
  readonly closedAt: Date | null;
  /** When its user's first stop arrived. */
  readonly stoppedAt: Date | null;
  /** The first event that is only possible after the end of billing. */
  readonly endProvenAt: Date | null;
  /** The newest word on the end; runs before release 0.3 kept none. */
  readonly end: ToldEnd | null;
  /** The instant at which its limits end it, by the newest step; undefined when no step told it. */
  readonly limitAt: Date | null | undefined;
}

/** What the restored database knows of a rental. */
export interface LastUse {
  readonly runningAt: Date | null;
  readonly pricePerHourCents: number;
  readonly maxSpendCents: number | null;
  readonly chargedCents: number;
  /** The instant at which its limits end it. */
  readonly limitAt: Date | null;
}

/** Whose word ended a rental; `limit`: a limit that was lowered in the lost time; `lost`: its machine was lost. */
export type EndedBy = 'user' | 'operator' | 'limit' | 'lost';

/** The end of a rental in the lost time, as reconciling writes it. */
export interface LostEnd {
  readonly at: Date;
  readonly by: EndedBy;
  /** The formula's bill at the end that the history shows. */
  readonly formulaCents: number;
  /** The bill that its user was shown; null when the history has kept none. */
  readonly toldCents: number | null;
  /** The bill that it gets: the lower one, as far as this database has not seen it in use for longer. */
  readonly billCents: number;
}

/**
 * Decides when a rental ended in the time that a restored database has lost (decision 67, "Restored databases"). The
 * history gives instants only; the bill is the formula's. The end is never later than its run's, and never earlier than
 * the last use that the database has seen. Where the bill that was shown is lower, the end moves until the formula
 * gives that one.
 * @returns null when the history shows no end: it goes on
 */
export function endInLostTime(run: RunHistory, use: LastUse): LostEnd | null {
  const shown = [run.stoppedAt, run.endProvenAt, run.end && new Date(run.end.at), run.closedAt];
  const instants = shown.filter((at) => at !== null).map((at) => at.getTime());
  if (instants.length === 0) return null;
  const by = endedBy(run);
  const toldCents = run.end?.cents ?? null;
  const seenMs = lastSeenMs(use);
  const endMs = Math.max(seenMs, Math.min(...instants));
  const formulaCents = billAt(use, endMs, by);
  const told = { by, formulaCents, toldCents };
  if (toldCents === null || toldCents >= formulaCents || use.runningAt === null) {
    return { at: new Date(endMs), ...told, billCents: formulaCents };
  }
  const paidMs = use.runningAt.getTime() + longestMsAt(use.pricePerHourCents, toldCents);
  const atMs = Math.max(seenMs, Math.min(endMs, paidMs));
  return { at: new Date(atMs), ...told, billCents: billAt(use, atMs, by) };
}

/** A limit that a history tells otherwise than the database: a change of the lost time. */
export interface LostLimit {
  readonly here: Date | null;
  readonly there: Date | null;
  /** The lower one counts; one that was raised is the operators' to decide. */
  readonly isLowered: boolean;
}

/** Compares the limits of a rental that goes on; null when they agree, or the history does not tell. */
export function limitInLostTime(run: RunHistory, use: LastUse): LostLimit | null {
  const { limitAt: there } = run;
  const { limitAt: here, runningAt } = use;
  // What had not begun here begins anew, with the limits of its own.
  if (runningAt === null || there === undefined || there?.getTime() === here?.getTime()) return null;
  return { here, there, isLowered: there !== null && (here === null || there < here) };
}

const enders: Readonly<Record<NonNullable<RunHistory['end']>['reason'], EndedBy>> = {
  user: 'user',
  idle: 'user',
  auto_stop: 'limit',
  spend_limit: 'limit',
  pod_lost: 'lost',
  failed: 'lost',
  balance_exhausted: 'operator',
  operator: 'operator',
};

function endedBy({ end, stoppedAt }: RunHistory): EndedBy {
  if (end === null) return stoppedAt === null ? 'operator' : 'user';
  return enders[end.reason];
}

/**
 * The last use that the database has seen: that of the last charged cent. Nothing charges while it is restored, whereas
 * a watcher may still write a list into it.
 */
function lastSeenMs({ runningAt, chargedCents, pricePerHourCents }: LastUse): number {
  return runningAt === null ? 0 : runningAt.getTime() + elapsedMsAtCents(pricePerHourCents, chargedCents);
}

/** The bill of an end, as settling makes it (money/rentals/settle.ts, money/rentals/lost.ts). */
function billAt(use: LastUse, endMs: number, by: EndedBy): number {
  const { runningAt, limitAt, pricePerHourCents, maxSpendCents } = use;
  if (runningAt === null) return 0;
  const elapsedMs = Math.min(endMs, limitAt?.getTime() ?? Infinity) - runningAt.getTime();
  if (by === 'lost' && elapsedMs <= rentalLimits.refundWindowMs) return 0;
  return finalCents(pricePerHourCents, elapsedMs, maxSpendCents);
}
