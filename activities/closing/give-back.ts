import { answerReturn } from '../../adapters/postgres/accounts/closing-money.js';
import { findCredit } from '../../adapters/postgres/payments/credits.js';
import { readDebtsPaidBy } from '../../adapters/postgres/payments/reversal-reads.js';
import type { ClosingRefundRow } from '../../adapters/postgres/rows/tables.js';
import { ProcessorError, type Refund } from '../../adapters/processor/processor.js';
import type { UserId } from '../../domain/ids.js';
import { applyReversal } from '../../money/reversals/reversals.js';
import type { ActivityDeps } from '../deps.js';
import { ofRefund } from '../payments/reversals.js';

/**
 * Gives money of a payment back to the card that paid it, once: a refund whose answer was lost is found by its key. The
 * wallet follows at once, as it follows any refund, and the refund's own event finds it done.
 */
export async function giveBackToCard(
  deps: ActivityDeps,
  userId: UserId,
  row: ClosingRefundRow,
): Promise<void> {
  const refund = await refundOf(deps, row);
  if (refund instanceof ProcessorError) {
    const code = refund.details.code ?? 'refused';
    deps.log.warn({ userId, paymentId: row.payment_id, code }, 'a card takes no money back');
    return answerReturn(deps.db, row, { refused_code: code });
  }
  const credit = await findCredit(deps.db, row.payment_id);
  const paymentCents = credit?.creditedCents ?? (await readDebtsPaidBy(deps.db, row.payment_id));
  // A payment of a debt is in no wallet, but what it paid for is: it is taken from there.
  const taken = { paymentId: row.payment_id, userId, paymentCents, credited: true };
  await applyReversal(deps.db, { ...ofRefund(refund), ...taken });
  await answerReturn(deps.db, row, { refund_id: refund.refundId });
}

/** Makes the refund, or finds the one that was made. @returns the refusal where there is none */
async function refundOf(
  { processor }: ActivityDeps,
  { id, payment_id: paymentId, amount_cents: amountCents }: ClosingRefundRow,
): Promise<Refund | ProcessorError> {
  const key = `closing-refund:${id}`;
  const { chargeId } = await processor.getPayment(paymentId);
  const known = chargeId === null ? [] : await processor.listRefundsOfCharge(chargeId);
  const found = known.find((one) => one.key === key);
  if (found) return found;
  try {
    return await processor.createRefund({ paymentId, amountCents, key });
  } catch (error) {
    if (error instanceof ProcessorError && error.kind === 'refused') return error;
    throw error;
  }
}
