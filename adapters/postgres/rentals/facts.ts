import type { RentalFailure } from '../../../domain/events/events.js';
import type { EndingRental, RentalLimits } from '../../../domain/rentals/changes.js';
import type { SeenMachine } from '../../../domain/rentals/free-machines.js';
import { costOfSettled, type BilledRental, type Settlement } from '../../../domain/rentals/settlement.js';
import type { CountedRental } from '../../../domain/spending/pots.js';
import type { RentalRow } from '../rows/tables.js';

/** The limits of a rental's row. */
export function limitsOf(row: RentalRow): RentalLimits {
  return {
    maxSpendCents: row.max_spend_cents,
    spendLimitAt: row.spend_limit_at,
    autoStopAt: row.auto_stop_at,
    autoStopAfterMs: row.auto_stop_after_ms,
  };
}

/** The facts of a rental's row that decide whether it may still be changed. */
export function endingOf(row: RentalRow): EndingRental {
  return {
    status: row.status,
    settledAt: row.settled_at,
    chargedCents: row.charged_cents,
    refundedCents: row.refunded_cents,
    releasedCents: row.released_cents,
    stopReason: row.stop_reason,
    autoStopAt: row.auto_stop_at,
    spendLimitAt: row.spend_limit_at,
  };
}

/** The facts of a rental's row that decide what its end costs. */
export function billedOf(row: RentalRow): BilledRental {
  return {
    pricePerHourCents: row.price_per_hour_cents,
    maxSpendCents: row.max_spend_cents,
    runningAt: row.running_at,
    endedAt: row.ended_at,
    autoStopAt: row.auto_stop_at,
    spendLimitAt: row.spend_limit_at,
    settledAt: row.settled_at,
    chargedCents: row.charged_cents,
    holdCents: row.hold_cents,
  };
}

/** The facts of a rental's row that tell whether its machine may count as free. */
export function seenOf(row: RentalRow): SeenMachine {
  return {
    ...{ runningAt: row.running_at, endedAt: row.ended_at, settledAt: row.settled_at },
    ...{ hasFailed: row.status === 'failed', stopReason: row.stop_reason },
    hasOwnSoftware: row.software !== null,
  };
}

/** The columns that say how a rental was settled, but for the moment. */
export function settledColumns(settlement: Settlement) {
  return {
    hold_cents: 0,
    charged_cents: settlement.chargedCents,
    refunded_cents: settlement.refundedCents,
    released_cents: settlement.releasedCents,
    overage_cents: settlement.overageCents,
    written_off_cents: settlement.writtenOffCents,
  };
}

/** What a rental's use has cost by now: what its wallet paid, and what an invoice asks for. `sharesSql` says it in SQL. */
export function usedCentsOf(row: RentalRow): number {
  return row.charged_cents - row.refunded_cents + row.overage_cents;
}

/** The facts of a rental's row that decide what a month counts of it. */
export function countedOf(row: RentalRow): CountedRental {
  return {
    usedCents: usedCentsOf(row),
    maxSpendCents: row.max_spend_cents,
    pricePerHourCents: row.price_per_hour_cents,
    runningAt: row.running_at,
    endedAt: row.ended_at,
    isSettled: row.settled_at !== null,
  };
}

/** What a settled rental cost and gave back, as its events, its stop and the audit trail say it. */
export const costOf = (row: RentalRow): ReturnType<typeof costOfSettled> => costOfSettled(endingOf(row));

export function failureOf({ running_at }: RentalRow): RentalFailure {
  return running_at === null ? 'not_provisioned' : 'lost_at_start';
}
