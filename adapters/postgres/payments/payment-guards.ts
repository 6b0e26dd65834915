import { accountClosing } from '../../../domain/accounts/closing.js';
import type { UserId } from '../../../domain/ids.js';
import { Refusal } from '../../../domain/refusal.js';
import type { Database, Transaction } from '../database.js';

interface Guards {
  readonly isClosing: boolean;
  readonly isPaused: boolean;
  /** Why; null where it is not. */
  readonly blockedReason: string | null;
}

/**
 * Refuses what begins a payment, or a form by which cards can be tried, while its account is being closed or blocked, or the
 * brake on charges is pulled (decision 23, "Guards against loss", and decision 37, "Brakes and the watermark").
 * @throws Refusal account_closing, temporarily_unavailable, blocked
 */
export async function refuseWhenPaymentsStopped(db: Database | Transaction, userId: UserId): Promise<void> {
  const { rows } = await db.raw<{ rows: Guards[] }>(
    `select exists (select 1 from account_closings c where c.user_id = u.id) as "isClosing",
            exists (select 1 from brakes where kind = 'charges') as "isPaused",
            block_of(u.id) as "blockedReason"
       from users u where u.id = ?`,
    [userId],
  );
  const [guards] = rows;
  if (!guards) throw new Error(`no user ${userId}`);
  if (guards.isClosing) throw accountClosing();
  if (guards.isPaused) {
    throw new Refusal('temporarily_unavailable', 'Our operators have paused payments. Try again later.');
  }
  if (guards.blockedReason !== null) {
    throw new Refusal('blocked', 'This account is blocked. Contact support.', {
      reason: guards.blockedReason,
    });
  }
}
