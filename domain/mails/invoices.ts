import type { InvoiceId } from '../ids.js';
import { formatUsd } from '../money.js';
import { dunning } from '../payments/dunning.js';
import { messageOf, type Message } from './message.js';
import { button, fact, type Part, type Row } from './parts.js';

/** An invoice that can be paid. */
export interface OpenInvoice {
  readonly amountCents: number;
  readonly dueAt: Date | null;
  /** The processor's page. */
  readonly payUrl: string | null;
}

/** One position of an invoice. */
export interface InvoiceLine {
  readonly description: string;
  readonly amountCents: number;
}

/** A debt has become an invoice. */
export function invoiceOpenedMail(invoice: OpenInvoice, lines: readonly InvoiceLine[]): Message {
  return messageOf(`You have an invoice for ${formatUsd(invoice.amountCents)}`, [
    ...lines.map(lineOf),
    ...payLines(invoice),
    ...blockLines(invoice),
  ]);
}

/** The bank wants an automatic top-up approved: the user approves it by paying the invoice that offers it. */
export function autoTopupApprovalMail(offer: OpenInvoice): Message {
  return messageOf('Your bank wants you to approve an automatic top-up', [
    `We could not charge your saved card ${formatUsd(offer.amountCents)}: your bank wants you to approve the payment.`,
    'Automatic top-ups are off until you turn them back on in your billing settings.',
    'Save another card there, or approve and pay this top-up now:',
    ...payLines(offer),
  ]);
}

/** A debt is not paid yet. @param reminderNo counted from 1 */
export function invoiceReminderMail(
  invoice: OpenInvoice,
  lines: readonly InvoiceLine[],
  reminderNo: number,
): Message {
  const isLast = reminderNo === dunning.reminderDays.length;
  const isOverdue = (dunning.reminderDays[reminderNo - 1] ?? 0) >= dunning.dueDays;
  const amount = formatUsd(invoice.amountCents);
  return messageOf(`${isLast ? 'Final reminder' : 'Reminder'}: your invoice for ${amount} is unpaid`, [
    ...lines.map(lineOf),
    ...payLines(invoice),
    ...(isOverdue ? ['', 'It is overdue. You can’t rent machines until it is paid.'] : blockLines(invoice)),
  ]);
}

/** A debt was given up. */
export function invoiceGivenUpMail(
  { amountCents, payUrl }: OpenInvoice,
  lines: readonly InvoiceLine[],
): Message {
  return messageOf(`We’ve written off your invoice for ${formatUsd(amountCents)}`, [
    ...lines.map(lineOf),
    '',
    'You didn’t pay it, and we’ve stopped asking. It no longer keeps you from renting machines.',
    'You can still pay it:',
    ...payLines({ amountCents, dueAt: null, payUrl }),
  ]);
}

/** An invoice was paid. */
export function invoicePaidMail(invoice: {
  readonly invoiceId: InvoiceId;
  readonly amountCents: number;
  readonly receiptUrl: string | null;
}): Message {
  return messageOf(`Your invoice for ${formatUsd(invoice.amountCents)} is paid`, [
    'Thank you.',
    '',
    fact('Invoice', invoice.invoiceId),
    ...(invoice.receiptUrl === null ? [] : [button('Receipt', invoice.receiptUrl)]),
  ]);
}

function lineOf({ description, amountCents }: InvoiceLine): Row {
  return fact(formatUsd(amountCents), description);
}

function payLines({ dueAt, payUrl }: OpenInvoice): Part[] {
  return ['', ...(dueAt === null ? [] : [fact('Due', dayOf(dueAt))]), button('Pay here', payUrl ?? '')];
}

/** Says from when on a debt keeps its user from renting. */
function blockLines({ dueAt }: OpenInvoice): Part[] {
  return dueAt === null ? [] : ['', `From ${dayOf(dueAt)} on, you can’t rent machines until it is paid.`];
}

const dayOf = (at: Date): string => at.toISOString().slice(0, 10);
