import assert from 'node:assert/strict';
import { newId } from '../../adapters/ids.js';
import { openDatabase, type Database } from '../../adapters/postgres/database.js';
import { requestOrder, type OrderedItem } from '../../adapters/postgres/operators/operator-orders.js';
import type { OperationId } from '../../domain/ids.js';
import { databaseRoles } from '../../migrations/roles.js';
import {
  getRental,
  insertRunning,
  insertWallet,
  openMoneyDatabase,
  type MoneyDatabase,
} from '../support/money/money.js';
import { urlAs } from '../support/ops/operators.js';

/** Decision 94, "Refunds of an outage": the items of an order of many stand from its first moment on. */
describe('the items of an operators’ order', () => {
  let database: MoneyDatabase;
  let db: Database;
  let ada: Database;
  let bob: Database;
  let worker: Database;
  const rentals: number[] = [];
  before(async () => {
    database = await openMoneyDatabase();
    db = database.db;
    [ada, bob] = [
      openDatabase(urlAs('ada', database.url), 2, 'ops'),
      openDatabase(urlAs('bob', database.url), 2, 'ops'),
    ];
    worker = openDatabase(database.url, 2, 'test-worker', databaseRoles.worker);
    const wallet = await insertWallet(db, 10_000);
    for (let i = 0; i < 3; i += 1) {
      const id = await insertRunning(db, wallet, { priceCents: 100, ranMs: 0 });
      rentals.push((await getRental(db, id)).no);
    }
  });
  after(async () => {
    await Promise.all([ada, bob, worker].map((one) => one.destroy()));
    await database.close();
  });

  /** An order; default: of the first two rentals, with 10 and 20 cents. */
  async function order(
    told: { cents?: number; rentals?: number; items?: OrderedItem[] } = {},
  ): Promise<OperationId> {
    const id = newId('op');
    const items = told.items ?? [item(0, 10), item(1, 20)];
    await requestOrder(ada, {
      ...{ id, reason: 'an outage', saidBy: 'ada', items },
      action: {
        ...{ kind: 'refund_rentals', providerCode: 'lab', from: '2026-11-21', to: '2026-11-22' },
        ...{ amountCents: told.cents ?? 30, rentals: told.rentals ?? 2 },
      },
    });
    return id;
  }

  const item = (i: number, amountCents: number): OrderedItem => ({ rentalNo: rentals[i]!, amountCents });
  const itemsOf = (id: OperationId, by = db) => by('operator_order_items').where({ order_id: id });
  const insert = (id: OperationId, by: Database, i = 2) =>
    by('operator_order_items').insert({ order_id: id, rental_no: rentals[i]!, amount_cents: 1 });
  const doItem = (id: OperationId, i: number, cents: number) =>
    itemsOf(id, worker).where({ rental_no: rentals[i]! }).update({ refunded_cents: cents });

  it('come with it, and are its sum and its number', async () => {
    assert.equal((await itemsOf(await order())).length, 2);
    const refused = [
      { cents: 29 },
      { cents: 31 },
      { rentals: 3 },
      { items: [] },
      { items: [item(0, 30)] },
      { items: [item(0, 31), item(1, 1)], cents: 30 },
    ];
    for (const told of refused) {
      await assert.rejects(order(told), { constraint: 'operator_order_items_sum' }, JSON.stringify(told));
    }
    await assert.rejects(order({ items: [item(0, 30), item(1, 0)] }), { code: '23514' });
    await assert.rejects(order({ items: [item(0, 10), item(0, 20)] }), { code: '23505' });
    await assert.rejects(order({ items: [item(0, 10), { rentalNo: 999_999, amountCents: 20 }] }), {
      code: '23503',
    });
  });

  it('are never added later, to it or to an order of another kind', async () => {
    const id = await order();
    const single = newId('op');
    await requestOrder(ada, {
      ...{ id: single, reason: 'x', saidBy: 'ada' },
      action: { kind: 'refund', userId: newId('usr'), amountCents: 100 },
    });
    for (const to of [id, single]) {
      for (const by of [ada, db]) {
        await assert.rejects(insert(to, by), { constraint: 'operator_order_items_sum' });
      }
      await assert.rejects(insert(to, worker), { code: '42501' });
    }
  });

  it('stay as they were asked for', async () => {
    const id = await order();
    for (const change of [{ amount_cents: 9 }, { rental_no: rentals[2]! }, { order_id: newId('op') }]) {
      for (const by of [ada, worker]) {
        await assert.rejects(itemsOf(id, by).update(change), { code: '42501' });
      }
      await assert.rejects(itemsOf(id).where({ rental_no: rentals[0]! }).update(change), {
        constraint: 'operator_order_items_stay',
      });
    }
    await assert.rejects(itemsOf(id).delete(), { constraint: 'operator_order_items_stay' });
    await assert.rejects(db.raw('truncate operator_order_items'), {
      constraint: 'operator_order_items_stay',
    });
  });

  it('are done by the worker, once, with no more than they say, and while the order is open', async () => {
    const id = await order();
    await assert.rejects(itemsOf(id, ada).update({ refunded_cents: 1 }), { code: '42501' });
    await assert.rejects(doItem(id, 0, 11), { code: '23514' });
    await assert.rejects(doItem(id, 0, -1), { code: '23514' });
    await doItem(id, 0, 10);
    await assert.rejects(doItem(id, 0, 10), { constraint: 'operator_order_items_stay' });
    await bob('operator_orders').where({ id }).update({ status: 'rejected', rejected_why: 'no' });
    await assert.rejects(doItem(id, 1, 20), { constraint: 'operator_orders_once' });
    const done = await itemsOf(id).orderBy('rental_no');
    assert.deepEqual(
      done.map(({ refunded_cents, done_at }) => [refunded_cents, done_at !== null]),
      [
        [10, true],
        [null, false],
      ],
    );
  });

  it('are all done before it is', async () => {
    const id = await order();
    const end = () =>
      worker('operator_orders')
        .where({ id })
        .update({ status: 'done', result: '{}' as never });
    await doItem(id, 0, 10);
    await assert.rejects(end(), { constraint: 'operator_orders_all_done' });
    await doItem(id, 1, 0);
    await end();
  });
});
