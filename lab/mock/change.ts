import { endingOf, limitsOf } from '../../adapters/postgres/rentals/facts.js';
import {
  asksForLimits,
  fieldsOf,
  limitsAfter,
  limitsTold,
  refusalOfEnding,
  refusalOfWords,
  type AskedChange,
} from '../../domain/rentals/changes.js';
import { wordsOf } from '../../domain/rentals/words.js';
import { refuseUnreserved } from '../../domain/spending/pots.js';
import type { Account, MockRental } from './account.js';
import { meter } from './meter.js';
import { potsOf } from './spending.js';
import { keptGuard } from './telemetry.js';
import type { World } from './world.js';

/** What is asked for, and the id of the asking. */
interface Change {
  readonly id: string;
  readonly asked: AskedChange;
}

/**
 * Changes a rental as the service does (decision 105, "Changed rentals"): it is metered first, and what was used stays.
 * @returns what its record tells
 * @throws Refusal rental_ending, already_stopped
 */
export function changeRental(world: World, account: Account, rental: MockRental, { id, asked }: Change) {
  const { row } = rental;
  const before = limitsOf(row);
  if (asksForLimits(asked)) changeLimits(world, account, rental, asked);
  const refusal = refusalOfWords(endingOf(row), asked, false, world.now());
  if (refusal) throw refusal;
  Object.assign(row, wordsOf(asked));
  if (asked.idleGuard !== undefined) row.idle_guard = keptGuard(asked.idleGuard, row.idle_guard);
  const told = { changed: fieldsOf(asked), ...limitsTold(before, limitsOf(row)) };
  world.events.tell(account.user.id, 'rental.changed', row.id, { changeId: id, ...told });
  // A limit that is reached by now ends it now.
  if (row.status === 'running') meter(world, account, row);
  return { rentalId: row.id, ...told };
}

function changeLimits(world: World, account: Account, rental: MockRental, asked: AskedChange): void {
  const { row } = rental;
  if (row.status === 'running') meter(world, account, row);
  const now = world.now();
  const refusal = refusalOfEnding(endingOf(row), false, now);
  if (refusal) throw refusal;
  const facts = {
    ...limitsOf(row),
    ...{ pricePerHourCents: row.price_per_hour_cents, runningAt: row.running_at },
    chargedCents: row.charged_cents,
    latestEnd: null,
  };
  const limits = limitsAfter(facts, asked, now);
  const pots = potsOf(world, account, row.api_key_id);
  const isTimeAlone = asked.maxSpendCents === undefined;
  refuseUnreserved(facts, { before: limitsOf(row), after: limits, isTimeAlone }, pots);
  row.max_spend_cents = limits.maxSpendCents;
  row.spend_limit_at = limits.spendLimitAt;
  row.auto_stop_at = limits.autoStopAt;
  row.auto_stop_after_ms = limits.autoStopAfterMs;
}
