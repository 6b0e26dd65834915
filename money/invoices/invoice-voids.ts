import type { InvoiceId, UserId } from '../../domain/ids.js';
import { unsettledStatuses, type InvoiceStatus } from '../../domain/payments/invoices.js';
import type { Transaction } from '../../adapters/postgres/database.js';
import { tellInvoice } from './invoice-events.js';

/**
 * Asks for an invoice to be voided. An invoice that the processor does not know yet is void at once. Any other is void
 * when the processor says so, which its workflow asks for: it may turn out to be paid at this moment.
 * @returns whether anything was asked for; an invoice that is paid or void stays as it is
 */
export async function requestVoid(trx: Transaction, invoiceId: InvoiceId, reason: string): Promise<boolean> {
  const [voided] = await trx('invoices')
    .where({ id: invoiceId, status: 'draft', processor_invoice_id: null })
    .update({
      status: 'void',
      voided_at: trx.raw('clock_ms()'),
      void_requested_at: trx.raw('coalesce(void_requested_at, clock_ms())'),
      void_reason: trx.raw('coalesce(void_reason, ?)', [reason]),
      closed_at: trx.raw('clock_ms()'),
      // A call that makes the mirror may be under way now.
      attention_at: trx.raw('clock_ms()'),
    })
    .returning('*');
  if (voided) {
    await tellInvoice(trx, 'invoice.voided', voided);
    return true;
  }
  const requested = await trx('invoices')
    .where({ id: invoiceId })
    .whereIn('status', unsettledStatuses)
    .whereNull('void_requested_at')
    .update({
      void_requested_at: trx.raw('clock_ms()'),
      void_reason: reason,
      attention_at: trx.raw('clock_ms()'),
      closed_at: null,
    });
  return requested === 1;
}

/** What of a user's offers is voided, and why, as its user and operators read it. */
interface Wish {
  readonly reason: string;
  readonly statuses: readonly InvoiceStatus[];
  readonly atMostCents: number;
}

/** Offers that nobody has given up. */
const fresh = ['draft', 'open'] as const;

/** Voids the open offers that a top-up of at least their amount covers (decision 35, "Invoices and reminders"). */
export async function voidOffersCoveredBy(
  trx: Transaction,
  userId: UserId,
  cents: number,
): Promise<InvoiceId[]> {
  const reason = 'a later top-up covered it';
  return voidOffers(trx, userId, { reason, statuses: fresh, atMostCents: cents });
}

/** Voids older offers at a newer decline: at most one is open per user (decision 35, "Invoices and reminders"). */
export async function voidOlderOffers(trx: Transaction, userId: UserId): Promise<InvoiceId[]> {
  const reason = 'a newer automatic top-up failed';
  return voidOffers(trx, userId, { reason, statuses: fresh, atMostCents: Number.MAX_SAFE_INTEGER });
}

/** Voids all offers of an account that is being closed, also those that were given up: they could still be paid. */
export async function voidOffersAtClosing(trx: Transaction, userId: UserId): Promise<InvoiceId[]> {
  return voidOffers(trx, userId, {
    reason: 'its account is being closed',
    statuses: unsettledStatuses,
    atMostCents: Number.MAX_SAFE_INTEGER,
  });
}

async function voidOffers(
  trx: Transaction,
  userId: UserId,
  { reason, statuses, atMostCents }: Wish,
): Promise<InvoiceId[]> {
  const offers = await trx('invoices')
    .where({ user_id: userId, reason: 'topup_failed' })
    .whereIn('status', statuses)
    .whereNull('void_requested_at')
    .where('amount_cents', '<=', atMostCents)
    .orderBy('id')
    .select('id');
  for (const { id } of offers) await requestVoid(trx, id, reason);
  return offers.map(({ id }) => id);
}
