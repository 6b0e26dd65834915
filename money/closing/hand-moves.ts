import { findClosing } from '../../adapters/postgres/accounts/closings.js';
import { findUnansweredReturn } from '../../adapters/postgres/accounts/closing-money.js';
import type { Transaction } from '../../adapters/postgres/database.js';
import type { UserId } from '../../domain/ids.js';
import type { MoneyAction } from '../../domain/operations/operation.js';
import { Refusal } from '../../domain/refusal.js';

/**
 * Refuses what operators may not do by hand to an account that is being closed, or is closed. Call it under the wallet's
 * lock: a refund is confirmed under the same one.
 * @throws Refusal account_closing, with what to do instead
 */
export async function refuseHandMove(trx: Transaction, userId: UserId, action: MoneyAction): Promise<void> {
  const why = await findObstacle(trx, userId, action);
  if (why !== undefined) throw new Refusal('account_closing', why);
}

async function findObstacle(
  trx: Transaction,
  userId: UserId,
  action: MoneyAction,
): Promise<string | undefined> {
  if (action.kind !== 'adjust' && action.kind !== 'issue_invoice') return undefined;
  if (!(await findClosing(trx, userId))) return undefined;
  if (action.kind === 'issue_invoice')
    return `${userId} is being closed, or is closed: nobody would pay the invoice, so none is issued.`;
  if (action.amountCents > 0)
    return `${userId} is being closed, or is closed, and what is given to it lapses. To give a payment back, refund it at the processor, then resolve it.`;
  return findRefundUnderWay(trx, userId);
}

/** Its money may have left already: what is taken meanwhile would leave twice. */
async function findRefundUnderWay(trx: Transaction, userId: UserId): Promise<string | undefined> {
  const refund = await findUnansweredReturn(trx, userId);
  if (refund === undefined || refund.called_at === null) return undefined;
  return `${refund.amount_cents} cents of ${refund.payment_id} may be on their way to its card: wait for the processor’s answer. ops users closing ${userId} shows when it is there.`;
}
