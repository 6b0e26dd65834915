import assert from 'node:assert/strict';
import { readAffected, type AffectedRental } from '../../../adapters/postgres/operators/affected-rentals.js';
import { openDatabase, type Database } from '../../../adapters/postgres/database.js';
import {
  beginRefunds,
  finishRefunds,
  OrderEnded,
  refundItem,
} from '../../../money/operations/refund-rentals.js';
import { approveOrder, rejectOrder } from '../../../adapters/postgres/operators/operator-orders.js';
import type { OperationId, RentalId } from '../../../domain/ids.js';
import type { TimeWindow } from '../../../domain/metering/window-charge.js';
import { databaseRoles } from '../../../migrations/roles.js';
import { credit, getRental, getWallet, insertWallet, onVerifiedDatabase } from '../../support/money/money.js';
import { operateNow, testSingleLimitCents, urlAs } from '../../support/ops/operators.js';
import { carryOutOrder, orderAffected, readGiven } from '../../support/story/refunding.js';
import { ToldLedger } from '../../support/money/told-ledger.js';
import { centsBetween, readEarned } from '../../support/money/window-oracle.js';

/** The told ledger's machines cost a tenth of a cent a second. */
const MINUTE = 60_000;

describe('refunds of many by one order (decision 94)', () => {
  let db: Database;
  let worker: Database;
  let ada: Database;
  let bob: Database;
  // The clients close before the database does.
  after(() => Promise.all([worker, ada, bob].map((one) => one.destroy())));
  onVerifiedDatabase((opened) => {
    db = opened.db;
    worker = openDatabase(opened.url, 10, 'test-worker', databaseRoles.worker);
    [ada, bob] = [
      openDatabase(urlAs('ada', opened.url), 2, 'ops'),
      openDatabase(urlAs('bob', opened.url), 2, 'ops'),
    ];
  });

  async function newUser(): Promise<ToldLedger> {
    const { user_id: userId } = await insertWallet(db, 0);
    await credit(db, userId, 100_000);
    return new ToldLedger(db, userId);
  }

  /** The window between two instants, each this long ago. */
  async function ago(fromMs: number, toMs: number): Promise<TimeWindow> {
    const { rows } = await db.raw<{ rows: { now: Date }[] }>('select clock_ms() as now');
    const now = rows[0]!.now.getTime();
    return { from: new Date(now - fromMs), to: new Date(now - toMs) };
  }

  const affected = async (id: RentalId, window: TimeWindow): Promise<AffectedRental> =>
    (await readAffected(ada, 'lab', window, 1_000)).find(({ rentalId }) => rentalId === id) ??
    assert.fail(`${id} is not affected`);
  const refundable = async (id: RentalId, window: TimeWindow): Promise<number> =>
    (await affected(id, window)).refundableCents;

  const carryOut = (orderId: OperationId) => carryOutOrder(worker, orderId);
  const given = (orderId: OperationId) => readGiven(worker, orderId);
  const available = async (user: ToldLedger) => (await getWallet(db, user.userId)).available_cents;

  it('equal the window’s charges by the entries, cent by cent', async () => {
    const user = await newUser();
    const ids = [
      await user.runMachine(63 * MINUTE),
      await user.runMachine(17 * MINUTE),
      await user.runMachine(45 * MINUTE, { maxSpendCents: 200 }),
      await user.runMachine(30 * MINUTE),
      await user.runMachine(59_000),
    ];
    await user.stopMachine(ids[1]!);
    await user.stopMachine(ids[2]!);
    await user.loseMachine(ids[3]!, 9 * MINUTE);
    await user.loseMachine(ids[4]!, 30_000);
    const spans = [
      ...[
        [70, 0],
        [60, 20],
        [33, 31],
        [20, 8],
        [10, 9],
        [5, 4],
      ].map(([a, b]) => [a! * MINUTE, b! * MINUTE]),
      ...[
        [1_234_567, 345_678],
        [29_999, 1],
        [1_200_001, 1_190_000],
      ],
    ];
    for (const [from, to] of spans) {
      const window = await ago(from!, to!);
      const rentals = await readAffected(ada, 'lab', window, 1_000);
      for (const id of ids) {
        const earned = await readEarned(db, id);
        const ran = earned.runningMs < window.to.getTime() && earned.endedMs > window.from.getTime();
        const row = rentals.find(({ rentalId }) => rentalId === id);
        assert.equal(row !== undefined, ran, `${id} ran within ${from} to ${to}`);
        if (!row) continue;
        const cents = centsBetween(earned, window.from.getTime(), window.to.getTime());
        assert.equal(row.chargedCents, cents, `${id} within ${from} to ${to}`);
        assert.equal(row.refundableCents, cents, 'all of it is left');
      }
    }
    assert.deepEqual(await readAffected(ada, 'another', await ago(MINUTE, 0), 1_000), []);
  });

  it('give each rental the amount of its row, once, however often and concurrently they run', async () => {
    const users = [await newUser(), await newUser()];
    const ids: RentalId[] = [];
    for (const user of users)
      ids.push(await user.runMachine(20 * MINUTE), await user.runMachine(30 * MINUTE));
    const before = await Promise.all(users.map(available));
    const window = await ago(15 * MINUTE, 5 * MINUTE);
    const orderId = await orderAffected(ada, window, ids);
    assert.deepEqual(await beginRefunds(worker, orderId, testSingleLimitCents), { outcome: 'begun' });
    const items = await db('operator_order_items').where({ order_id: orderId });
    assert.deepEqual(
      items.map(({ amount_cents }) => amount_cents),
      [60, 60, 60, 60],
    );
    await Promise.all(
      Array.from({ length: 5 }, () =>
        Promise.all(items.map(({ rental_no }) => refundItem(worker, orderId, rental_no))),
      ).flat(),
    );
    assert.deepEqual(await finishRefunds(worker, orderId), { outcome: 'done' });
    assert.deepEqual(await finishRefunds(worker, orderId), { outcome: 'done' });
    for (const [i, user] of users.entries()) {
      const entries = await db('ledger_entries')
        .where({ wallet_id: (await getWallet(db, user.userId)).id, type: 'refund' })
        .orderBy('seq');
      assert.deepEqual(
        entries.map(({ amount_cents, rental_no }) => [amount_cents, rental_no]),
        [
          [60, null],
          [60, null],
        ],
      );
      assert.equal((await available(user)) - before[i]!, 120);
      const mails = await db('mail_outbox').where({ cause: `operation:${orderId}:${user.userId}` });
      assert.deepEqual(
        mails.map(({ subject }) => subject),
        ['We added $1.20 to your wallet'],
      );
      const audited = await db('audit_events').where({ user_id: user.userId, kind: 'changed_by_operator' });
      assert.deepEqual(
        audited.map(({ entity_id }) => entity_id).sort(),
        ids
          .slice(2 * i, 2 * i + 2)
          .map((id) => `${orderId}:${id}`)
          .sort(),
      );
    }
    const order = await db('operator_orders').where({ id: orderId }).first();
    assert.deepEqual([order?.status, order?.result], ['done', { rentals: 4, refundedCents: 240 }]);
  });

  it('leave a rental’s own charges as they were metered', async () => {
    const user = await newUser();
    const id = await user.runMachine(20 * MINUTE);
    await carryOut(await orderAffected(ada, await ago(20 * MINUTE, 0), [id]));
    await user.stopMachine(id);
    const { charged_cents, refunded_cents } = await getRental(db, id);
    assert.deepEqual([charged_cents, refunded_cents], [120, 0]);
  });

  describe('never give back more than was charged', () => {
    it('when a refund by hand came before, or comes between the order and its doing', async () => {
      const user = await newUser();
      const id = await user.runMachine(20 * MINUTE);
      const single = (amountCents: number) =>
        operateNow(db, { kind: 'refund', userId: user.userId, amountCents, rentalId: id });
      const window = await ago(10 * MINUTE, 0);
      await single(15);
      assert.deepEqual([(await affected(id, window)).refundedCents, await refundable(id, window)], [15, 45]);
      const orderId = await orderAffected(ada, window, [id]);
      await single(30);
      assert.deepEqual([...(await carryOut(orderId)).values()], [15]);
      assert.equal(await refundable(id, window), 0);
    });

    it('when two orders for windows that overlap are made before either is done', async () => {
      const user = await newUser();
      const id = await user.runMachine(40 * MINUTE);
      await user.stopMachine(id);
      const [one, other] = [await ago(30 * MINUTE, 10 * MINUTE), await ago(20 * MINUTE, 5 * MINUTE)];
      // The orders are made as by two operators at the same moment: neither sees the other's.
      const orders = [
        await orderAffected(ada, one, [id], { cents: [120] }),
        await orderAffected(bob, other, [id], { cents: [90] }),
      ];
      await Promise.all(orders.map((order) => beginRefunds(worker, order, testSingleLimitCents)));
      const { no } = await getRental(db, id);
      await Promise.all(orders.map((order) => refundItem(worker, order, no)));
      const got = await Promise.all(orders.map(async (order) => (await given(order)).get(id)!));
      assert.equal(got[0]! + got[1]!, 150, 'what both windows cover, once');
      assert.equal(await refundable(id, await ago(40 * MINUTE, 0)), 90, 'the rest of what it was charged');
      for (const order of orders) {
        assert.deepEqual(await finishRefunds(worker, order), { outcome: 'done' });
      }
    });

    it('when another order waits: what it asks for is left out until it is rejected', async () => {
      const user = await newUser();
      const id = await user.runMachine(20 * MINUTE);
      const window = await ago(10 * MINUTE, 0);
      const first = await orderAffected(ada, window, [id]);
      const { orderedCents, refundableCents } = await affected(id, window);
      assert.deepEqual([orderedCents, refundableCents], [60, 0]);
      await rejectOrder(bob, first, 'a slip');
      assert.equal(await refundable(id, window), 60);
    });

    it('when the machine turns out lost: what settling may give back waits for it', async () => {
      const user = await newUser();
      const id = await user.runMachine(20 * MINUTE);
      const window = await ago(15 * MINUTE, 0);
      const { rows } = await db.raw<{ rows: { at: Date }[] }>(
        `update pods set missing_lists = 1, last_alive_at = clock_ms() - interval '10 minutes'
          where pod_id = ? returning last_alive_at as at`,
        [`pod-${id}`],
      );
      const { chargedCents, unsettledCents, refundableCents } = await affected(id, window);
      assert.deepEqual([chargedCents, chargedCents - unsettledCents, refundableCents], [90, 30, 30]);
      assert.deepEqual([...(await carryOut(await orderAffected(ada, window, [id]))).values()], [30]);
      await user.loseMachine(id, Date.now() - rows[0]!.at.getTime());
      const { charged_cents, refunded_cents } = await getRental(db, id);
      assert.equal(charged_cents - refunded_cents, 60);
      assert.equal(await refundable(id, window), 0, 'the rest came back by settling');
      assert.equal(await refundable(id, await ago(60 * MINUTE, 0)), 30);
    });

    it('when all was given back between the order and its doing: it is done, and gives nothing', async () => {
      const user = await newUser();
      const id = await user.runMachine(20 * MINUTE);
      const orderId = await orderAffected(ada, await ago(10 * MINUTE, 0), [id]);
      await operateNow(db, { kind: 'refund', userId: user.userId, amountCents: 120, rentalId: id });
      const before = await available(user);
      assert.deepEqual([...(await carryOut(orderId)).values()], [0]);
      assert.equal(await available(user), before);
      assert.deepEqual(await db('mail_outbox').where('cause', 'like', `operation:${orderId}%`), []);
    });
  });

  it('wait above the limit of one operator by their sum, and go on once another one has approved', async () => {
    const user = await newUser();
    const ids = [await user.runMachine(20 * MINUTE), await user.runMachine(20 * MINUTE)];
    const orderId = await orderAffected(ada, await ago(10 * MINUTE, 0), ids);
    // Each item is below the limit, and both together are above it.
    assert.deepEqual(await beginRefunds(worker, orderId, 100), { outcome: 'waiting' });
    assert.equal(await db('operator_actions').where({ id: orderId }).first(), undefined);
    await assert.rejects(approveOrder(ada, orderId), { code: 'forbidden' });
    await approveOrder(bob, orderId);
    assert.deepEqual(await beginRefunds(worker, orderId, 100), { outcome: 'begun' });
    assert.deepEqual([...(await carryOut(orderId)).values()], [60, 60]);
  });

  it('end where somebody rejects them half-way: what is done stays, and nothing more is', async () => {
    const user = await newUser();
    const ids = [await user.runMachine(20 * MINUTE), await user.runMachine(20 * MINUTE)];
    const orderId = await orderAffected(ada, await ago(10 * MINUTE, 0), ids);
    await beginRefunds(worker, orderId, testSingleLimitCents);
    const [first, second] = [await getRental(db, ids[0]!), await getRental(db, ids[1]!)];
    await refundItem(worker, orderId, first.no);
    assert.equal(await finishRefunds(worker, orderId), undefined);
    await rejectOrder(bob, orderId, 'the wrong window');
    await assert.rejects(refundItem(worker, orderId, second.no), OrderEnded);
    assert.deepEqual(await beginRefunds(worker, orderId, testSingleLimitCents), {
      outcome: 'refused',
      code: 'rejected',
    });
    assert.deepEqual((await given(orderId)).get(ids[1]!), null);
    assert.notEqual(await db('operator_actions').where({ id: orderId }).first(), undefined, 'its trace');
  });
});
