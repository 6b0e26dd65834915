import { causeOf } from '../../domain/causes.js';
import type { OperationId, RentalId } from '../../domain/ids.js';
import { rentalsRefundedMail } from '../../domain/mails/wallet.js';
import type { RefundRentalsAction } from '../../domain/operations/operation.js';
import { readRefundable } from '../../adapters/postgres/operators/affected-rentals.js';
import { insertAuditEvent } from '../../adapters/postgres/accounts/audit-events.js';
import { wakeClosing } from '../../adapters/postgres/accounts/closings.js';
import type { Database, Transaction } from '../../adapters/postgres/database.js';
import { findRepeated, recordAction } from '../../adapters/postgres/operators/operator-actions.js';
import { readProgress } from '../../adapters/postgres/operators/order-items.js';
import { mailUser } from '../../adapters/postgres/upkeep/outbox.js';
import type { OperatorOrderRow } from '../../adapters/postgres/rows/tables.js';
import {
  endOf,
  endOrder,
  lockOrder,
  needsSecondOperator,
  operationOf,
  type OrderEnd,
  type OrderOutcome,
} from './orders.js';
import { post } from '../ledger/post.js';
import { lockWalletOfUser, type LockedWallet } from '../ledger/wallets.js';

/** Thrown when the order has ended meanwhile: nothing more of it is done. */
export class OrderEnded extends Error {}

/**
 * Lets an order of many begin. Each time that something of it is to be done, this asks whether the order may begin. Its
 * record in `operator_actions` precedes the first cent, so that each of its entries can be explained at any time
 * (decision 94, "Refunds of an outage").
 * @param singleLimitCents the most that one operator may move alone in a day; the order's sum counts
 * @throws Refusal when there is no such order
 */
export async function beginRefunds(
  db: Database,
  operationId: OperationId,
  singleLimitCents: number,
): Promise<OrderOutcome> {
  return db.transaction(async (trx) => {
    const order = await lockOrder(trx, operationId);
    const end = endOf(order);
    if (end) return end;
    const action = refundsOf(order);
    const input = operationOf(order, action);
    if (await findRepeated(trx, input)) return { outcome: 'begun' };
    const { rentals, amountCents } = action;
    if (await needsSecondOperator(trx, order, amountCents, singleLimitCents)) return { outcome: 'waiting' };
    await recordAction(trx, input, { rentals, amountCents });
    return { outcome: 'begun' };
  });
}

/**
 * Gives one rental of an order what the order says, once, in one transaction under its user's wallet lock. It gives at
 * most what is left of the rental's charge for the order's window, so that nobody gets back more than they paid.
 * @throws OrderEnded
 */
export async function refundItem(db: Database, orderId: OperationId, rentalNo: number): Promise<void> {
  await db.transaction(async (trx) => {
    // A shared lock: an operator who rejects the order waits for the item that is being done, and other items do not.
    const order = await trx('operator_orders').where({ id: orderId }).forShare().first();
    if (order?.closed_at !== null) throw new OrderEnded(`${orderId} has ended`);
    const rental = await trx('rentals').where({ no: rentalNo }).first('id', 'user_id');
    if (!rental) throw new Error(`no rental number ${rentalNo}`);
    const wallet = await lockWalletOfUser(trx, rental.user_id);
    const items = trx('operator_order_items').where({ order_id: orderId, rental_no: rentalNo });
    const item = await items.clone().whereNull('done_at').first();
    if (!item) return;
    const { from, to } = refundsOf(order);
    const window = { from: new Date(from), to: new Date(to) };
    const cents = Math.min(item.amount_cents, await readRefundable(trx, rentalNo, window, orderId));
    await items.clone().update({ refunded_cents: cents });
    await wakeClosing(trx, rental.user_id);
    if (cents > 0) await give(trx, wallet, order, rental.id, cents);
    await mailWhenAllDone(trx, wallet, order);
  });
}

/**
 * Ends an order of many when all of its items are done.
 * @returns undefined when they are not
 */
export async function finishRefunds(db: Database, operationId: OperationId): Promise<OrderEnd | undefined> {
  return db.transaction(async (trx) => {
    const order = await lockOrder(trx, operationId);
    const end = endOf(order);
    if (end) return end;
    const { rentals, done, refundedCents } = await readProgress(trx, operationId);
    if (done < rentals) return undefined;
    await endOrder(trx, operationId, { rentals, refundedCents });
    return { outcome: 'done' };
  });
}

function refundsOf({ id, request }: OperatorOrderRow): RefundRentalsAction {
  if (request.kind !== 'refund_rentals') throw new Error(`${id} is a ${request.kind}, and refunds nobody`);
  return request;
}

/**
 * Posts the refund. Its entry names the rental in the note only: the rental's own charge stays as it was metered (48).
 */
async function give(
  trx: Transaction,
  wallet: LockedWallet,
  { id, reason }: OperatorOrderRow,
  rentalId: RentalId,
  availableCents: number,
): Promise<void> {
  const cause = { kind: 'operation_rental', operationId: id, rentalId } as const;
  const note = `${reason}; ${rentalId}`;
  if (!(await post(trx, wallet, { type: 'refund', availableCents, cause, note }))) {
    throw new Error(`${causeOf(cause)} was posted before, and its item is not done`);
  }
  await insertAuditEvent(trx, {
    userId: wallet.userId,
    kind: 'changed_by_operator',
    entityId: `${id}:${rentalId}`,
    details: { action: 'refund_rentals', rentalId, amountCents: availableCents },
  });
}

/** Sends one mail to each user, with the last of their rentals. */
async function mailWhenAllDone(
  trx: Transaction,
  { userId }: LockedWallet,
  { id, reason }: OperatorOrderRow,
): Promise<void> {
  const { rows } = await trx.raw<{ rows: { rentalId: RentalId; cents: number | null }[] }>(
    `select r.id as "rentalId", i.refunded_cents as cents
       from rentals r join operator_order_items i on i.order_id = :id and i.rental_no = r.no
      where r.user_id = :userId order by r.no`,
    { id, userId },
  );
  if (rows.some(({ cents }) => cents === null)) return;
  const given = rows.map(({ rentalId, cents }) => ({ rentalId, cents: cents ?? 0 }));
  const paid = given.filter(({ cents }) => cents > 0);
  if (paid.length === 0) return;
  const cause = { kind: 'operation_user', operationId: id, userId } as const;
  await mailUser(trx, userId, cause, rentalsRefundedMail(reason, paid));
}
