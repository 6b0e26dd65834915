import assert from 'node:assert/strict';
import { newId } from '../../../adapters/ids.js';
import { openDatabase, type Database } from '../../../adapters/postgres/database.js';
import { approveOrder, rejectOrder } from '../../../adapters/postgres/operators/operator-orders.js';
import type { InvoiceId, OperationId, UserId } from '../../../domain/ids.js';
import type { OrderedAction } from '../../../domain/operations/operation.js';
import { databaseRoles } from '../../../migrations/roles.js';
import { operate } from '../../../money/operations/operations.js';
import { beginRefunds, refundItem } from '../../../money/operations/refund-rentals.js';
import { insertWallet, openMoneyDatabase, type MoneyDatabase } from '../../support/money/money.js';
import { placeOrder, testSingleLimitCents, withNewOperator } from '../../support/ops/operators.js';
import { insertSettled, orderAffected } from '../../support/story/refunding.js';

const HOUR = 3_600_000;

/** Decision 87, "Operator orders": what a login moves in a day counts together, whatever its orders are. */
describe('what one operator may move alone', () => {
  let database: MoneyDatabase;
  let db: Database;
  let worker: Database;
  let userId: UserId;
  before(async () => {
    database = await openMoneyDatabase();
    db = database.db;
    worker = openDatabase(database.url, 10, 'test-worker', databaseRoles.worker);
    userId = (await insertWallet(db, 1_000_000)).user_id;
  });
  after(async () => {
    await worker.destroy();
    await database.close();
  });

  const alone = (work: (ada: Database, login: string) => Promise<void>) => () =>
    withNewOperator(database.url, work);

  /** Lets the worker look at an order. @returns done, waiting, begun or the code of its refusal */
  async function look(id: OperationId): Promise<string> {
    const { kind } = (await db('operator_orders').where({ id }).first())!;
    const act = kind === 'refund_rentals' ? beginRefunds : operate;
    const outcome = await act(worker, id, testSingleLimitCents);
    return 'code' in outcome ? outcome.code : outcome.outcome;
  }

  const refund = (by: Database, amountCents: number) =>
    placeOrder(by, { kind: 'refund', userId, amountCents });
  const done = async (by: Database, amountCents: number) =>
    assert.equal(await look(await refund(by, amountCents)), 'done');
  const waits = async (by: Database, amountCents: number) => {
    const id = await refund(by, amountCents);
    assert.equal(await look(id), 'waiting');
    return id;
  };

  async function insertInvoice(amountCents: number): Promise<InvoiceId> {
    const id = newId('inv');
    const wallet = (await db('wallets').where({ user_id: userId }).first())!;
    await db('invoices').insert({
      ...{ id, user_id: userId, wallet_id: wallet.id, status: 'open', reason: 'manual' },
      ...{ amount_cents: amountCents, cause: `test:${id}` },
    });
    return id;
  }

  /** Orders the refund of rentals, of 60 cents each. */
  async function orderOutage(by: Database, rentals: number): Promise<OperationId> {
    const wallet = await insertWallet(db, 100_000);
    await insertSettled(db, wallet, rentals);
    const ids = (await db('rentals').where({ user_id: wallet.user_id }).select('id')).map(({ id }) => id);
    const window = { from: new Date(Date.now() - 2 * HOUR), to: new Date() };
    return orderAffected(by, window, ids);
  }

  /** Makes an order and what came of it so much older. */
  async function age(id: OperationId, ms: number): Promise<void> {
    await db.transaction(async (trx) => {
      await trx.raw('alter table operator_orders disable trigger user');
      await trx.raw(
        `update operator_orders set requested_at = requested_at - :ms * interval '1 ms',
                closed_at = closed_at - :ms * interval '1 ms' where id = :id`,
        { id, ms },
      );
      await trx.raw('alter table operator_orders enable trigger user');
    });
  }

  it(
    'is the sum of all their orders, whatever they move and in which direction',
    alone(async (ada) => {
      const kinds: ((amountCents: number) => Promise<OrderedAction>)[] = [
        (amountCents) => Promise.resolve({ kind: 'refund', userId, amountCents }),
        (amountCents) => Promise.resolve({ kind: 'adjust', userId, amountCents: -amountCents }),
        (amountCents) => Promise.resolve({ kind: 'issue_invoice', userId, amountCents, description: 'x' }),
        async (amountCents) => ({ kind: 'write_off_invoice', invoiceId: await insertInvoice(amountCents) }),
        async (amountCents) => ({ kind: 'void_invoice', invoiceId: await insertInvoice(amountCents) }),
      ];
      for (const kind of kinds) assert.equal(await look(await placeOrder(ada, await kind(9_000))), 'done');
      for (const kind of kinds) assert.equal(await look(await placeOrder(ada, await kind(5_001))), 'waiting');
    }),
  );

  it(
    'counts an outage’s refund with their others, before and after it has begun',
    alone(async (ada) => {
      await done(ada, testSingleLimitCents - 1_200);
      const small = await orderOutage(ada, 20);
      assert.equal(await look(small), 'begun');
      await waits(ada, 1);
      assert.equal(await look(await orderOutage(ada, 1)), 'waiting');
      assert.equal(await look(small), 'begun', 'what has begun goes on');
    }),
  );

  it(
    'is kept when their orders are looked at at once, by the earlier ones first',
    alone(async (ada) => {
      await Promise.all(Array.from({ length: 10 }, () => worker.raw('select pg_sleep(0.05)')));
      const orders: OperationId[] = [];
      for (let i = 0; i < 10; i += 1) orders.push(await refund(ada, 10_000));
      const told = await Promise.all(orders.reverse().map(look));
      assert.deepEqual(
        told,
        ['waiting', 'done'].flatMap((word) => Array<string>(5).fill(word)),
      );
    }),
  );

  it(
    'is kept when an order is seen late that was asked for first',
    alone(async (ada) => {
      // The first order commits after the second one was done.
      const first = newId('op');
      const trx = await ada.transaction();
      const request = { kind: 'refund', userId, amountCents: 40_000 };
      await trx('operator_orders').insert({
        ...{ id: first, kind: 'refund', request: JSON.stringify(request) as never, reason: 'x' },
      });
      await done(ada, 40_000);
      await trx.commit();
      assert.equal(await look(first), 'waiting');
    }),
  );

  it(
    'counts orders that wait, and neither rejected nor refused ones',
    alone(async (ada) => {
      const large = await waits(ada, testSingleLimitCents + 1);
      const small = await waits(ada, 1);
      await rejectOrder(ada, large, 'not meant');
      assert.equal(await look(small), 'done');
      const unfit = await placeOrder(ada, { kind: 'refund', userId: newId('usr'), amountCents: 49_000 });
      assert.equal(await look(unfit), 'not_found');
      await done(ada, testSingleLimitCents - 1);
    }),
  );

  it(
    'counts what a rejected outage’s refund had given',
    alone(async (ada) => {
      const outage = await orderOutage(ada, 3);
      assert.equal(await look(outage), 'begun');
      const [item] = await worker('operator_order_items').where({ order_id: outage });
      await refundItem(worker, outage, item!.rental_no);
      await rejectOrder(ada, outage, 'enough');
      await rejectOrder(ada, await waits(ada, testSingleLimitCents - 59), 'too much');
      await done(ada, testSingleLimitCents - 60);
    }),
  );

  it(
    'counts no order that was approved, for who asked or who approved',
    alone((ada) =>
      withNewOperator(database.url, async (bob) => {
        await done(bob, 30_000);
        const large = await waits(ada, testSingleLimitCents + 1);
        await approveOrder(bob, large);
        assert.equal(await look(large), 'done');
        await done(ada, testSingleLimitCents);
        await done(bob, 20_000);
      }),
    ),
  );

  it(
    'is theirs again after a day, and an order that waited longer counts when it is done',
    alone(async (ada) => {
      const yesterday = await refund(ada, testSingleLimitCents);
      assert.equal(await look(yesterday), 'done');
      await age(yesterday, 24 * HOUR);
      const [first, second] = [await refund(ada, 40_000), await refund(ada, 40_000)];
      await age(first, 30 * HOUR);
      await age(second, 29 * HOUR);
      assert.equal(await look(second), 'done');
      assert.equal(await look(first), 'waiting');
      await waits(ada, 10_001);
    }),
  );
});
