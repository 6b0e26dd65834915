import {
  refundOfFailed,
  settlementOf,
  type Funding,
  type Settlement,
} from '../../domain/rentals/settlement.js';
import type { Transaction } from '../../adapters/postgres/database.js';
import { billedOf, settledColumns } from '../../adapters/postgres/rentals/facts.js';
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
  const settlement = settlementOf(billedOf(rental), wallet.availableCents);
  const { endedAt, overageCents } = settlement;
  await charge(trx, wallet, rental, { occasion: 'settlement', ...settlement.funding });
  const isLost = rental.stop_reason === 'pod_lost';
  const note = isLost ? 'the time after it was last seen alive' : 'the time after its end';
  await refund(trx, wallet, rental, { cents: settlement.refundedCents, note });
  await moveHold(trx, wallet, -settlement.releasedCents);
  if (overageCents > 0) {
    await insertOverageInvoice(trx, wallet, { ...rental, ended_at: endedAt }, overageCents);
  }
  const settled = await writeSettled(trx, rental, settlement, { ended_at: endedAt });
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
  const settlement = refundOfFailed(billedOf(rental));
  await charge(trx, wallet, rental, { occasion: 'capture', ...settlement.funding });
  await refund(trx, wallet, rental, { cents: settlement.refundedCents, note: error });
  const failed = await writeSettled(trx, rental, settlement, {
    status: 'failed',
    error,
    stop_reason: rental.stop_reason,
    ended_at: rental.ended_at ?? trx.raw('clock_ms()'),
  });
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
  { occasion, fromHoldCents, fromAvailableCents }: Funding & { occasion: 'settlement' | 'capture' },
): Promise<void> {
  if (fromHoldCents + fromAvailableCents === 0) return;
  await post(trx, wallet, {
    type: 'rental_charge',
    availableCents: -fromAvailableCents,
    reservedCents: -fromHoldCents,
    cause: { kind: occasion, rentalId: rental.id },
    rentalNo: rental.no,
  });
}

async function refund(
  trx: Transaction,
  wallet: LockedWallet,
  rental: RentalRow,
  { cents, note }: { readonly cents: number; readonly note: string },
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

/** Writes how a rental was settled. @param end what else its end changes */
async function writeSettled(
  trx: Transaction,
  { no }: RentalRow,
  settlement: Settlement,
  end: object,
): Promise<RentalRow | undefined> {
  const [settled] = await trx('rentals')
    .where({ no })
    .update({
      ...settledColumns(settlement),
      ...end,
      settled_at: trx.raw('clock_ms()'),
      settled_seq: newestSeq(trx),
    })
    .returning('*');
  return settled;
}

/** Selects the wallet's newest entry: no later one is the rental's. */
function newestSeq(trx: Transaction) {
  return trx.raw('(select seq from wallets where wallets.id = rentals.wallet_id)');
}
