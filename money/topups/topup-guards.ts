import type { UserId } from '../../domain/ids.js';
import { paymentLimits } from '../../domain/payments/limits.js';
import { accountClosing } from '../../domain/accounts/closing.js';
import { Refusal } from '../../domain/refusal.js';
import type { Transaction } from '../../adapters/postgres/database.js';

interface Guards {
  brake: string | null;
  closing: boolean;
  /** Why; null where it is not. */
  blocked: string | null;
  young: boolean;
  today: number;
}

/**
 * Refuses a top-up that the guards do not allow (decision 23, "Guards against loss", and decision 37, "Brakes and the
 * watermark"). The guards are the brake on charges, blocked users, and a daily cap for young accounts, with which
 * people try stolen cards. Under the lock `topupsOfUser`, so that those that begin at once count each other.
 */
export async function refuseWhenTopupNotAllowed(
  trx: Transaction,
  userId: UserId,
  perDayWhenYoung: number,
): Promise<void> {
  const { rows } = await trx.raw<{ rows: Guards[] }>(
    `select (select reason from brakes where kind = 'charges') as brake,
            exists (select 1 from account_closings c where c.user_id = u.id) as closing,
            block_of(u.id) as blocked,
            u.created_at > clock_ms() - :youngMs * interval '1 millisecond' as young,
            (select count(*) from topups t where t.user_id = u.id and t.source <> 'auto_topup'
                and t.created_at > clock_ms() - interval '1 day') as today
       from users u where u.id = :userId`,
    { userId, youngMs: paymentLimits.youngAccountMs },
  );
  const guards = rows[0];
  if (!guards) throw new Error(`no user ${userId}`);
  if (guards.closing) throw accountClosing();
  if (guards.brake !== null) {
    throw new Refusal('temporarily_unavailable', 'Our operators have paused payments. Try again later.');
  }
  if (guards.blocked !== null) {
    throw new Refusal('blocked', 'This account is blocked. Contact support.', {
      reason: guards.blocked,
    });
  }
  if (guards.young && guards.today >= perDayWhenYoung) {
    throw new Refusal(
      'blocked',
      `A new account can start at most ${perDayWhenYoung} top-ups a day. Try again tomorrow, or contact support.`,
      { reason: 'too_many_topups', limit: perDayWhenYoung },
    );
  }
}
