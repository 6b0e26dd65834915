import type { UserId } from '../../../domain/ids.js';
import { rentalLimits } from '../../../domain/rentals/limits.js';
import { Refusal } from '../../../domain/refusal.js';
import type { Database, Transaction } from '../database.js';

/**
 * Refuses work that must not happen any more, because its caller was told so (decision 4, "Promise of a 503").
 * @returns how many milliseconds are left
 */
export async function refuseWhenLate(trx: Transaction, answerBefore: string): Promise<number> {
  const { rows } = await trx.raw<{ rows: { leftMs: number }[] }>(
    'select epoch_ms(?::timestamptz) - epoch_ms(clock_ms()) as "leftMs"',
    [answerBefore],
  );
  const leftMs = rows[0]?.leftMs ?? -1;
  if (leftMs >= 0) return leftMs;
  throw new Refusal(
    'temporarily_unavailable',
    'We were too busy to answer in time, and nothing happened. Try again.',
  );
}

interface Guards {
  brake: string | null;
  blocked_reason: string | null;
  blocked: boolean;
  debt: string | null;
  live: number;
}

/**
 * Guards against loss (decision 23, "Guards against loss", and decision 37, "Brakes and the watermark"): brakes,
 * blocked users, old debts, and too many live rentals. The brake on metering holds back new rentals as well: without
 * metering nobody knows how much is left in a wallet.
 */
export async function refuseWhenNotAllowed(trx: Database | Transaction, userId: UserId): Promise<void> {
  const { rows } = await trx.raw<{ rows: Guards[] }>(
    `select (select min(reason) from brakes where kind in ('creates', 'metering')) as brake,
            u.blocked_at is not null as blocked, u.blocked_reason,
            (select min(id) from invoices i where i.user_id = u.id and i.void_requested_at is null
                and i.reason in ('overage', 'manual')
                and i.status = 'open' and i.due_at < clock_ms()) as debt,
            (select count(*) from rentals r where r.user_id = u.id and r.closed_at is null
                and r.status in ('provisioning', 'running')) as live
       from users u where u.id = :userId`,
    { userId },
  );
  const guards = rows[0];
  if (!guards) throw new Error(`no user ${userId}`);
  if (guards.brake !== null) {
    throw new Refusal('temporarily_unavailable', 'Our operators have paused new rentals. Try again later.');
  }
  if (guards.blocked) {
    throw new Refusal('blocked', 'This account is blocked. Contact support.', {
      reason: guards.blocked_reason ?? 'account',
    });
  }
  if (guards.debt !== null) {
    throw new Refusal('blocked', 'An invoice is overdue. Pay it first: GET /v1/billing/invoices lists it.', {
      reason: 'unpaid_invoice',
      invoiceId: guards.debt,
    });
  }
  if (guards.live >= rentalLimits.maxLiveRentals) {
    throw new Refusal(
      'blocked',
      `You can run ${rentalLimits.maxLiveRentals} rentals at once. Stop one first.`,
      {
        reason: 'too_many_rentals',
        limit: rentalLimits.maxLiveRentals,
      },
    );
  }
}
