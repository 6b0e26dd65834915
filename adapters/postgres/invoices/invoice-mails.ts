import { parseCause, type MailCause } from '../../../domain/causes.js';
import { dunning } from '../../../domain/payments/dunning.js';
import { formatUsd } from '../../../domain/money.js';
import type { Database, Transaction } from '../database.js';
import { insertMail } from '../upkeep/outbox.js';
import type { InvoiceRow } from '../rows/tables.js';

/**
 * Tells a user that an invoice is open, once. An offer after a failed auto-topup was announced by the mail that asks
 * for another card, unless the bank wants the payment approved: then this mail carries the page on which it is.
 */
export async function mailOpenedInvoice(trx: Transaction, invoice: InvoiceRow): Promise<void> {
  if (invoice.reason !== 'topup_failed') {
    return mail(
      trx,
      invoice,
      { kind: 'invoice_opened', invoiceId: invoice.id },
      {
        subject: `You have an invoice of ${formatUsd(invoice.amount_cents)}`,
        lines: [...(await whatFor(trx, invoice)), ...payLines(invoice)],
      },
    );
  }
  const topup = await findAttempt(trx, invoice);
  if (topup?.decline_code !== 'authentication_required') return;
  await mail(
    trx,
    invoice,
    { kind: 'auto_topup_approval', topupId: topup.id },
    {
      subject: 'Your bank wants you to approve an automatic top-up',
      lines: [
        `Your saved card was not charged with ${formatUsd(invoice.amount_cents)}: your bank wants you to approve it.`,
        'Automatic top-ups are off until you switch them on again in your billing settings.',
        'Save another card there, or approve and pay this one now:',
        ...payLines(invoice),
      ],
    },
  );
}

/** Reminds of a debt; each reminder once. @param reminderNo counted from 1 */
export async function mailReminder(
  db: Database | Transaction,
  invoice: InvoiceRow,
  reminderNo: number,
): Promise<void> {
  const isLast = reminderNo === dunning.reminderDays.length;
  await mail(
    db,
    invoice,
    { kind: 'invoice_reminder', invoiceId: invoice.id, reminderNo },
    {
      subject: `${isLast ? 'Last reminder' : 'Reminder'}: your invoice of ${formatUsd(invoice.amount_cents)} is unpaid`,
      lines: [
        ...(await whatFor(db, invoice)),
        ...payLines(invoice),
        ...(isLast ? ['', 'It is overdue: you can’t rent machines while it stands open.'] : []),
      ],
    },
  );
}

/** Confirms that an invoice was paid. */
export async function mailInvoiceReceipt(trx: Transaction, invoice: InvoiceRow): Promise<void> {
  await mail(
    trx,
    invoice,
    { kind: 'invoice_paid', invoiceId: invoice.id },
    {
      subject: `Your invoice of ${formatUsd(invoice.amount_cents)} is paid`,
      lines: [
        'Thank you.',
        '',
        `Invoice: ${invoice.id}`,
        ...(invoice.receipt_url === null ? [] : [`Receipt: ${invoice.receipt_url}`]),
      ],
    },
  );
}

async function mail(
  db: Database | Transaction,
  invoice: InvoiceRow,
  cause: MailCause,
  { subject, lines }: { readonly subject: string; readonly lines: readonly string[] },
): Promise<void> {
  const user = await db('users').where({ id: invoice.user_id }).first('email');
  if (!user) throw new Error(`no user ${invoice.user_id}`);
  await insertMail(db, {
    cause,
    recipient: user.email,
    subject,
    body: lines.join('\n'),
    wipeAfterSending: false,
  });
}

async function whatFor(db: Database | Transaction, invoice: InvoiceRow): Promise<string[]> {
  const lines = await db('invoice_line_items').where({ invoice_id: invoice.id }).orderBy('id');
  return lines.map(({ description, amount_cents: cents }) => `${formatUsd(cents)}: ${description}`);
}

function payLines(invoice: InvoiceRow): string[] {
  return [
    '',
    ...(invoice.due_at === null ? [] : [`Due: ${invoice.due_at.toISOString().slice(0, 10)}`]),
    `Pay here: ${invoice.hosted_invoice_url ?? ''}`,
  ];
}

/** The attempt of auto-topup that an offer is for. */
async function findAttempt(trx: Transaction, invoice: InvoiceRow) {
  const cause = parseCause(invoice.cause);
  return cause?.kind === 'topup_offer' ? trx('topups').where({ id: cause.topupId }).first() : undefined;
}
