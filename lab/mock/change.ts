import { endingOf, limitsOf } from '../../adapters/postgres/rentals/changes.js';
import {
  asksForLimits,
  limitsAfter,
  refusalOfEnding,
  refusalOfSettled,
  type AskedChange,
} from '../../domain/rentals/changes.js';
import type { Account, MockRental } from './account.js';
import { meter } from './meter.js';
import type { World } from './world.js';

/**
 * Changes a rental as the service does (decision 105, "Changed rentals"): it is metered first, and what was used stays.
 * @throws Refusal rental_ending, already_stopped
 */
export function changeRental(world: World, account: Account, rental: MockRental, asked: AskedChange): void {
  const { row } = rental;
  if (asksForLimits(asked)) changeLimits(world, account, rental, asked);
  else if (asked.labels !== undefined && row.settled_at !== null) throw refusalOfSettled(endingOf(row));
  if (asked.name !== undefined) row.name = asked.name;
  if (asked.labels !== undefined) row.labels = asked.labels;
  // A limit that is reached by now ends it now.
  if (row.status === 'running') meter(world, account, rental);
}

function changeLimits(world: World, account: Account, rental: MockRental, asked: AskedChange): void {
  const { row } = rental;
  if (row.status === 'running') meter(world, account, rental);
  const now = world.now();
  const refusal = refusalOfEnding(endingOf(row), false, now);
  if (refusal) throw refusal;
  const facts = {
    ...limitsOf(row),
    ...{ pricePerHourCents: row.price_per_hour_cents, runningAt: row.running_at },
    chargedCents: row.charged_cents,
  };
  const limits = limitsAfter(facts, asked, now);
  row.max_spend_cents = limits.maxSpendCents;
  row.spend_limit_at = limits.spendLimitAt;
  row.auto_stop_at = limits.autoStopAt;
  row.auto_stop_after_ms = limits.autoStopAfterMs;
}
