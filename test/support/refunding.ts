import assert from 'node:assert/strict';
import { newId } from '../../adapters/ids.js';
import { readAffected } from '../../adapters/postgres/affected-rentals.js';
import type { Database } from '../../adapters/postgres/database.js';
import { beginRefunds, finishRefunds, refundItem } from '../../adapters/postgres/money/refund-rentals.js';
import { requestOrder } from '../../adapters/postgres/operator-orders.js';
import { listItems } from '../../adapters/postgres/order-items.js';
import type { OperationId, RentalId } from '../../domain/ids.js';
import type { RefundRentalsAction } from '../../domain/operation.js';
import type { TimeWindow } from '../../domain/window-charge.js';
import { testSingleLimitCents } from './operators.js';

/**
 * Orders the refund of a window at the upstream "lab", as `ops affected refund` does, for these rentals alone.
 * @param more.cents what each gets at most; what is left of its charge for the window unless told
 */
export async function orderAffected(
  db: Database,
  window: TimeWindow,
  ids: readonly RentalId[],
  { cents, id = newId('op') }: { cents?: readonly number[]; id?: OperationId } = {},
): Promise<OperationId> {
  const affected = await readAffected(db, 'lab', window, 100_000);
  const items = ids.map((wanted, i) => {
    const rental =
      affected.find(({ rentalId }) => rentalId === wanted) ?? assert.fail(`${wanted} is not affected`);
    return { rentalNo: rental.no, amountCents: cents?.[i] ?? rental.refundableCents };
  });
  const action: RefundRentalsAction = {
    kind: 'refund_rentals',
    ...{ providerCode: 'lab', rentals: items.length },
    ...{ from: window.from.toISOString(), to: window.to.toISOString() },
    amountCents: items.reduce((sum, item) => sum + item.amountCents, 0),
  };
  await requestOrder(db, { id, action, reason: 'an outage', saidBy: 'ada', items });
  return id;
}

/** Does an order as the worker's activity does, item by item. @returns what each rental got */
export async function carryOutOrder(
  worker: Database,
  orderId: OperationId,
): Promise<Map<RentalId, number | null>> {
  assert.deepEqual(await beginRefunds(worker, orderId, testSingleLimitCents), { outcome: 'begun' });
  for (const { rental_no } of await worker('operator_order_items').where({ order_id: orderId })) {
    await refundItem(worker, orderId, rental_no);
  }
  assert.deepEqual(await finishRefunds(worker, orderId), { outcome: 'done' });
  return readGiven(worker, orderId);
}

/** What each rental of an order got; null where it is not done. */
export async function readGiven(db: Database, orderId: OperationId): Promise<Map<RentalId, number | null>> {
  const items = await listItems(db, orderId);
  return new Map(items.map(({ rentalId, refundedCents }) => [rentalId, refundedCents]));
}
