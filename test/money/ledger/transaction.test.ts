import assert from 'node:assert/strict';
import { openDatabase, type Database } from '../../../adapters/postgres/database.js';
import { UserBusy } from '../../../adapters/postgres/requests/user-turns.js';
import { moneyTransaction } from '../../../money/ledger/transaction.js';
import { lockWalletOfUser } from '../../../money/ledger/wallets.js';
import type { UserId } from '../../../domain/ids.js';
import { requestLimits } from '../../../domain/requests/limits.js';
import { insertWallet, openMoneyDatabase, type MoneyDatabase } from '../../support/money/money.js';
import { until } from '../../support/until.js';

describe('the turns of users at their wallets', () => {
  let money: MoneyDatabase;
  let pool: Database;
  before(async () => {
    money = await openMoneyDatabase();
  });
  after(() => money.close());
  beforeEach(() => {
    pool = openDatabase(money.url, 3, 'turns-test');
  });
  afterEach(() => pool.destroy());

  async function userWithWallet(): Promise<UserId> {
    return (await insertWallet(money.db, 100)).user_id;
  }

  function work(userId: UserId, waitMs?: number): Promise<number> {
    return moneyTransaction(
      pool,
      userId,
      async (trx) => (await lockWalletOfUser(trx, userId)).availableCents,
      waitMs,
    );
  }

  /** Holds a wallet as a slow create does. */
  async function hold(userId: UserId): Promise<{ release(): Promise<unknown> }> {
    const trx = await money.db.transaction();
    await lockWalletOfUser(trx, userId);
    return { release: () => trx.rollback() };
  }

  function used(): number {
    return (pool.client as { pool: { numUsed(): number } }).pool.numUsed();
  }

  it('take one connection, however many wait for one wallet', async () => {
    const [slow, other] = [await userWithWallet(), await userWithWallet()];
    const held = await hold(slow);
    const waiting = Array.from({ length: 1 + requestLimits.userTurnsWaiting }, () => work(slow, 30_000));
    try {
      await until('the first waits for the lock', () => used() === 1);
      for (let n = 0; n < 20; n += 1) assert.equal(await work(other), 100);
      assert.equal(used(), 1);
    } finally {
      await held.release();
    }
    assert.deepEqual(new Set(await Promise.all(waiting)), new Set([100]));
    assert.equal(used(), 0);
  });

  it('are refused at once when too many wait, and after their time otherwise; nothing leaks', async () => {
    const slow = await userWithWallet();
    const held = await hold(slow);
    const first = work(slow);
    const waiting = Array.from({ length: requestLimits.userTurnsWaiting }, () => work(slow, 300));
    const outcomes = Promise.allSettled(waiting);
    await assert.rejects(work(slow), UserBusy, 'at once, while all others wait');
    for (const outcome of await outcomes) {
      assert.ok(outcome.status === 'rejected' && outcome.reason instanceof UserBusy);
    }
    await held.release();
    assert.equal(await first, 100);
    assert.equal(await work(slow), 100, 'the turn was passed on');
  });

  it('are passed on by work that fails, in the order in which they were asked for', async () => {
    const userId = await userWithWallet();
    const order: number[] = [];
    const turns = [1, 2, 3, 4].map((n) =>
      moneyTransaction(pool, userId, () => {
        order.push(n);
        return n % 2 === 0 ? Promise.reject(new Error(`${n} fails`)) : Promise.resolve(n);
      }),
    );
    const outcomes = await Promise.allSettled(turns);
    assert.deepEqual(order, [1, 2, 3, 4]);
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled', 'rejected'],
    );
  });
});
