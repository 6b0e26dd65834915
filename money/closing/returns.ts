import type { ClosingRefundRow } from '../../adapters/postgres/rows/tables.js';
import type { Database, Transaction } from '../../adapters/postgres/database.js';
import {
  findUnansweredReturn,
  listReturnable,
  readGivenCents,
  readOwedCents,
} from '../../adapters/postgres/accounts/closing-money.js';
import { returnsOf } from '../../domain/accounts/closing.js';
import type { UserId } from '../../domain/ids.js';
import { post } from '../ledger/post.js';
import { moneyTransaction } from '../ledger/transaction.js';
import { lockWalletOfUser, type LockedWallet } from '../ledger/wallets.js';

export type ReturnStep =
  /** The processor is to be asked for it; what it answers is applied before the next step. */
  | { readonly kind: 'return'; readonly refund: ClosingRefundRow }
  /** What was paid in and no card takes back, in cents. */
  | { readonly kind: 'refused'; readonly cents: number }
  /** Nothing that was paid in is left: the rest has lapsed, and the balance is 0. */
  | { readonly kind: 'settled' };

/**
 * Decides the next step of giving an account's money back (decision 179, "Closing an account"), under the wallet's lock.
 * One payment at a time: its row is committed before its money leaves, and its money leaves the wallet before another row
 * is made. Given money lapses once nothing that was paid in is left, and so does what is owed: it is set off.
 */
export async function nextReturn(db: Database, userId: UserId): Promise<ReturnStep> {
  return moneyTransaction(db, userId, async (trx) => {
    const wallet = await lockWalletOfUser(trx, userId);
    const unanswered = await findUnansweredReturn(trx, userId);
    if (unanswered) return { kind: 'return', refund: unanswered };
    if (wallet.reservedCents > 0) throw new Error(`${userId} still holds money for a machine`);
    const keptCents = (await readGivenCents(trx, wallet.id)) + (await readOwedCents(trx, userId));
    const paidInCents = Math.max(0, wallet.availableCents - keptCents);
    const [next] = returnsOf(paidInCents, await listReturnable(trx, wallet.id));
    if (next) return { kind: 'return', refund: await insertReturn(trx, userId, next) };
    if (paidInCents > 0) return { kind: 'refused', cents: paidInCents };
    await lapse(trx, wallet);
    return { kind: 'settled' };
  });
}

async function insertReturn(
  trx: Transaction,
  userId: UserId,
  { paymentId, amountCents }: { paymentId: string; amountCents: number },
): Promise<ClosingRefundRow> {
  const [row] = await trx('closing_refunds')
    .insert({ user_id: userId, payment_id: paymentId, amount_cents: amountCents })
    .returning('*');
  if (!row) throw new Error(`the refund of ${paymentId} was not kept`);
  return row;
}

/** Lets given money lapse. The row counts how often, so that each time has a cause of its own. */
async function lapse(trx: Transaction, wallet: LockedWallet): Promise<void> {
  const { userId, availableCents: cents } = wallet;
  const [row] = await trx('account_closings')
    .where({ user_id: userId })
    .update({
      state: 'erasing',
      waits_for: [],
      ...(cents > 0 && { lapses: trx.raw('lapses + 1'), lapsed_cents: trx.raw('lapsed_cents + ?', [cents]) }),
    })
    .returning('lapses');
  if (!row) throw new Error(`${userId} is not being closed`);
  if (cents === 0) return;
  const cause = { kind: 'closing', userId, lapseNo: row.lapses } as const;
  const note = 'given money lapses with its account, and what is owed is set off';
  if (!(await post(trx, wallet, { type: 'adjustment', availableCents: -cents, cause, note })))
    throw new Error(`lapse ${row.lapses} of ${userId} was posted before, and its row does not know`);
}
