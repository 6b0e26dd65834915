import type { RentalWithHealth } from '../../adapters/postgres/rentals/rental-reads.js';
import { finalCents } from '../../domain/metering/metering.js';
import type { StopReason } from '../../domain/rentals/rental.js';
import type { Account } from './account.js';
import { writeAudit } from './audit-trail.js';
import { credit } from './credit.js';
import type { World } from './world.js';

/**
 * Charges a rental: its own hold first, then the available balance (decision 24, "Order of funds").
 * @returns the cents that could be charged
 */
export function charge(account: Account, row: RentalWithHealth, cents: number): number {
  const { wallet } = account;
  const fromHold = Math.min(cents, row.hold_cents);
  const fromAvailable = Math.min(cents - fromHold, wallet.availableCents);
  wallet.post({
    type: 'rental_charge',
    availableCents: -fromAvailable,
    reservedCents: -fromHold,
    rentalId: row.id,
  });
  row.hold_cents -= fromHold;
  row.charged_cents += fromHold + fromAvailable;
  return fromHold + fromAvailable;
}

/**
 * Ends a rental's billing: its final price is rounded half up, and the rest of the hold goes back (decision 25, "Usage
 * as running total").
 */
export function settle(
  world: World,
  account: Account,
  row: RentalWithHealth,
  endedAt: Date,
  reason: StopReason,
): void {
  const elapsedMs = row.running_at === null ? 0 : endedAt.getTime() - row.running_at.getTime();
  const final = finalCents(row.price_per_hour_cents, elapsedMs, row.max_spend_cents);
  const missing = Math.max(0, final - row.charged_cents);
  // The wallet lacks at most the cent that rounding adds.
  row.written_off_cents = missing - charge(account, row, missing);
  row.released_cents = row.hold_cents;
  account.wallet.hold(-row.hold_cents);
  row.hold_cents = 0;
  row.status = 'stopping';
  row.stop_reason = reason;
  close(world, account, row, endedAt);
  if (reason !== 'user') noteEnd(world, account, row, reason);
  const stoppedAt = endedAt.toISOString();
  world.events.tell(account.user.id, 'rental.stopping', row.id, { reason, stoppedAt });
  const cents = { chargedCents: row.charged_cents, refundedCents: row.released_cents };
  world.events.tell(account.user.id, 'rental.stopped', row.id, { reason, stoppedAt, ...cents });
  if (reason === 'balance_exhausted') {
    world.events.tell(account.user.id, 'wallet.exhausted', account.user.id, { rentalIds: [row.id] });
  }
  world.after(world.durations.endMs, () => {
    row.status = 'stopped';
    row.terminated_at = world.now();
    row.closed_at = row.terminated_at;
  });
}

/**
 * Turns the rest of the hold into a charge, and gives all charges back by one refund: net 0 (decision 27, "Refund of
 * failed machines").
 */
export function failWithFullRefund(
  world: World,
  account: Account,
  row: RentalWithHealth,
  error: string,
): void {
  charge(account, row, row.hold_cents);
  credit(world, account, { type: 'refund', availableCents: row.charged_cents, rentalId: row.id });
  row.refunded_cents = row.charged_cents;
  row.status = 'failed';
  row.error = error;
  close(world, account, row, world.now());
  noteEnd(world, account, row, row.running_at === null ? 'not_provisioned' : 'lost_at_start');
  world.events.tell(account.user.id, 'rental.failed', row.id, {
    code: row.running_at === null ? 'not_provisioned' : 'lost_at_start',
    message: error,
    refundedCents: row.refunded_cents,
  });
  row.terminated_at = row.settled_at;
  row.closed_at = row.settled_at;
}

/** Writes down what ended without its user's request. */
function noteEnd(world: World, account: Account, row: RentalWithHealth, reason: string): void {
  const failed = row.status === 'failed';
  const details = {
    reason,
    chargedCents: row.charged_cents - row.refunded_cents,
    refundedCents: failed ? row.refunded_cents : row.released_cents,
  };
  writeAudit(world, account, {
    kind: 'rental_ended',
    entity_id: row.id,
    details,
    api_key_id: null,
    client_address: null,
  });
}

function close(world: World, account: Account, row: RentalWithHealth, endedAt: Date): void {
  row.ended_at = endedAt;
  row.settled_at = world.now();
  row.settled_seq = account.wallet.entries.length;
}
