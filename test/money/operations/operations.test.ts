import assert from 'node:assert/strict';
import { newId } from '../../../adapters/ids.js';
import { tick } from '../../../money/metering/tick.js';
import { operate } from '../../../money/operations/operations.js';
import { pullBrake, releaseBrake } from '../../../adapters/postgres/operators/brakes.js';
import { approveOrder } from '../../../adapters/postgres/operators/operator-orders.js';
import { openDatabase, type Database } from '../../../adapters/postgres/database.js';
import { verifyLedgerAgain } from '../../support/money/kept-plan.js';
import { databaseRoles } from '../../../migrations/roles.js';
import {
  getWallet,
  insertRunning,
  insertWallet,
  openMoneyDatabase,
  type MoneyDatabase,
} from '../../support/money/money.js';
import { placeOrder, testSingleLimitCents, urlAs } from '../../support/ops/operators.js';

describe('an operation’s transaction', () => {
  let database: MoneyDatabase;
  let worker: Database;
  let ada: Database;
  let bob: Database;
  before(async () => {
    database = await openMoneyDatabase();
    worker = openDatabase(database.url, 10, 'test-worker', databaseRoles.worker);
    [ada, bob] = [
      openDatabase(urlAs('ada', database.url), 2, 'ops'),
      openDatabase(urlAs('bob', database.url), 2, 'ops'),
    ];
    // All connections open before the first test, so that the concurrent calls really collide.
    await Promise.all(Array.from({ length: 10 }, () => worker.raw('select pg_sleep(0.1)')));
  });
  after(async () => {
    await Promise.all([worker, ada, bob].map((db) => db.destroy()));
    await database.close();
  });

  const run = (id: Parameters<typeof operate>[1]) => operate(worker, id, testSingleLimitCents);

  it('moves the money once when ten of the same run at once', async () => {
    const { db } = database;
    const { user_id: userId } = await insertWallet(db, 1_000);
    const order = await placeOrder(ada, { kind: 'adjust', userId, amountCents: -300 });
    const outcomes = await Promise.all(Array.from({ length: 10 }, () => run(order)));
    for (const outcome of outcomes) assert.deepEqual(outcome, { outcome: 'done' });
    assert.equal((await getWallet(db, userId)).available_cents, 700);
    assert.equal((await db('mail_outbox').where({ cause: `operation:${order}` })).length, 1);
    assert.deepEqual(await verifyLedgerAgain(db, userId), []);
  });

  it('never takes more than is available when ten different ones run at once', async () => {
    const { db } = database;
    const { user_id: userId } = await insertWallet(db, 1_000);
    const outcomes = await Promise.all(
      Array.from({ length: 10 }, async () =>
        run(await placeOrder(ada, { kind: 'adjust', userId, amountCents: -300 })),
      ),
    );
    const told = outcomes.map((outcome) => ('code' in outcome ? outcome.code : outcome.outcome));
    assert.equal(told.filter((outcome) => outcome === 'done').length, 3);
    assert.equal(told.filter((outcome) => outcome === 'insufficient_balance').length, 7);
    assert.equal((await getWallet(db, userId)).available_cents, 100);
    assert.deepEqual(await verifyLedgerAgain(db, userId), []);
  });

  for (const paused of [false, true])
    it(`takes nothing that a machine has used${paused ? ' while metering is paused' : ' and no tick has charged yet'}`, async () => {
      const { db } = database;
      const wallet = await insertWallet(db, 1_000);
      const userId = wallet.user_id;
      // Ten cents are used, four of them from the hold; the eleventh is a minute away.
      await insertRunning(db, wallet, { priceCents: 36, ranMs: 1_040_000, holdCents: 4 });
      if (paused)
        await db.transaction((trx) => pullBrake(trx, { kind: 'metering', by: 'ada', reason: 'test' }));
      const tooMuch = await placeOrder(ada, { kind: 'adjust', userId, amountCents: -991 });
      assert.deepEqual(await run(tooMuch), { outcome: 'refused', code: 'insufficient_balance' });
      const refused = await db('operator_orders').where({ id: tooMuch }).first();
      assert.match(refused?.message ?? '', /^Only 990 cents are available/);
      const all = await placeOrder(ada, { kind: 'adjust', userId, amountCents: -990 });
      assert.deepEqual(await run(all), { outcome: 'done' });
      if (paused) await db.transaction((trx) => releaseBrake(trx, 'metering'));
      await tick(db, { shard: 0, shards: 1 });
      const { available_cents: available, reserved_cents: reserved } = await getWallet(db, userId);
      assert.deepEqual([available, reserved], [0, 0], 'what was used is charged');
      assert.deepEqual(await verifyLedgerAgain(db, userId), []);
    });

  it('waits above the limit of one operator until another one approves, and is done once then', async () => {
    const { db } = database;
    const { user_id: userId } = await insertWallet(db, 0);
    const action = { kind: 'refund', userId, amountCents: testSingleLimitCents + 1 } as const;
    const order = await placeOrder(ada, action);
    assert.deepEqual(await run(order), { outcome: 'waiting' });
    assert.equal((await getWallet(db, userId)).available_cents, 0);
    await approveOrder(bob, order);
    for (const time of [1, 2]) assert.deepEqual(await run(order), { outcome: 'done' }, `time ${time}`);
    assert.equal((await getWallet(db, userId)).available_cents, testSingleLimitCents + 1);
    const action1 = await db('operator_actions').where({ id: order }).first();
    assert.equal(action1?.operator, 'ada, approved by bob');
  });

  it('needs two operators to give up an invoice above the limit', async () => {
    const { db } = database;
    const wallet = await insertWallet(db, 0);
    const invoiceId = newId('inv');
    await db('invoices').insert({
      id: invoiceId,
      user_id: wallet.user_id,
      wallet_id: wallet.id,
      status: 'open',
      reason: 'manual',
      amount_cents: testSingleLimitCents + 1,
      cause: `test:${invoiceId}`,
    });
    assert.deepEqual(await run(await placeOrder(ada, { kind: 'write_off_invoice', invoiceId })), {
      outcome: 'waiting',
    });
    assert.deepEqual(await run(await placeOrder(ada, { kind: 'void_invoice', invoiceId })), {
      outcome: 'waiting',
    });
  });

  it('does nothing that was rejected, and nothing without an order', async () => {
    const { db } = database;
    const { user_id: userId } = await insertWallet(db, 0);
    const order = await placeOrder(ada, { kind: 'refund', userId, amountCents: 1 });
    await bob('operator_orders').where({ id: order }).update({ status: 'rejected', rejected_why: 'no' });
    assert.deepEqual(await run(order), { outcome: 'refused', code: 'rejected' });
    assert.deepEqual(await run(newId('op')), { outcome: 'refused', code: 'not_found' });
    assert.equal((await getWallet(db, userId)).available_cents, 0);
  });
});
