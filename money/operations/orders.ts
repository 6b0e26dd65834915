import type { OperationId } from '../../domain/ids.js';
import type { Operation, OperationResult, OrderedAction } from '../../domain/operations/operation.js';
import { Refusal } from '../../domain/refusal.js';
import type { Database, Transaction } from '../../adapters/postgres/database.js';
import { lockBy } from '../../adapters/postgres/locks.js';
import { operatorsOf, sumOtherOrders } from '../../adapters/postgres/operators/operator-orders.js';
import type { OperatorOrderRow } from '../../adapters/postgres/rows/tables.js';

/** The state of an order after it was looked at. Nothing more of it crosses Temporal; the row has the rest. */
export type OrderOutcome =
  | OrderEnd
  /** The order is above what one operator may move: a second one approves it, and it is looked at again. */
  | { readonly outcome: 'waiting' }
  /** The order refunds many, and may: its items are done one after the other from here on. */
  | { readonly outcome: 'begun' };

export type OrderEnd = { readonly outcome: 'done' } | { readonly outcome: 'refused'; readonly code: string };

/** Locks an order, so that it is done once. Orders are locked first: order, wallet, rental, invoice. */
export async function lockOrder(trx: Transaction, id: OperationId): Promise<OperatorOrderRow> {
  const order = await findLocked(trx, id);
  if (order) return order;
  throw new Refusal('not_found', `There is no order ${id}.`);
}

async function findLocked(trx: Transaction, id: OperationId): Promise<OperatorOrderRow | undefined> {
  return trx('operator_orders').where({ id }).forUpdate().first();
}

/** Returns the result of an order that has ended; undefined for an order that may be done. */
export function endOf(order: OperatorOrderRow): OrderEnd | undefined {
  if (order.closed_at === null) return undefined;
  if (order.status === 'done') return { outcome: 'done' };
  return { outcome: 'refused', code: order.code ?? order.status };
}

/**
 * Says whether a second operator must approve an order: with all that its login ordered in a day it moves more than one
 * operator may move alone (decision 87, "Operator orders"). The login's lock is held until the transaction ends, so
 * that two orders at once can't both pass. Take it after the order's lock and before a wallet's.
 * @param cents the amount of this order, whichever way it moves
 */
export async function needsSecondOperator(
  trx: Transaction,
  order: OperatorOrderRow,
  cents: number,
  singleLimitCents: number,
): Promise<boolean> {
  if (order.status === 'approved') return false;
  await lockBy(trx, 'ordersOfLogin', order.requested_by);
  return cents + (await sumOtherOrders(trx, order)) > singleLimitCents;
}

/** Returns the operation that an order asks for, as the record of what operators did keeps it. */
export function operationOf<A extends OrderedAction>(order: OperatorOrderRow, action: A): Operation<A> {
  return { operationId: order.id, operator: operatorsOf(order), reason: order.reason, action };
}

/** Notes that an order is done, in the transaction that does it. */
export async function endOrder(trx: Transaction, id: OperationId, result: OperationResult): Promise<void> {
  await trx('operator_orders')
    .where({ id })
    .update({ status: 'done', result: JSON.stringify(result) as never });
}

/** Notes why an order can't be done, for good: whoever still wants it makes a new order. */
export async function refuseOrder(
  db: Database,
  id: OperationId,
  { code, message }: Refusal,
): Promise<OrderOutcome> {
  return db.transaction(async (trx) => {
    const order = await findLocked(trx, id);
    if (!order) return { outcome: 'refused', code };
    const end = endOf(order);
    if (end) return end;
    await trx('operator_orders').where({ id }).update({ status: 'refused', code, message });
    return { outcome: 'refused', code };
  });
}
