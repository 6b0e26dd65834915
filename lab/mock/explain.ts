import {
  explainInvoice,
  explainPayment,
  explainRental,
  priceRental,
} from '../../adapters/postgres/explain/explained-rows.js';
import type { LedgerEntry } from '../../adapters/postgres/ledger/ledger-reads.js';
import type { RentalWithHealth } from '../../adapters/postgres/rentals/rental-reads.js';
import { deriveCharge, deriveRefund } from '../../domain/ledger/charge-derivation.js';
import type { Explanation } from '../../domain/ledger/explanation.js';
import { whyOf } from '../../domain/ledger/why.js';
import type { Account } from './account.js';
import { paymentOf } from './processor-ids.js';
import type { MockEntry } from './wallet.js';

/** Tells why an entry of the account is there; undefined when the account has no such entry. */
export function explainEntry(account: Account, id: string): Omit<Explanation, 'evidence'> | undefined {
  const entry = account.wallet.entries.find((one) => one.id === id);
  if (!entry) return undefined;
  const row = account.rentals.find((rental) => rental.row.id === entry.rentalId)?.row;
  const facts = {
    entry: {
      id: entry.id,
      type: entry.type,
      amountCents: entry.amountCents,
      balanceBeforeCents: entry.balanceAfterCents - entry.amountCents,
      balanceAfterCents: entry.balanceAfterCents,
      createdAt: entry.createdAt,
      rentalId: entry.rentalId,
      processorChargeId: entry.processorChargeId,
      note: null,
    },
    ...(row ? derive(account, row, entry) : { charge: null, rentalRefund: null }),
    rental: row ? explainRental(row) : null,
    ...documentsOf(account, entry),
    // The mock knows no refunds at the processor, and no operators.
    reversal: null,
    byHand: null,
  };
  return { ...facts, why: whyOf(facts) };
}

function derive(
  { wallet }: Account,
  row: RentalWithHealth,
  entry: MockEntry,
): Pick<Explanation, 'charge' | 'rentalRefund'> {
  const before = wallet.entries.filter(
    ({ seq, rentalId, type }) => seq < entry.seq && rentalId === row.id && type === 'rental_charge',
  );
  const chargedBeforeCents = -before.reduce((sum, { amountCents }) => sum + amountCents, 0);
  // Here a stop ends the rental in the same moment.
  const priced = priceRental(row, null);
  if (entry.type === 'refund') {
    const failed = row.status === 'failed';
    return { charge: null, rentalRefund: deriveRefund({ ...priced, failed }, chargedBeforeCents) };
  }
  const posted = {
    occasion: entry.occasion ?? 'tick',
    amountCents: -entry.amountCents,
    at: entry.createdAt,
    chargedBeforeCents,
    previousAt: before.at(-1)?.createdAt ?? null,
  };
  return { charge: deriveCharge(priced, posted), rentalRefund: null };
}

function documentsOf(
  { topups, invoices }: Account,
  { processorChargeId }: LedgerEntry,
): Pick<Explanation, 'payment' | 'invoice'> {
  if (processorChargeId === null) return { payment: null, invoice: null };
  const paymentId = paymentOf(processorChargeId);
  const topup = topups.find(({ payment_id }) => payment_id === paymentId);
  const invoice = invoices.find(({ row }) => row.payment_id === paymentId);
  return {
    payment: explainPayment(paymentId, topup),
    invoice: invoice ? explainInvoice(invoice.row) : null,
  };
}
