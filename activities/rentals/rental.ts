import type { Database } from '../../adapters/postgres/database.js';
import type { RentalRow } from '../../adapters/postgres/rows/tables.js';
import type { RentalId } from '../../domain/ids.js';
import { atMost } from '../../domain/durations.js';
import { meteringLimits } from '../../domain/metering/limits.js';
import type { ToldEnd } from '../../domain/operations/lost-time.js';
import { advanceMetering, beginBilling, giveUpRental, settleEnded } from '../../money/rentals/lifecycle.js';
import { closeRental, findRental } from '../../money/rentals/rentals.js';
import type { ActivityDeps } from '../deps.js';
import { laterWhenBusy } from '../metering/busy-wallet.js';

/** The next thing to do for a rental, read from its row: the row is the state (design: Temporal 1). */
export type RentalPhase = 'missing' | 'find_pod' | 'await_pod' | 'running' | 'ended' | 'end_pod' | 'closed';

export interface RentalLook {
  readonly phase: RentalPhase;
  /** Shown to operators beside the workflow: the values that they filter by, and a sentence. */
  readonly facts: { status: string; userId: string; provider: string; pricePerHourCents: number } | null;
  readonly summary: string;
  /** What a restored database may have lost, kept by the history (decision 67, "Restored databases"). */
  readonly kept?: KeptOfRental;
}

export interface KeptOfRental {
  /** null while billing goes on. */
  readonly end: ToldEnd | null;
  /** ISO instant at which its limits end it; null without one. */
  readonly limitAt: string | null;
}

/** A round of the metering loop, and where the rental stands after it. */
export interface MeterRound {
  /** When the next round is due, in milliseconds from now; 0 when the rental runs no more. */
  readonly nextLookMs: number;
  readonly look: RentalLook;
}

/** Reads where a rental stands. */
export async function readLook(db: Database, rentalId: RentalId): Promise<RentalLook> {
  const rental = await findRental(db, rentalId);
  if (!rental) return { phase: 'missing', facts: null, summary: 'no such rental' };
  const facts = {
    status: rental.status,
    userId: rental.user_id,
    provider: rental.provider_code,
    pricePerHourCents: rental.price_per_hour_cents,
  };
  return { phase: phaseOf(rental), facts, summary: summaryOf(rental), kept: keptOf(rental) };
}

function keptOf(rental: RentalRow): KeptOfRental {
  const limits = [rental.auto_stop_at, rental.spend_limit_at].filter((at) => at !== null);
  const [first] = limits.sort((one, other) => one.getTime() - other.getTime());
  return { end: endOf(rental), limitAt: first?.toISOString() ?? null };
}

function endOf(rental: RentalRow): ToldEnd | null {
  const { ended_at: at, stop_reason: reason, settled_at: settledAt } = rental;
  if (at === null) return null;
  const cents = rental.charged_cents - rental.refunded_cents + rental.overage_cents;
  return { at: at.toISOString(), reason: reason ?? 'failed', cents: settledAt === null ? null : cents };
}

/**
 * The activities that read and move a rental's row. Each may run twice, and leaves alone what is done already. Those
 * that move money do it in money/rentals/lifecycle.ts, and come again later while somebody else holds the wallet. Each
 * step answers with a look that it takes after its commit, so that its workflow needs none of its own (decision 120,
 * "Steps within a task").
 */
export function createRentalActivities(deps: ActivityDeps) {
  const { db } = deps;
  return {
    /** Reads where a rental stands. */
    lookAtRental(rentalId: RentalId): Promise<RentalLook> {
      return readLook(db, rentalId);
    },

    /** Begins billing once the SSH daemon has answered, unless a stop came first. */
    async startMetering(rentalId: RentalId): Promise<RentalLook> {
      await laterWhenBusy(() => beginBilling(db, rentalId));
      return readLook(db, rentalId);
    },

    /** Gives up a rental that never ran: a stop frees its hold, a failure refunds it. */
    async giveUpProvisioning(rentalId: RentalId, error: string | null): Promise<RentalLook> {
      await laterWhenBusy(() => giveUpRental(db, rentalId, error));
      return readLook(db, rentalId);
    },

    /**
     * Does one round of the metering loop (second belt).
     * @param saidMs how long the next round may wait at most, in milliseconds; no longer than the product's own belt
     */
    async meterRental(rentalId: RentalId, saidMs: number): Promise<MeterRound> {
      const beltMs = atMost(saidMs, meteringLimits.beltMs);
      const nextLookMs = await laterWhenBusy(() => advanceMetering(db, rentalId, beltMs));
      return { nextLookMs, look: await readLook(db, rentalId) };
    },

    /**
     * Settles a rental whose billing has ended (decision 25, "Usage as running total"), if its machine was not lost
     * before.
     */
    async settleRental(rentalId: RentalId): Promise<RentalLook> {
      await laterWhenBusy(() => settleEnded(db, rentalId));
      return readLook(db, rentalId);
    },

    /** Closes a rental whose pod is gone: nothing more is owed to it. */
    async closeRental(rentalId: RentalId): Promise<RentalLook> {
      await closeRental(db, rentalId);
      return readLook(db, rentalId);
    },
  };
}

function phaseOf(rental: RentalRow): RentalPhase {
  if (rental.closed_at !== null) return 'closed';
  if (rental.settled_at !== null) return 'end_pod';
  if (rental.status === 'provisioning') return rental.pod_id === null ? 'find_pod' : 'await_pod';
  return rental.status === 'running' ? 'running' : 'ended';
}

function summaryOf(rental: RentalRow): string {
  const machine = `${rental.gpu_count} x ${rental.model} at ${rental.provider_code}, ${rental.region}`;
  const money = `${rental.charged_cents - rental.refunded_cents} cents charged of ${rental.price_per_hour_cents} an hour`;
  return `${rental.status}: ${machine}; ${money}${rental.error === null ? '' : `; ${rental.error}`}`;
}
