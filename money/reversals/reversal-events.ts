import type { Transaction } from '../../adapters/postgres/database.js';
import { recordEvent } from '../../adapters/postgres/events/outbox.js';
import type { RefundOrDisputeRow } from '../../adapters/postgres/rows/tables.js';
import type { ReversalShare } from '../../domain/payments/reversal.js';

/**
 * Tells what a refund or a dispute takes now, in the transaction that takes it. It is told of the payment's top-up, or
 * of the payment itself where it is no top-up's.
 */
export async function tellReversed(
  trx: Transaction,
  row: RefundOrDisputeRow,
  { debitedCents, invoicedCents }: ReversalShare,
): Promise<void> {
  const { kind, payment_id: paymentId, amount_cents: amountCents } = row;
  await recordEvent(trx, {
    type: 'topup.reversed',
    ...(await ofPayment(trx, row)),
    data: { kind, paymentId, amountCents, debitedCents, invoicedCents },
  });
}

/** Tells that money came back, in the transaction that gives it back. */
export async function tellReinstated(
  trx: Transaction,
  row: RefundOrDisputeRow,
  returnedCents: number,
): Promise<void> {
  const { kind, payment_id: paymentId } = row;
  await recordEvent(trx, {
    type: 'topup.reinstated',
    ...(await ofPayment(trx, row)),
    data: { kind, paymentId, returnedCents },
  });
}

async function ofPayment(
  trx: Transaction,
  { user_id: userId, payment_id: paymentId }: RefundOrDisputeRow,
): Promise<{ userId: RefundOrDisputeRow['user_id']; entityId: string }> {
  const topup = await trx('topups').where({ user_id: userId, payment_id: paymentId }).first('id');
  return { userId, entityId: topup?.id ?? paymentId };
}
