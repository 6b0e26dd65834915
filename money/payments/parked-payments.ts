import type { TopupId } from '../../domain/ids.js';
import type { Payment } from '../../adapters/processor/processor.js';
import type { Database } from '../../adapters/postgres/database.js';

/**
 * Puts aside a payment that came in and can't be credited, for operators. Its top-up, if any, waits no longer.
 * @returns whether it was put aside now
 */
export async function parkPayment(
  db: Database,
  payment: Payment,
  reason: string,
  topupId: TopupId | null,
): Promise<boolean> {
  return db.transaction(async (trx) => {
    const parked = await trx('parked_payments')
      .insert({
        payment_id: payment.paymentId,
        topup_id: payment.topupId,
        user_id: payment.userId,
        amount_cents: payment.amountReceivedCents,
        currency: payment.currency,
        reason,
      })
      .onConflict('payment_id')
      .ignore()
      .returning('payment_id');
    if (topupId !== null) {
      await trx('topups')
        .where({ id: topupId })
        .whereNull('credited_at')
        .update({
          status: 'processing',
          payment_id: trx.raw('coalesce(payment_id, ?)', [payment.paymentId]),
          error: `${reason}: an operator looks at it`,
          closed_at: trx.raw('coalesce(closed_at, clock_ms())'),
        });
    }
    return parked.length === 1;
  });
}
