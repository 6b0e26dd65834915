import { HOUR, inMinutes, SECOND } from '../durations.js';
import { Refusal } from '../refusal.js';
import type { StopReason } from './rental.js';

/** The limits of machines that nobody is billed for. Durations are milliseconds, amounts cents. */
export interface FreeMachineLimits {
  /** What they may cost in an hour, whatever their user has paid. */
  readonly freeCents: number;
  /** The share of what was paid for machines in 30 days that they may cost in an hour, if that is more. */
  readonly paidShare: number;
  /** The share of its cost that a machine counts while it is coming up. */
  readonly comingUpShare: number;
  /** The shortest time that a machine costs us. */
  readonly minMs: number;
  /** From then on a machine that is still coming up is late, and its end is not its user's doing. */
  readonly slowBootMs: number;
  /** Accounts younger than this, of one address, have one bound; 0: each has its own. */
  readonly newAccountMs: number;
}

/**
 * A machine of the last hour that is coming up, or whose end counts: its user ended it, its own word alone did, or the
 * money for it was given back. Those that failed, were lost later, or were stopped by operators are none of these.
 */
export interface FreeMachine {
  readonly pricePerHourCents: number;
  readonly boughtAt: Date;
  /** When its billing began, or, with own software, its upstream ran it; null: it never ran, or not yet. */
  readonly runningAt: Date | null;
  /** null: it is coming up. */
  readonly endedAt: Date | null;
  /** When its upstream showed that it is gone; null: not yet. */
  readonly goneAt: Date | null;
  readonly settledAt: Date | null;
  /** What was charged for it and not given back. */
  readonly netCents: number;
}

/** A rental's row, as far as it tells whether its machine may count as free. */
export interface SeenMachine extends Pick<FreeMachine, 'runningAt' | 'endedAt' | 'settledAt'> {
  readonly hasFailed: boolean;
  /** null: it goes on, or it failed. */
  readonly stopReason: StopReason | null;
  /** Whether its renter brought the software, and so says what of it answers. */
  readonly hasOwnSoftware: boolean;
}

/**
 * Whether a machine may count as free. The service finds the same in SQL (adapters/postgres/rentals/free-machines.ts),
 * and a test compares both.
 * @returns false for one that was lost: that its own word did it is not seen here
 */
export function mayBeFree(seen: SeenMachine, at: Date, { minMs }: Pick<FreeMachineLimits, 'minMs'>): boolean {
  const { runningAt, endedAt, settledAt, stopReason } = seen;
  if (settledAt === null) return runningAt === null;
  if (settledAt.getTime() + HOUR <= at.getTime()) return false;
  if (seen.hasFailed) return runningAt !== null || seen.hasOwnSoftware;
  if (stopReason === 'pod_lost' || stopReason === 'operator') return false;
  // One that ran for longer was paid for.
  return runningAt === null || msOr(endedAt, at) < runningAt.getTime() + minMs;
}

/** The machines of all accounts that have one bound, and what they paid. */
export interface FreeMachines {
  readonly at: Date;
  readonly machines: readonly FreeMachine[];
  /** What was charged in 30 days for machines, less what was given back. */
  readonly paidCents: number;
}

/** What free machines of the last hour cost, what they may, in cents, and when another machine may be had. */
export interface TooManyFree {
  readonly costCents: number;
  readonly limitCents: number;
  readonly retryAfterSeconds: number;
}

/**
 * Refuses a machine while those that nobody was billed for cost too much.
 * @throws Refusal rate_limited
 */
export function refuseWhenTooManyFree(seen: FreeMachines, limits: FreeMachineLimits): void {
  const found = tooManyFree(seen, limits);
  if (!found) return;
  throw new Refusal(
    'rate_limited',
    `You stopped too many machines in the last hour before they cost anything, or too many are still starting. Try again in ${inMinutes(found.retryAfterSeconds * SECOND)}.`,
    { reason: 'too_many_free_machines', ...found },
  );
}

/** When a create is worth another try while the machines in its way are still coming up. */
const COMING_UP_S = 30;

/**
 * Decides whether an account must wait with its next machine, because those of the last hour that nobody was billed for
 * cost too much (decision 83, "Cost of one caller").
 * @returns undefined when it need not
 */
export function tooManyFree(
  { at, machines, paidCents }: FreeMachines,
  limits: FreeMachineLimits,
): TooManyFree | undefined {
  const limitCents = Math.max(limits.freeCents, paidCents * limits.paidShare);
  const costs = machines
    .map((machine) => ({ machine, cents: freeCents(machine, at, limits) }))
    .filter(({ cents }) => cents > 0);
  let left = costs.reduce((sum, { cents }) => sum + cents, 0);
  const costCents = left;
  if (costCents < limitCents) return undefined;
  const told = { costCents: Math.ceil(costCents), limitCents: Math.floor(limitCents) };
  // Each leaves the hour in turn, the first that ended first.
  const leaving = costs
    .flatMap(({ machine: { settledAt }, cents }) =>
      settledAt === null ? [] : [{ atMs: settledAt.getTime() + HOUR, cents }],
    )
    .sort((a, b) => a.atMs - b.atMs);
  for (const { atMs, cents } of leaving) {
    left -= cents;
    if (left >= limitCents) continue;
    return { ...told, retryAfterSeconds: Math.max(1, Math.ceil((atMs - at.getTime()) / SECOND)) };
  }
  return { ...told, retryAfterSeconds: COMING_UP_S };
}

/**
 * Returns what a machine cost us that nobody was billed for, in cents and parts of them. A machine that ran costs its
 * time since then; how long it took to come up, and to go, is its upstream's doing. One that never ran costs from its
 * purchase until it is gone.
 */
export function freeCents(machine: FreeMachine, at: Date, limits: FreeMachineLimits): number {
  const { pricePerHourCents, boughtAt, runningAt, endedAt, goneAt, netCents } = machine;
  const endMs = msOr(endedAt, at);
  if (runningAt === null && endMs - boughtAt.getTime() >= limits.slowBootMs) return 0;
  const costMs = runningAt === null ? msOr(goneAt, at) - boughtAt.getTime() : endMs - runningAt.getTime();
  const cents = Math.max(0, (pricePerHourCents * Math.max(limits.minMs, costMs)) / HOUR - netCents);
  return endedAt === null ? cents * limits.comingUpShare : cents;
}

function msOr(instant: Date | null, now: Date): number {
  return (instant ?? now).getTime();
}
