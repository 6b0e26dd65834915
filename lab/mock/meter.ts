import type { MeterReading, RentalWithHealth } from '../../adapters/postgres/rentals/rental-reads.js';
import { accruedCents, elapsedMsAtCents } from '../../domain/metering/metering.js';
import { earliestOf } from '../../domain/rentals/settlement.js';
import type { Account, MockRental } from './account.js';
import { topUpWhenLow } from './auto-topup.js';
import { charge, settle } from './settle.js';
import { tellBudget } from './spending.js';
import type { World } from './world.js';

/**
 * One tick: every running rental pays the cents that have come due (spec: Metering cadence; decision 24, "Order of
 * funds", decision 25, "Usage as running total", and decision 26, "End of the money").
 */
export function tick(world: World): void {
  for (const account of world.accounts.all()) {
    for (const rental of account.rentals) if (rental.row.status === 'running') meter(world, account, rental);
    topUpWhenLow(world, account);
    tellBudget(world, account);
  }
}

/** Brings one rental up to now: charges it, or ends it. */
export function meter(world: World, account: Account, rental: MockRental): void {
  const { row } = rental;
  const now = world.now();
  const until = earliestOf(now, row.auto_stop_at, row.spend_limit_at);
  const dueCents = dueAt(row, until);
  rental.lastTickAt = now;
  // A machine whose money would end waits for the auto-topup, which takes no time here.
  if (dueCents > row.hold_cents + account.wallet.availableCents) topUpWhenLow(world, account);
  if (charge(account, row, dueCents) < dueCents) {
    settle(world, account, row, { at: moneyEndedAt(row), reason: 'balance_exhausted' });
  } else if (isReached(row.auto_stop_at, until)) {
    settle(world, account, row, { at: until, reason: 'auto_stop' });
  } else if (isReached(row.spend_limit_at, until)) {
    settle(world, account, row, { at: until, reason: 'spend_limit' });
  }
}

function isReached(limit: Date | null, until: Date): boolean {
  return limit !== null && limit <= until;
}

function dueAt(row: RentalWithHealth, until: Date): number {
  return Math.max(0, accruedCents(row.price_per_hour_cents, runMs(row, until)) - row.charged_cents);
}

/** The first instant at which the usage reached the payable cents. */
function moneyEndedAt(row: RentalWithHealth): Date {
  const elapsedMs = elapsedMsAtCents(row.price_per_hour_cents, row.charged_cents);
  return new Date((row.running_at?.getTime() ?? 0) + elapsedMs);
}

/** Reads a rental's meter now (decision 17, "The meter on read"). */
export function readMeter(world: World, { row, lastTickAt }: MockRental): MeterReading {
  const until = earliestOf(world.now(), row.auto_stop_at, row.spend_limit_at, row.ended_at);
  return { rental: row, elapsedMs: runMs(row, until), lastTickAt };
}

function runMs(row: RentalWithHealth, until: Date): number {
  return row.running_at === null ? 0 : Math.max(0, until.getTime() - row.running_at.getTime());
}
