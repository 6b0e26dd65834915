import assert from 'node:assert/strict';
import { newId } from '../../../adapters/ids.js';
import type { Database } from '../../../adapters/postgres/database.js';
import { insertStopRequest } from '../../../adapters/postgres/rentals/stop-requests.js';
import type { WalletRow } from '../../../adapters/postgres/rows/tables.js';
import {
  lookAtBudgets,
  tellReached,
  type Reached,
} from '../../../adapters/postgres/spending/budget-alerts.js';
import { monthSql, readBudgetUse, sharesSql } from '../../../adapters/postgres/spending/budgets.js';
import { countedOf } from '../../../adapters/postgres/rentals/facts.js';
import type { RentalId } from '../../../domain/ids.js';
import { accruedCents } from '../../../domain/metering/metering.js';
import { percentsReached, shareOfMonth, type CountedRental } from '../../../domain/spending/pots.js';
import { tick } from '../../../money/metering/tick.js';
import { settleEnded } from '../../../money/rentals/lifecycle.js';
import { getRental, insertRunning, insertWallet, openMoneyDatabase } from '../../support/money/money.js';
import { VirtualClock } from '../../support/money/virtual-clock.js';

const HOUR_MS = 3_600_000;

const times = {
  march: '2026-03-31T12:00:00Z',
  april: '2026-04-01T00:00:00Z',
  later: '2026-04-02T00:00:00Z',
};

/** The columns of rentals that begin and end before and in April, with each kind of limit, also below what they cost. */
function rowsOfAllStates(): object[] {
  const { march, april, later } = times;
  const runs = [
    { status: 'provisioning', running_at: null, ended_at: null },
    { status: 'running', running_at: '2026-03-30T00:00:00Z', ended_at: null },
    { status: 'running', running_at: '2026-04-01T06:00:00Z', ended_at: null },
    ...[march, april, later].map((ended_at) => ({ running_at: '2026-03-30T00:00:00Z', ended_at })),
    { running_at: '2026-04-01T06:00:00Z', ended_at: later },
  ];
  const settled = { settled_at: later, hold_cents: 0, refunded_cents: 30, overage_cents: 50 };
  return runs.flatMap((run) =>
    [100, 4_799, 4_801, 7_000].flatMap((charged_cents) =>
      [null, 1_000, 4_810, 90_000].flatMap((max_spend_cents) => {
        const row = { status: 'stopping', ...run, charged_cents, max_spend_cents };
        return run.ended_at === null ? [row] : [row, { ...row, ...settled }];
      }),
    ),
  );
}

describe('what a month has cost of its budget', () => {
  let db: Database;
  let clock: VirtualClock;
  let close: () => Promise<void>;
  let wallet: WalletRow;
  before(async () => {
    const money = await openMoneyDatabase();
    ({ db } = money);
    close = () => money.close();
    clock = await VirtualClock.install(db);
  });
  beforeEach(async () => {
    // Each test begins in the middle of a month.
    await db.raw(`update virtual_clock set at = '2026-03-10T00:00:00Z'`);
    wallet = await insertWallet(db, 1_000_000);
  });
  after(() => close());

  async function budget(monthly: number, hard = false): Promise<void> {
    await db('budgets').insert({ user_id: wallet.user_id, monthly_cents: monthly, hard });
  }

  async function look(): Promise<Reached[]> {
    await tick(db, { shard: 0, shards: 1 });
    const { reached } = await lookAtBudgets(db, undefined);
    const own = reached.filter(({ userId }) => userId === wallet.user_id);
    for (const one of own) {
      // What was told before are the lower ones.
      const all = percentsReached(one.spentCents, one.monthlyCents);
      assert.deepEqual(one.percents, all.slice(-one.percents.length), 'as the domain finds them');
      await tellReached(db, one);
    }
    return own;
  }

  async function told(): Promise<number[]> {
    const rows = await db('event_outbox')
      .where({ user_id: wallet.user_id, type: 'budget.reached' })
      .orderBy('no')
      .select<{ data: { percent: number } }[]>('data');
    return rows.map(({ data }) => data.percent);
  }

  it('is told at a half, at four fifths and at the whole, once each', async () => {
    await budget(1_000);
    await insertRunning(db, wallet, { priceCents: 100, ranMs: 0 });
    await clock.pass(5 * HOUR_MS - 1);
    assert.deepEqual(await look(), [], 'one cent before the half');
    await clock.pass(1);
    await look();
    assert.deepEqual(await told(), [50]);
    await clock.pass(3 * HOUR_MS);
    await look();
    await look();
    assert.deepEqual(await told(), [50, 80]);
    await clock.pass(10 * HOUR_MS);
    await look();
    assert.deepEqual(await told(), [50, 80, 100]);
    const notices = await db('user_notices').where({ user_id: wallet.user_id }).orderBy('id');
    assert.deepEqual(
      notices.map(({ cause }) => cause),
      [50, 80, 100].map((percent) => `budget-reached:${wallet.user_id}:2026-03:${percent}`),
    );
    assert.deepEqual(notices[1]?.facts, {
      ...{ month: '2026-03', percent: 80, spentCents: 800, monthlyCents: 1_000, hard: false },
    });
  });

  it('is told again in the next month, of which only its own cents count', async () => {
    await budget(1_000);
    await insertRunning(db, wallet, { priceCents: 100, ranMs: 0 });
    await db.raw(`update virtual_clock set at = '2026-03-31T23:00:00Z'`);
    await look();
    await db.raw(`update virtual_clock set at = '2026-04-01T04:59:59.999Z'`);
    await look();
    assert.deepEqual(await told(), [50, 80, 100], 'nothing of April yet');
    const { spentCents, month, endsAt } = await readBudgetUse(db, wallet.user_id);
    assert.deepEqual([month, spentCents, endsAt.toISOString()], ['2026-04', 499, '2026-05-01T00:00:00.000Z']);
    await clock.pass(1);
    await look();
    assert.deepEqual(await told(), [50, 80, 100, 50]);
  });

  it('adds up over the turn of the month to what the rental cost, however late it was metered', async () => {
    const id = await insertRunning(db, wallet, { priceCents: 777, ranMs: 0, maxSpendCents: 900_000 });
    await db.raw(`update virtual_clock set at = '2026-03-31T23:59:59.999Z'`);
    await tick(db, { shard: 0, shards: 1 });
    const march = await readBudgetUse(db, wallet.user_id);
    // Nobody metered the first ten hours of April, nor the last second of March.
    await db.raw(`update virtual_clock set at = '2026-04-01T10:00:00Z'`);
    await insertStopRequest(db, (await getRental(db, id)).no, 'user');
    await clock.pass(1);
    await tick(db, { shard: 0, shards: 1 });
    const running = await readBudgetUse(db, wallet.user_id);
    await settleEnded(db, id);
    const april = await readBudgetUse(db, wallet.user_id);
    const { charged_cents: cost, running_at: runningAt } = await getRental(db, id);
    const ofMarch = accruedCents(777, Date.UTC(2026, 3, 1) - runningAt!.getTime());
    assert.ok(ofMarch - march.spentCents <= 1, 'a millisecond before the turn');
    assert.equal(march.reservedCents + march.spentCents, 900_000);
    assert.equal(april.spentCents, cost - ofMarch);
    assert.equal(april.reservedCents, 0);
    assert.ok(april.spentCents <= running.spentCents + running.reservedCents);
    assert.ok(Math.abs(april.spentCents - 7_770) <= 1, 'ten hours, to the cent that the turn divides');
  });

  it('counts a rental that ended before the turn, and was settled after it, in the month of its end', async () => {
    const id = await insertRunning(db, wallet, { priceCents: 777, ranMs: 0, maxSpendCents: 900_000 });
    await db.raw(`update virtual_clock set at = '2026-03-31T23:59:59.900Z'`);
    await insertStopRequest(db, (await getRental(db, id)).no, 'user');
    await clock.pass(1);
    await tick(db, { shard: 0, shards: 1 });
    await db.raw(`update virtual_clock set at = '2026-04-01T00:00:05Z'`);
    const open = await readBudgetUse(db, wallet.user_id);
    await settleEnded(db, id);
    const settled = await readBudgetUse(db, wallet.user_id);
    assert.deepEqual(
      [open.spentCents, open.reservedCents, settled.spentCents, settled.reservedCents],
      [0, 0, 0, 0],
    );
  });

  it('is of each rental what the domain says, whatever its state, and beyond its limit too', async () => {
    await db.raw(`update virtual_clock set at = '2026-04-03T00:00:00Z'`);
    for (const row of rowsOfAllStates()) {
      const id = await insertRunning(db, wallet, { priceCents: 100, ranMs: 0, holdCents: 0 });
      await db('rentals').where({ id }).update(row);
    }
    const { rows: shares } = await db.raw<{ rows: { id: RentalId; spent: number; reserved: number }[] }>(
      `with m as (select ${monthSql} as at), u as (select :userId::text as user_id) ${sharesSql}`,
      { userId: wallet.user_id },
    );
    assert.equal(shares.length, rowsOfAllStates().length);
    const counted = new Map<string, CountedRental>();
    for (const { id } of shares) counted.set(id, countedOf(await getRental(db, id)));
    for (const { id, spent, reserved } of shares) {
      const due = shareOfMonth(counted.get(id)!, Date.parse(times.april));
      const facts = JSON.stringify(counted.get(id));
      assert.deepEqual({ spentCents: spent, reservedCents: reserved }, due, facts);
    }
  });

  it('is not looked at again while nothing runs and nothing was settled', async () => {
    await budget(1_000);
    const id = await insertRunning(db, wallet, { priceCents: 100, ranMs: 0 });
    await clock.pass(5 * HOUR_MS);
    await insertStopRequest(db, (await getRental(db, id)).no, 'user');
    await clock.pass(1);
    await tick(db, { shard: 0, shards: 1 });
    await settleEnded(db, id);
    const untold = (await lookAtBudgets(db, undefined)).reached;
    assert.equal(untold.length, 1);
    await clock.pass(HOUR_MS);
    assert.equal((await lookAtBudgets(db, undefined)).reached.length, 1, 'until it was told');
    await look();
    await look();
    const lookedAt = async () => (await db('budgets').where({ user_id: wallet.user_id }).first())?.looked_at;
    const before = await lookedAt();
    assert.ok(before);
    await clock.pass(HOUR_MS);
    await look();
    await look();
    const settledLongAgo = await lookedAt();
    await clock.pass(HOUR_MS);
    await look();
    assert.deepEqual(await lookedAt(), settledLongAgo);
    assert.deepEqual(await told(), [50]);
  });

  it('is looked at page by page', async () => {
    const ids = Array.from({ length: 201 }, () => newId('usr')).sort();
    await db('users').insert(ids.map((id) => ({ id, email: `${id.toLowerCase()}@example.com` })));
    await db('budgets').insert(ids.map((id) => ({ user_id: id, monthly_cents: 5 })));
    const { last } = await lookAtBudgets(db, undefined);
    assert.ok(last);
    assert.equal((await lookAtBudgets(db, last)).last, undefined);
  });
});
