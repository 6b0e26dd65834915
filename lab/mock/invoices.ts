import type { Invoice } from '../../adapters/postgres/invoices/invoice-reads.js';
import type { RentalWithHealth } from '../../adapters/postgres/rentals/rental-reads.js';
import type { InvoiceRow } from '../../adapters/postgres/rows/tables.js';
import { newId } from '../../adapters/ids.js';
import { dunning } from '../../domain/payments/dunning.js';
import { isDebt, isOwed, isPayable, type InvoiceReason } from '../../domain/payments/invoices.js';
import { paymentLimits } from '../../domain/payments/limits.js';
import type { Account } from './account.js';
import { credit } from './credit.js';
import { newProcessorId, paymentOf } from './processor-ids.js';
import type { World } from './world.js';

interface NewInvoice {
  readonly reason: InvoiceReason;
  readonly amountCents: number;
  readonly description: string;
  /** The rental that it is for. */
  readonly rental?: RentalWithHealth;
}

/**
 * Issues an open invoice with one line. At most one offer is open: a newer one voids it (decision 35, "Invoices and
 * reminders").
 */
export function issueInvoice(world: World, account: Account, invoice: NewInvoice): Invoice {
  const { reason, amountCents, rental } = invoice;
  if (!isDebt(invoice)) voidOffers(world, account, Infinity);
  const id = newId('inv');
  const at = world.now();
  const row: InvoiceRow = {
    id,
    user_id: account.user.id,
    wallet_id: account.wallet.id,
    status: 'open',
    reason,
    amount_cents: amountCents,
    currency: 'USD',
    rental_no: rental?.no ?? null,
    cause: `mock:${id}`,
    processor_invoice_id: newProcessorId('in'),
    hosted_invoice_url: `${world.url}/mock/invoices/${id}`,
    invoice_pdf_url: `${world.url}/mock/invoices/${id}/pdf`,
    receipt_url: null,
    created_at: at,
    finalized_at: at,
    paid_at: null,
    voided_at: null,
    due_at: new Date(at.getTime() + dunning.dueDays * paymentLimits.dayMs),
    void_requested_at: null,
    void_reason: null,
    write_off_requested_at: null,
    payment_id: null,
    attention_at: null,
    told_at: at,
    closed_at: null,
  };
  const line = lineOf(invoice);
  const issued: Invoice = { row, rentalId: line.rentalId, lineItems: [line] };
  account.invoices.push(issued);
  tell(world, account, row, 'invoice.opened', { dueAt: row.due_at?.toISOString() });
  return issued;
}

function lineOf({ description, amountCents, rental }: NewInvoice): Invoice['lineItems'][number] {
  return {
    ...{ id: newId('li'), description, amountCents, rentalId: rental?.id ?? null },
    ...{ periodStart: rental?.running_at ?? null, periodEnd: rental?.ended_at ?? null },
  };
}

/**
 * Pays an invoice; paying an offer credits the wallet (decision 35, "Invoices and reminders"). Does nothing unless it can
 * be paid.
 */
export function payInvoice(world: World, account: Account, { row }: Invoice): void {
  if (!isPayable(row)) return;
  const chargeId = newProcessorId('ch');
  row.status = 'paid';
  row.paid_at = world.now();
  row.closed_at = row.paid_at;
  row.payment_id = paymentOf(chargeId);
  row.receipt_url = `${world.url}/mock/receipts/${chargeId}`;
  tell(world, account, row, 'invoice.paid', { paidAt: row.paid_at.toISOString() });
  if (isDebt(row)) return;
  credit(world, account, {
    type: 'processor_topup',
    availableCents: row.amount_cents,
    processorChargeId: chargeId,
  });
}

/** Gives an invoice up; it can still be paid. */
export function giveUpInvoice(world: World, account: Account, { row }: Invoice): void {
  row.status = 'uncollectible';
  row.closed_at = world.now();
  tell(world, account, row, 'invoice.uncollectible', {});
}

/** Voids the offers that a top-up of at least their amount makes pointless. @param upToCents the top-up's amount */
export function voidOffers(world: World, account: Account, upToCents: number): void {
  for (const { row } of account.invoices) {
    if (row.status !== 'open' || isDebt(row) || row.amount_cents > upToCents) continue;
    voidInvoice(world, account, row);
  }
}

/** Voids all offers, also those that were given up: nobody owes them, and nobody is to pay them any more. */
export function voidAllOffers(world: World, account: Account): void {
  for (const { row } of account.invoices)
    if (isPayable(row) && !isDebt(row)) voidInvoice(world, account, row);
}

function voidInvoice(world: World, account: Account, row: InvoiceRow): void {
  row.status = 'void';
  row.voided_at = world.now();
  row.closed_at = row.voided_at;
  tell(world, account, row, 'invoice.voided', {});
}

function tell(
  world: World,
  { user }: Account,
  { id, amount_cents: amountCents, reason }: InvoiceRow,
  type: 'invoice.opened' | 'invoice.paid' | 'invoice.voided' | 'invoice.uncollectible',
  data: object,
): void {
  world.events.tell(user.id, type, id, { amountCents, reason, ...data });
}

/** Reads the debt (decision 31, "Balance and config"). */
export function readDebt(account: Account): { openInvoicesCents: number; openInvoiceCount: number } {
  const debts = account.invoices.filter(({ row }) => isOwed(row));
  return {
    openInvoicesCents: debts.reduce((sum, { row }) => sum + row.amount_cents, 0),
    openInvoiceCount: debts.length,
  };
}
