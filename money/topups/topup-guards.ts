import type { Transaction } from '../../adapters/postgres/database.js';
import { refuseWhenPaymentsStopped } from '../../adapters/postgres/payments/payment-guards.js';
import type { UserId } from '../../domain/ids.js';
import { paymentLimits } from '../../domain/payments/limits.js';
import { Refusal } from '../../domain/refusal.js';

/**
 * Refuses a top-up that the guards do not allow: those of all payments, and a daily cap for young accounts, with which
 * people try stolen cards (decision 23, "Guards against loss"). Under the lock `topupsOfUser`, so that those that begin
 * at once count each other.
 * @throws Refusal account_closing, temporarily_unavailable, blocked
 */
export async function refuseWhenTopupNotAllowed(
  trx: Transaction,
  userId: UserId,
  perDayWhenYoung: number,
): Promise<void> {
  await refuseWhenPaymentsStopped(trx, userId);
  const { rows } = await trx.raw<{ rows: { young: boolean; today: number }[] }>(
    `select u.created_at > clock_ms() - :youngMs * interval '1 millisecond' as young,
            (select count(*) from topups t where t.user_id = u.id and t.source <> 'auto_topup'
                and t.created_at > clock_ms() - interval '1 day') as today
       from users u where u.id = :userId`,
    { userId, youngMs: paymentLimits.youngAccountMs },
  );
  if (rows[0]?.young && rows[0].today >= perDayWhenYoung) {
    throw new Refusal(
      'blocked',
      `A new account can start at most ${perDayWhenYoung} top-ups a day. Try again tomorrow, or contact support.`,
      { reason: 'too_many_topups', limit: perDayWhenYoung },
    );
  }
}
