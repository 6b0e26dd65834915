import { notAheadSql } from '../../adapters/postgres/clock.js';
import type { ClosingRefundRow } from '../../adapters/postgres/rows/tables.js';
import type { Database, Transaction } from '../../adapters/postgres/database.js';
import {
  findUnansweredReturn,
  listUnsettledDebts,
  listReturnable,
  listUnknownReturns,
  noteDecided,
  readBalanceParts,
} from '../../adapters/postgres/accounts/closing-money.js';
import { closingLimits, returnsOf, type PaymentReturn } from '../../domain/accounts/closing.js';
import type { UserId } from '../../domain/ids.js';
import { requestVoid } from '../invoices/invoice-voids.js';
import { post } from '../ledger/post.js';
import { moneyTransaction } from '../ledger/transaction.js';
import { lockWalletOfUser, reread, type LockedWallet } from '../ledger/wallets.js';

/** What was paid in and no card takes back. */
interface RefusedReturn {
  readonly kind: 'refused';
  readonly cents: number;
  /** The wallet's newest entry: the same sum after another one is another wait. */
  readonly seq: number;
  /** What of it is of payments that the processor's account does not know. */
  readonly unknown: readonly PaymentReturn[];
}

export type ReturnStep =
  /** The processor is to be asked for it; what it answers is applied before the next step. */
  | { readonly kind: 'return'; readonly refund: ClosingRefundRow }
  | RefusedReturn
  /** Nothing that was paid in is left: the rest has lapsed, and the balance is 0. */
  | { readonly kind: 'settled' };

/**
 * Decides the next step of giving an account's money back (decision 182, "Closing an account"), under the wallet's lock.
 * One payment at a time: its row is committed before its money leaves, and its money leaves the wallet before another row
 * is made. What is owed is set off first; given money lapses once nothing that was paid in is left.
 */
export async function nextReturn(db: Database, userId: UserId): Promise<ReturnStep> {
  return moneyTransaction(db, userId, async (trx) => {
    const wallet = await lockWalletOfUser(trx, userId);
    const unanswered = await findUnansweredReturn(trx, userId);
    if (unanswered) return { kind: 'return', refund: unanswered };
    const { next, unknown, paidCents, givenCents } = await planReturns(trx, wallet);
    if (next) return { kind: 'return', refund: await insertReturn(trx, userId, next) };
    if (paidCents > 0) return { kind: 'refused', cents: paidCents, seq: wallet.seq, unknown };
    await noteDecided(trx, userId);
    await lapse(trx, wallet, givenCents);
    return { kind: 'settled' };
  });
}

/**
 * Sets off what is owed, and reads what goes back next and what is there then.
 * @throws Error where the ledger does not explain the balance
 */
async function planReturns(trx: Transaction, wallet: LockedWallet) {
  await setOff(trx, wallet);
  const { id, userId, availableCents, reservedCents } = await reread(trx, wallet);
  if (reservedCents > 0) throw new Error(`${userId} still holds money for a machine`);
  const { paidCents, givenCents } = await readBalanceParts(trx, id);
  if (paidCents < 0 || givenCents < 0 || paidCents + givenCents !== availableCents)
    throw new Error(`${userId}: ${paidCents} paid and ${givenCents} given cents are not ${availableCents}`);
  const returns = returnsOf(paidCents, await listReturnable(trx, id));
  const unknown = returns.filter(({ isUnknown }) => isUnknown);
  return { next: returns.find(({ isUnknown }) => !isUnknown), unknown, paidCents, givenCents };
}

/**
 * Notes that operators, who have just taken money of an account by hand, have decided about what the processor's account does
 * not know, if nothing that was paid in is left. What comes before the next look has no share of it then.
 */
export async function noteTaken(
  trx: Transaction,
  { id, userId }: Pick<LockedWallet, 'id' | 'userId'>,
): Promise<void> {
  if ((await listUnknownReturns(trx, userId)).length === 0) return;
  if ((await readBalanceParts(trx, id)).paidCents === 0) await noteDecided(trx, userId);
}

async function insertReturn(
  trx: Transaction,
  userId: UserId,
  { paymentId, amountCents }: PaymentReturn,
): Promise<ClosingRefundRow> {
  const [row] = await trx('closing_refunds')
    .insert({ user_id: userId, payment_id: paymentId, amount_cents: amountCents })
    .returning('*');
  if (!row) throw new Error(`the refund of ${paymentId} was not kept`);
  return row;
}

/**
 * Looks once more, under the lock, whether a refund that nobody has answered is still right, right before the processor is
 * called for it. If the account has changed, the refund is withdrawn, once no earlier call for it can be under way.
 * @returns call: the processor is to be called; withdrawn: another step is next; wait: an earlier call may still arrive
 */
export async function confirmReturn(
  db: Database,
  { id, user_id: userId, payment_id: paymentId, amount_cents: cents }: ClosingRefundRow,
): Promise<'call' | 'withdrawn' | 'wait'> {
  return moneyTransaction(db, userId, async (trx) => {
    const wallet = await lockWalletOfUser(trx, userId);
    const { next } = await planReturns(trx, wallet);
    if (next?.paymentId === paymentId && next.amountCents === cents) {
      await trx('closing_refunds')
        .where({ id })
        .update({ called_at: trx.raw('clock_ms()') });
      return 'call';
    }
    // A call by a clock that was set back since may have been made just now.
    const [left] = await trx('closing_refunds')
      .where({ id })
      .update({
        called_at: trx.raw(notAheadSql('called_at')),
        withdrawn_at: trx.raw(
          `case when coalesce(called_at < clock_ms() - ? * interval '1 millisecond', true) then clock_ms() end`,
          [closingLimits.lateAnswerMs],
        ),
      })
      .returning('withdrawn_at');
    return left?.withdrawn_at ? 'withdrawn' : 'wait';
  });
}

/**
 * Pays what is owed by what is there, given money first. The invoice is void: nobody pays it again. What nothing is left for
 * is void as well, unless it was given up before: the closing waits for no payment any more.
 */
async function setOff(trx: Transaction, wallet: LockedWallet): Promise<void> {
  let leftCents = wallet.availableCents;
  for (const { id: invoiceId, amount_cents: owedCents, status } of await listUnsettledDebts(
    trx,
    wallet.userId,
  )) {
    const cents = Math.min(leftCents, owedCents);
    if (cents === 0 && status === 'uncollectible') continue;
    const why = `it was ${cents === 0 ? 'given up' : 'set off'} when the account closed`;
    if (!(await requestVoid(trx, invoiceId, why)) || cents === 0) continue;
    const cause = { kind: 'set_off', invoiceId } as const;
    const note = `${invoiceId} is set off as the account closes`;
    if (!(await post(trx, wallet, { type: 'adjustment', availableCents: -cents, cause, note })))
      throw new Error(`${invoiceId} was set off before, and its row does not know`);
    leftCents -= cents;
  }
}

/** Lets given money lapse. The row counts how often, so that each time has a cause of its own. */
async function lapse(trx: Transaction, wallet: LockedWallet, cents: number): Promise<void> {
  const { userId } = wallet;
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
  const note = 'given money lapses with its account';
  if (!(await post(trx, wallet, { type: 'adjustment', availableCents: -cents, cause, note })))
    throw new Error(`lapse ${row.lapses} of ${userId} was posted before, and its row does not know`);
}
