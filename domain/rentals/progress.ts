import type { Spread } from '../catalog/reliability.js';
import type { RentalStatus } from './rental.js';

/**
 * The way of a machine until it can be used (decision 106, "Progress and reliability").
 * - queued: no upstream is being asked: the purchase waits for its turn there, or the machine that was asked for was given
 *   up and the next one is looked for.
 * - buying: an upstream was asked for a machine and has not confirmed it.
 * - booting: the machine is the rental's (the event `rental.machine_found`).
 * - installing: the upstream shows it active; its system is being set up until SSH answers.
 * - checking: SSH has answered (the event `rental.ssh_answered`), and billing is about to begin.
 * - ready: it runs (the event `rental.running`).
 */
export const rentalPhases = ['queued', 'buying', 'booting', 'installing', 'checking', 'ready'] as const;
export type RentalPhase = (typeof rentalPhases)[number];

/** The newest purchase for a rental. */
export interface PurchaseFacts {
  /** Counts from 1 within the rental. */
  readonly attempt: number;
  readonly state: 'open' | 'adopted' | 'condemned' | 'failed' | 'gone';
  readonly createdAt: Date;
  /** When it came into its state. */
  readonly changedAt: Date;
  readonly givenUpAt: Date | null;
  readonly answeredAt: Date | null;
  /** While it waits for its turn: when that is expected. Of one that was out of turn: when it would have come. */
  readonly launchAt: Date | null;
}

export interface ProgressFacts {
  readonly status: RentalStatus;
  readonly isStopAsked: boolean;
  readonly startedAt: Date;
  readonly runningAt: Date | null;
  /** null when there is none, or when it does not wait any more. */
  readonly purchase: PurchaseFacts | null;
  /** When a list first showed its machine active; undefined: not yet. */
  readonly activeAt: Date | undefined;
  /** How long such machines take; null when too few are known. */
  readonly readiness: Spread | null;
  readonly now: Date;
}

export interface Progress {
  readonly phase: RentalPhase | null;
  readonly phaseSince: Date | null;
  /**
   * Which machine is waited for: the number of the purchase. While it stays the same, phases only go forward. Null once
   * it is ready.
   */
  readonly attempt: number | null;
  /** null when nobody can say, or there is nothing to wait for. */
  readonly expectedReadyAt: Date | null;
}

const none: Progress = { phase: null, phaseSince: null, attempt: null, expectedReadyAt: null };

/** Returns how far a rental is. One that ends, was asked to end, or is over has no phase. */
export function progressOf(facts: ProgressFacts): Progress {
  const { status, startedAt, runningAt, purchase } = facts;
  if (facts.isStopAsked) return none;
  if (status === 'running') {
    return { ...none, phase: 'ready', phaseSince: runningAt };
  }
  if (status !== 'provisioning') return none;
  const { phase, since, attempt } = waitingPhase(facts);
  const launchAt = purchase?.launchAt ?? null;
  const begunAt = purchase === null ? startedAt : latest(startedAt, launchAt ?? purchase.createdAt);
  const isKnown = phase !== 'queued' || launchAt !== null;
  return {
    phase,
    phaseSince: latest(startedAt, since),
    attempt,
    expectedReadyAt: isKnown ? expectedReadyAt(begunAt, facts.readiness, facts.now) : null,
  };
}

function waitingPhase({ startedAt, purchase, activeAt }: ProgressFacts): {
  phase: RentalPhase;
  since: Date;
  attempt: number;
} {
  if (purchase === null) return { phase: 'queued', since: startedAt, attempt: 1 };
  const { attempt, state, createdAt, changedAt, givenUpAt, answeredAt, launchAt } = purchase;
  if (state === 'open' && launchAt !== null) return { phase: 'queued', since: createdAt, attempt };
  if (state === 'open') return { phase: 'buying', since: createdAt, attempt };
  // The next machine is what the rental waits for now.
  if (state !== 'adopted') return { phase: 'queued', since: givenUpAt ?? changedAt, attempt: attempt + 1 };
  if (answeredAt !== null) return { phase: 'checking', since: latest(changedAt, answeredAt), attempt };
  if (activeAt !== undefined) return { phase: 'installing', since: latest(changedAt, activeAt), attempt };
  return { phase: 'booting', since: changedAt, attempt };
}

/**
 * Half of such machines are ready by the first instant; when that has passed, nine of ten by the second. When both
 * have passed, nobody knows.
 */
function expectedReadyAt(begunAt: Date, readiness: Spread | null, now: Date): Date | null {
  if (readiness === null) return null;
  const instants = [readiness.p50, readiness.p90].map(
    (seconds) => new Date(begunAt.getTime() + seconds * 1_000),
  );
  return instants.find((at) => at > now) ?? null;
}

function latest(one: Date, other: Date): Date {
  return one > other ? one : other;
}
