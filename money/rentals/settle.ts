import { paymentLimits } from '../../domain/payments/limits.js';
import { accruedCents, finalCents } from '../../domain/metering/metering.js';
import type { Transaction } from '../../adapters/postgres/database.js';
import type { RentalRow } from '../../adapters/postgres/rows/tables.js';
import { insertOverageInvoice } from '../invoices/invoices.js';
import { post } from '../ledger/post.js';
import { noteEnd } from './end-notices.js';
import { tellFailed, tellStopped, tellStopping } from './rental-events.js';
import { acknowledgeEnd, type RentalWithStop } from './rentals.js';
import { moveHold, type LockedWallet } from '../ledger/wallets.js';
import { release } from '../spending/reserve.js';

/**
 * Settles a rental whose billing has ended. It charges or gives back the difference between the final price and what
 * was metered, and gives the rest of the hold back. What the money did not cover becomes overage (decision 25, "Usage
 * as running total", and decision 26, "End of the money"). It does nothing when the rental is already settled. The
 * wallet and the rental must be locked by this transaction.
 */
export async function settle(trx: Transaction, wallet: LockedWallet, rental: RentalRow): Promise<void> {
  if (rental.settled_at !== null) return;
  const endedAt = endWithinLimits(rental);
  const elapsedMs = rental.running_at === null ? 0 : endedAt.getTime() - rental.running_at.getTime();
  const final = finalCents(rental.price_per_hour_cents, elapsedMs, rental.max_spend_cents);
  const missing = Math.max(0, final - rental.charged_cents);
  const fromHold = Math.min(missing, rental.hold_cents);
  const fromAvailable = Math.min(missing - fromHold, wallet.availableCents);
  const charged = rental.charged_cents + fromHold + fromAvailable;
  await charge(trx, wallet, rental, 'settlement', fromHold, fromAvailable);
  await refund(
    trx,
    wallet,
    rental,
    Math.max(0, rental.charged_cents - final),
    'the time after it was last seen alive',
  );
  await moveHold(trx, wallet, -(rental.hold_cents - fromHold));

  // The user owes usage that accrued and that the money did not cover. They never owe the cent that only rounding half
  // up adds (decision 26, "End of the money").
  const accrued = Math.min(final, accruedCents(rental.price_per_hour_cents, elapsedMs));
  const owed = Math.max(0, accrued - charged);
  const overage = owed >= paymentLimits.minInvoiceCents ? owed : 0;
  if (overage > 0) await insertOverageInvoice(trx, wallet, rental, overage);
  const [settled] = await trx('rentals')
    .where({ no: rental.no })
    .update({
      ended_at: endedAt,
      charged_cents: charged,
      refunded_cents: Math.max(0, rental.charged_cents - final),
      hold_cents: 0,
      released_cents: rental.hold_cents - fromHold,
      overage_cents: overage,
      written_off_cents: Math.max(0, final - charged) - overage,
      settled_at: trx.raw('clock_ms()'),
      settled_seq: newestSeq(trx),
    })
    .returning('*');
  await acknowledgeEnd(trx, rental.no);
  if (!settled) return;
  await release(trx, settled);
  await tellStopped(trx, settled);
  await noteEnd(trx, settled);
}

/**
 * Ends a rental that never ran. A stop gives the hold back without an entry (decision 15, "Stopping a rental"). A
 * failure captures the hold and refunds it, so that the ledger shows it (decision 27, "Refund of failed machines").
 */
export async function endUnstarted(
  trx: Transaction,
  wallet: LockedWallet,
  rental: RentalWithStop,
  end: { kind: 'stopped' } | { kind: 'failed'; error: string },
): Promise<void> {
  if (rental.status !== 'provisioning') return;
  if (end.kind === 'failed') return failWithFullRefund(trx, wallet, rental, end.error);
  await moveHold(trx, wallet, -rental.hold_cents);
  const reason = rental.stop?.requested_by ?? 'operator';
  const [settled] = await trx('rentals')
    .where({ no: rental.no })
    .update({
      status: 'stopping',
      stop_reason: reason,
      ended_at: trx.raw('clock_ms()'),
      hold_cents: 0,
      released_cents: rental.hold_cents,
      settled_at: trx.raw('clock_ms()'),
      settled_seq: newestSeq(trx),
    })
    .returning('*');
  await acknowledgeEnd(trx, rental.no);
  if (!settled?.ended_at) return;
  await release(trx, settled);
  await tellStopping(trx, settled, { reason, at: settled.ended_at });
  await tellStopped(trx, settled);
  await noteEnd(trx, settled);
}

/**
 * Charges the rest of the hold, and gives all charges back in one refund: net 0 (decision 27, "Refund of failed
 * machines").
 */
export async function failWithFullRefund(
  trx: Transaction,
  wallet: LockedWallet,
  rental: RentalRow,
  error: string,
): Promise<void> {
  const charged = rental.charged_cents + rental.hold_cents;
  await charge(trx, wallet, rental, 'capture', rental.hold_cents, 0);
  await refund(trx, wallet, rental, charged, error);
  const [failed] = await trx('rentals')
    .where({ no: rental.no })
    .update({
      status: 'failed',
      error,
      charged_cents: charged,
      refunded_cents: charged,
      hold_cents: 0,
      stop_reason: rental.stop_reason,
      ended_at: rental.ended_at ?? trx.raw('clock_ms()'),
      settled_at: trx.raw('clock_ms()'),
      settled_seq: newestSeq(trx),
    })
    .returning('*');
  await acknowledgeEnd(trx, rental.no);
  if (!failed) return;
  await release(trx, failed);
  await tellFailed(trx, failed);
  await noteEnd(trx, failed);
}

async function charge(
  trx: Transaction,
  wallet: LockedWallet,
  rental: RentalRow,
  occasion: 'settlement' | 'capture',
  fromHold: number,
  fromAvailable: number,
): Promise<void> {
  if (fromHold + fromAvailable === 0) return;
  await post(trx, wallet, {
    type: 'rental_charge',
    availableCents: -fromAvailable,
    reservedCents: -fromHold,
    cause: { kind: occasion, rentalId: rental.id },
    rentalNo: rental.no,
  });
}

async function refund(
  trx: Transaction,
  wallet: LockedWallet,
  rental: RentalRow,
  cents: number,
  note: string,
): Promise<void> {
  if (cents === 0) return;
  await post(trx, wallet, {
    type: 'refund',
    availableCents: cents,
    cause: { kind: 'rental_refund', rentalId: rental.id },
    rentalNo: rental.no,
    note,
  });
}

/** Returns the end within the limits: nobody pays beyond a limit, whoever wrote the end. */
function endWithinLimits(rental: RentalRow): Date {
  if (rental.ended_at === null) throw new Error(`rental ${rental.id} has not ended`);
  const ends = [rental.ended_at, rental.auto_stop_at, rental.spend_limit_at].filter((at) => at !== null);
  return new Date(Math.min(...ends.map((at) => at.getTime())));
}

/** Selects the wallet's newest entry: no later one is the rental's. */
function newestSeq(trx: Transaction) {
  return trx.raw('(select seq from wallets where wallets.id = rentals.wallet_id)');
}
