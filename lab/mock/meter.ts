import type { MeterReading, RentalWithHealth } from '../../adapters/postgres/rentals/rental-reads.js';
import { billedOf } from '../../adapters/postgres/rentals/facts.js';
import { dueCents, endOfMetered, type MeteredRental } from '../../domain/metering/metered-end.js';
import { earliestOf } from '../../domain/rentals/settlement.js';
import type { Account, MockRental } from './account.js';
import { topUpWhenLow } from './auto-topup.js';
import { charge, settle } from './settle.js';
import { tellBudget } from './spending.js';
import { expirePages } from './topups.js';
import { judgeMinutes, tellLow, warnOfNearEnds } from './warnings.js';
import type { World } from './world.js';

/**
 * One tick: every running rental pays the cents that have come due (spec: Metering cadence; decision 24, "Order of
 * funds", decision 25, "Usage as running total", and decision 26, "End of the money").
 */
export function tick(world: World): void {
  for (const account of world.accounts.all()) {
    for (const rental of account.rentals.filter(({ row }) => row.status === 'running')) {
      rental.lastTickAt = world.now();
      meter(world, account, rental.row, judgeMinutes(world, account, rental));
      warnOfNearEnds(world, account, rental);
    }
    tellLow(world, account);
    topUpWhenLow(world, account);
    expirePages(world, account, world.now().getTime());
    tellBudget(world, account);
  }
}

/** Brings one rental up to now: charges it, or ends it. @param stop the wish that it ends now; null: nobody's */
export function meter(
  world: World,
  account: Account,
  row: RentalWithHealth,
  stop: MeteredRental['stop'] = null,
): void {
  const now = world.now();
  const read = (): MeteredRental => ({ ...billedOf(row), runningAt: row.running_at ?? now, stop });
  const due = dueCents(read(), now);
  const unpaid = due - charge(account, row, due);
  // A machine whose money has ended waits for the auto-topup, which takes no time here.
  const hasWaited = unpaid > 0 && topUpWhenLow(world, account);
  const unpaidCents = hasWaited ? unpaid - charge(account, row, unpaid) : unpaid;
  const end = endOfMetered(read(), { unpaidCents, hasWaited }, now);
  if (end) settle(world, account, row, end);
}

/** Reads a rental's meter now (decision 17, "The meter on read"). */
export function readMeter(world: World, { row, lastTickAt }: MockRental): MeterReading {
  const until = earliestOf(world.now(), row.auto_stop_at, row.spend_limit_at, row.ended_at);
  const elapsedMs = row.running_at === null ? 0 : Math.max(0, until.getTime() - row.running_at.getTime());
  return { rental: row, elapsedMs, lastTickAt };
}
