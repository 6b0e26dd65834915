import type { MailCause } from '../../domain/causes.js';
import { formatUsd } from '../../domain/money.js';
import type { ReversalShare } from '../../domain/payments/reversal.js';
import type { Transaction } from '../../adapters/postgres/database.js';
import { insertMail } from '../../adapters/postgres/upkeep/outbox.js';
import type { RefundOrDisputeRow } from '../../adapters/postgres/rows/tables.js';

/** Tells a user what a refund or a dispute took. */
export async function mailTaken(
  trx: Transaction,
  row: RefundOrDisputeRow,
  cause: MailCause,
  { debitedCents, invoicedCents }: ReversalShare,
): Promise<void> {
  const what = row.kind === 'refund' ? 'was refunded to you' : 'is disputed with your bank';
  await mail(trx, row, cause, {
    subject: `Your payment ${row.kind === 'refund' ? 'was refunded' : 'is disputed'}`,
    lines: [
      `${formatUsd(row.amount_cents)} of your payment ${row.payment_id} ${what}.`,
      ...(debitedCents > 0 ? [`${formatUsd(debitedCents)} was taken from your wallet for it.`] : []),
      ...(invoicedCents > 0
        ? [`${formatUsd(invoicedCents)} was spent already: you get an invoice for it. Please pay it.`]
        : []),
      '',
      'If you did not expect this, answer to support.',
    ],
  });
}

/** Tells a user what came back. */
export async function mailReturned(trx: Transaction, row: RefundOrDisputeRow, cents: number): Promise<void> {
  const what =
    row.kind === 'refund'
      ? 'The refund did not go through'
      : 'The dispute was decided in favour of the payment';
  await mail(
    trx,
    row,
    { kind: 'reversal_returned', reversal: row.kind, id: row.id },
    {
      subject: `Your payment ${row.kind === 'refund' ? 'was not refunded' : 'dispute is over'}`,
      lines: [
        `${what}: payment ${row.payment_id} stands.`,
        cents > 0
          ? `${formatUsd(cents)} is in your wallet again.`
          : 'Nothing of it had been taken from your wallet.',
        ...(row.invoice_id === null
          ? []
          : ['The invoice about it is settled: you need not pay it any more.']),
      ],
    },
  );
}

async function mail(
  trx: Transaction,
  row: RefundOrDisputeRow,
  cause: MailCause,
  { subject, lines }: { subject: string; lines: string[] },
): Promise<void> {
  const user = await trx('users').where({ id: row.user_id }).first('email');
  if (!user) throw new Error(`no user ${row.user_id}`);
  await insertMail(trx, {
    cause,
    recipient: user.email,
    subject,
    body: lines.join('\n'),
    wipeAfterSending: false,
  });
}
