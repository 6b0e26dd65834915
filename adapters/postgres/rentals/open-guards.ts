import type { UserId } from '../../../domain/ids.js';
import type { Renter } from '../../../domain/rentals/open.js';
import { Refusal } from '../../../domain/refusal.js';
import type { Database, Transaction } from '../database.js';
import { isOwedSql } from '../invoices/debts.js';

/**
 * Refuses work that must not happen any more, because its caller was told so (decision 4, "Promise of a 503"). The
 * transaction holds the lock under which the last look is made: who finds nothing there knows that it never comes.
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
    { outcome: 'not_done' },
  );
}

/** Reads what may keep an account from renting. */
export async function readRenter(db: Database | Transaction, userId: UserId): Promise<Renter> {
  const { rows } = await db.raw<{ rows: Renter[] }>(
    `select exists (select 1 from brakes where kind in ('creates', 'metering')) as "isPaused",
            block_of(u.id) as "blockedReason",
            exists (select 1 from account_closings c where c.user_id = u.id) as "isClosing",
            (select min(id) from invoices i where i.user_id = u.id and ${isOwedSql('i')}
                and i.due_at < clock_ms()) as "overdueInvoiceId",
            (select count(*) from rentals r where r.user_id = u.id and r.closed_at is null
                and r.status in ('provisioning', 'running')) as "liveRentals"
       from users u where u.id = :userId`,
    { userId },
  );
  if (!rows[0]) throw new Error(`no user ${userId}`);
  return rows[0];
}
