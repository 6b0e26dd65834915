import { causeOf, type ReversalCause } from '../../domain/causes.js';
import type { UserId } from '../../domain/ids.js';
import { paymentLimits } from '../../domain/payments/limits.js';
import { paymentTakenMail } from '../../domain/mails/payments.js';
import { formatUsd } from '../../domain/money.js';
import { shareOfReversal } from '../../domain/payments/reversal.js';
import { isPersonGone, wakeClosing } from '../../adapters/postgres/accounts/closings.js';
import type { Database, Transaction } from '../../adapters/postgres/database.js';
import { readUnusedCents } from '../../adapters/postgres/rentals/meter-reads.js';
import type { RefundOrDisputeRow } from '../../adapters/postgres/rows/tables.js';
import { mailUser } from '../../adapters/postgres/upkeep/outbox.js';
import { insertManualInvoice } from '../invoices/manual-invoice.js';
import { post } from '../ledger/post.js';
import { tellReversed } from './reversal-events.js';
import { giveBack } from './reversal-returns.js';
import { lockWalletOfUser, type LockedWallet } from '../ledger/wallets.js';
import { moneyTransaction } from '../ledger/transaction.js';

/** A refund or a dispute as the processor tells it now, and the payment that it is about. */
export interface Reversal {
  readonly id: string;
  readonly kind: 'refund' | 'dispute';
  readonly status: string;
  readonly amountCents: number;
  readonly paymentId: string;
  readonly userId: UserId;
  /** The cents that the payment brought: no more is ever taken for it. */
  readonly paymentCents: number;
  /** Whether the wallet was credited with the payment. If not, an invoice asks for what is taken. */
  readonly credited: boolean;
  /** Whether the processor has taken the money, and whether it has given it back. */
  readonly taken: boolean;
  readonly returned: boolean;
  /** Whether nothing more is expected. */
  readonly closed: boolean;
}

/**
 * Brings the money of a refund or dispute to what the processor says (decision 30, "Reversed payments"). It does so in
 * one transaction under the wallet's lock, however often it is called. Money that was taken there is taken here once:
 * from available only, and the rest by an invoice. Money that came back there comes back here as it was debited.
 */
export async function applyReversal(db: Database, reversal: Reversal): Promise<RefundOrDisputeRow> {
  return moneyTransaction(db, reversal.userId, async (trx) => {
    const wallet = await lockWalletOfUser(trx, reversal.userId);
    await wakeClosing(trx, reversal.userId);
    const row = await lockRow(trx, wallet, reversal);
    if (reversal.returned) {
      if (row.given_back_at === null && (await giveBack(trx, wallet, row))) {
        await takeRestOfOthers(trx, wallet, reversal);
      }
    } else if (reversal.taken && row.taken_at === null) {
      await take(trx, wallet, row, reversal.paymentCents, reversal.credited);
    }
    const [after] = await trx('refunds_and_disputes')
      .where({ id: reversal.id })
      .update({
        status: reversal.status,
        closed_at: reversal.closed ? trx.raw('coalesce(closed_at, clock_ms())') : null,
      })
      .returning('*');
    if (!after) throw new Error(`the row of ${reversal.id} vanished`);
    return after;
  });
}

async function lockRow(
  trx: Transaction,
  wallet: LockedWallet,
  { id, kind, paymentId, amountCents, status }: Reversal,
): Promise<RefundOrDisputeRow> {
  await trx('refunds_and_disputes')
    .insert({
      id,
      kind,
      payment_id: paymentId,
      amount_cents: amountCents,
      status,
      user_id: wallet.userId,
      wallet_id: wallet.id,
    })
    .onConflict('id')
    .ignore();
  const row = await trx('refunds_and_disputes').where({ id }).forUpdate().first();
  if (!row) throw new Error(`the row of ${id} vanished`);
  return row;
}

/**
 * Takes what a reversal may still take: all reversals of one payment together never take more than the payment. It may
 * be called again when another one gave its part back.
 */
async function take(
  trx: Transaction,
  wallet: LockedWallet,
  row: RefundOrDisputeRow,
  paymentCents: number,
  credited: boolean,
): Promise<void> {
  const [sums] = await trx('refunds_and_disputes')
    .where({ payment_id: row.payment_id })
    .whereNull('given_back_at')
    .select<{ taken: number }[]>(
      trx.raw('coalesce(sum(debited_cents + invoiced_cents + written_off_cents), 0)::bigint as taken'),
    );
  const share = shareOfReversal({
    amountCents: row.amount_cents - row.debited_cents - row.invoiced_cents - row.written_off_cents,
    leftOfPaymentCents: paymentCents - (sums?.taken ?? 0),
    availableCents: credited ? await readUnusedCents(trx, wallet.id) : 0,
    minInvoiceCents: await smallestInvoice(trx, row),
  });
  const round = row.taken_at === null ? null : (await countPostings(trx, row)) + 1;
  const cause = reversalCause(row, round);
  if (share.debitedCents > 0) {
    const posted = await post(trx, wallet, {
      type: 'adjustment',
      availableCents: -share.debitedCents,
      cause,
      note: `${row.kind} ${row.id} of payment ${row.payment_id}`,
    });
    if (!posted) throw new Error(`${causeOf(cause)} was posted before, and its row does not know`);
  }
  const invoiceId =
    share.invoicedCents === 0
      ? null
      : await insertManualInvoice(trx, wallet, {
          cause,
          amountCents: share.invoicedCents,
          description: `${reversedWords(row)}; this part was spent already`,
        });
  await trx('refunds_and_disputes')
    .where({ id: row.id })
    .update({
      debited_cents: row.debited_cents + share.debitedCents,
      invoiced_cents: row.invoiced_cents + share.invoicedCents,
      written_off_cents: row.written_off_cents + share.writtenOffCents,
      invoice_id: invoiceId ?? row.invoice_id,
      taken_at: trx.raw('coalesce(taken_at, clock_ms())'),
    });
  const { kind, payment_id: paymentId, amount_cents: amountCents } = row;
  const message = paymentTakenMail({ kind, paymentId, amountCents, share });
  await mailUser(trx, row.user_id, cause, message);
  await tellReversed(trx, row, share);
}

/**
 * The smallest sum that an invoice asks for. One invoice each: a sum that is missing a second time, after others gave
 * back, is written off, and so is one that nobody is left to pay (decision 182, "Closing an account").
 */
async function smallestInvoice(trx: Transaction, row: RefundOrDisputeRow): Promise<number> {
  const isAskable = row.invoice_id === null && !(await isPersonGone(trx, row.user_id));
  return isAskable ? paymentLimits.minInvoiceCents : Infinity;
}

/** Says what an invoice is for: it is no correction by somebody's hand. */
function reversedWords({ kind, amount_cents: cents, payment_id: paymentId }: RefundOrDisputeRow): string {
  return kind === 'refund'
    ? `${formatUsd(cents)} of your payment ${paymentId} was refunded to you`
    : `Your bank took back ${formatUsd(cents)} of your payment ${paymentId}`;
}

function reversalCause({ kind, id }: RefundOrDisputeRow, round: number | null): ReversalCause {
  return { kind: 'reversal', reversal: kind, id, round };
}

/**
 * Counts how often money was taken for it already. Rounds are numbered without a gap, except that the first has no
 * number where it took money. So each round is looked for by its whole cause, until there is none.
 */
async function countPostings(trx: Transaction, row: RefundOrDisputeRow): Promise<number> {
  for (let count = 0; ; count += 1) {
    const rounds = count === 0 ? [null, 1] : [count + 1];
    const causes = rounds.map((round) => causeOf(reversalCause(row, round)));
    if (!(await trx('ledger_causes').whereIn('cause', causes).first('seq'))) return count;
  }
}

/**
 * Lets other reversals take the rest of theirs. When one gives its part back, the payment has room again for others
 * that had found less than theirs.
 */
async function takeRestOfOthers(
  trx: Transaction,
  wallet: LockedWallet,
  { id, paymentId, paymentCents, credited }: Reversal,
): Promise<void> {
  const others = await trx('refunds_and_disputes')
    .where({ payment_id: paymentId })
    .whereNot({ id })
    .whereNotNull('taken_at')
    .whereNull('given_back_at')
    .whereRaw('debited_cents + invoiced_cents + written_off_cents < amount_cents')
    .orderBy('taken_at')
    .forUpdate();
  for (const other of others) await take(trx, wallet, other, paymentCents, credited);
}
