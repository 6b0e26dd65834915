import assert from 'node:assert/strict';
import { createRequestBudget } from '../../../../adapters/postgres/requests/request-budgets.js';
import { createUpstream } from '../../../../adapters/providers/upstream/upstream.js';
import { ProviderError } from '../../../../adapters/providers/provider.js';
import type { QuotaWindow } from '../../../../adapters/providers/upstream/quotas.js';
import type { RequestBudget, RequestUse } from '../../../../adapters/providers/upstream/request-budget.js';
import { openMoneyDatabase, type MoneyDatabase } from '../../../support/money/money.js';

describe('the request budget of an upstream', () => {
  let database: MoneyDatabase;
  before(async () => {
    database = await openMoneyDatabase();
  });
  after(() => database.close());

  async function spend(budget: RequestBudget, use: RequestUse, times: number): Promise<number> {
    const waits = await Promise.all(Array.from({ length: times }, () => budget.take(use)));
    return waits.filter((waitMs) => waitMs === 0).length;
  }

  it('lets lists have three quarters, and keeps the rest for buying and ending pods', async () => {
    const budget = createRequestBudget(database.db, 'quarters', 20);
    assert.equal(await spend(budget, 'reading', 30), 15);
    assert.equal(await spend(budget, 'acting', 30), 5);
    const waitMs = await budget.take('acting');
    assert.ok(waitMs > 0 && waitMs <= 60_000, `${waitMs} ms`);
  });

  it('lets renewals of end dates have an eighth, and fails those beyond it as out of turn', async () => {
    const budget = createRequestBudget(database.db, 'eighths', 40);
    assert.equal(await spend(budget, 'renewing', 30), 5);
    assert.equal(await spend(budget, 'reading', 40), 30);
    assert.equal(await spend(budget, 'acting', 30), 5, 'and what is left of the rest can still act');
    const upstream = createUpstream({ url: 'http://127.0.0.1:1', headers: {}, timeoutMs: 1_000, budget });
    const renewal = upstream.call('renewing', { method: 'POST', path: '/', use: 'renewing' });
    await assert.rejects(renewal, (error: ProviderError) => error.details.outOfTurn === true);
    const act = upstream.call('buying', { method: 'POST', path: '/' });
    await assert.rejects(act, (error: ProviderError) => error.details.outOfTurn === undefined);
  });

  it('gives one turn in each stretch of a pace, whoever asks, and tells when the next one is free', async () => {
    const budgets = [1, 2].map(() => createRequestBudget(database.db, 'turns', 1_000));
    const pace = { name: 'launch', everyMs: 400 };
    const turns = await Promise.all(budgets.map((budget) => budget.takeTurn(pace, 0)));
    const late = turns.filter(({ isTaken }) => !isTaken);
    assert.equal(late.length, 1);
    const { waitMs } = late[0]!;
    assert.ok(waitMs > 0 && waitMs <= 400, `${waitMs} ms`);
    const now = { isTaken: true, waitMs: 0 };
    assert.deepEqual(await budgets[0]!.takeTurn({ name: 'list', everyMs: 400 }, 0), now);
    await new Promise((resolve) => setTimeout(resolve, waitMs + 20));
    assert.deepEqual(await budgets[1]!.takeTurn(pace, 0), now);
  });

  it('gives the next turns in the order of asking, and none to those who can’t wait for theirs', async () => {
    const budgets = [1, 2].map(() => createRequestBudget(database.db, 'in-order', 1_000));
    const pace = { name: 'list', everyMs: 60_000 };
    const ask = (index: number, mostWaitMs: number) => budgets[index % 2]!.takeTurn(pace, mostWaitMs);
    const waits: number[] = [];
    for (let nth = 0; nth < 4; nth += 1) {
      const { isTaken, waitMs } = await ask(nth, 200_000);
      assert.equal(isTaken, true);
      waits.push(Math.ceil(waitMs / 60_000));
    }
    assert.deepEqual(waits, [0, 1, 2, 3]);
    const refused = await ask(0, 5_000);
    assert.equal(refused.isTaken, false);
    assert.ok(refused.waitMs > 180_000 && refused.waitMs <= 240_000, `${refused.waitMs} ms`);
    // Whoever was refused has taken nobody's turn.
    const next = await ask(1, 240_000);
    assert.deepEqual([next.isTaken, Math.ceil(next.waitMs / 60_000)], [true, 4]);
    const together = await Promise.all(Array.from({ length: 6 }, (_, index) => ask(index, 1_000_000)));
    assert.deepEqual(
      together.map(({ waitMs }) => Math.ceil(waitMs / 60_000)).sort((a, b) => a - b),
      [5, 6, 7, 8, 9, 10],
    );
  });

  it('is one for all workers', async () => {
    const budgets = [1, 2, 3].map(() => createRequestBudget(database.db, 'shared', 10));
    const allowed = await Promise.all(budgets.map((budget) => spend(budget, 'acting', 10)));
    assert.equal(
      allowed.reduce((sum, count) => sum + count, 0),
      10,
    );
  });

  describe('that has learned the upstream’s quotas', () => {
    const window = (remaining: number, resetMs = 60_000): QuotaWindow[] => [
      { name: 'day', quota: 100, windowMs: 60_000, remaining, resetMs },
    ];
    const told = (code: string, windows = window(100)) => {
      // Without slack, each read must wait for the one before.
      const budget = createRequestBudget(database.db, code, 1_000_000, 0);
      return budget.learn(windows).then(() => budget);
    };
    const passMs = (code: string, ms: number) =>
      database.db.raw(
        `update provider_quotas set next_read_at = next_read_at - ? * interval '1 millisecond',
                told_at = told_at - ? * interval '1 millisecond' where provider_code = ?`,
        [ms, ms, code],
      );

    /** A wait counts from the read before it, and is shorter by what passed since. */
    function assertPaced(waitMs: number, apartMs: number, begunMs: number): void {
      const leastMs = apartMs - (performance.now() - begunMs) - 10;
      assert.ok(waitMs <= apartMs && waitMs >= leastMs, `${waitMs} ms, not ${leastMs} to ${apartMs}`);
    }

    it('puts nothing off before an upstream has told any', async () => {
      const budget = createRequestBudget(database.db, 'tells-nothing', 1_000_000, 0);
      for (let n = 0; n < 20; n += 1) assert.equal(await budget.pace(1), 0);
    });

    it('spaces reads evenly over what is left of the tightest window, but for the reserve', async () => {
      const hour = { name: 'hour', quota: 3_000, windowMs: 3_600_000, remaining: 3_000, resetMs: 3_600_000 };
      const budget = await told('evenly', [
        hour,
        ...window(100),
        { ...hour, name: 'lax', quota: 9_000, remaining: 9_000 },
      ]);
      const begunMs = performance.now();
      assert.equal(await budget.pace(1), 0);
      // An hour divided by three quarters of its 3,000. The other windows would give 800 and 533 ms.
      assertPaced(await budget.pace(1), 1_600, begunMs);
      assert.equal(await budget.take('acting'), 0, 'what buys and ends pods is never put off');
    });

    it('is one for all workers, and puts off as long as all their reads cost', async () => {
      const one = await told('two-workers');
      const other = createRequestBudget(database.db, 'two-workers', 1_000_000, 0);
      const begunMs = performance.now();
      const waits = await Promise.all([one.pace(4), other.pace(4)]);
      assert.deepEqual(waits.map((waitMs) => waitMs === 0).sort(), [false, true]);
      // Four reads of 800 ms.
      assertPaced(Math.max(...waits), 3_200, begunMs);
      await passMs('two-workers', 3_300);
      assert.equal(await other.pace(1), 0);
    });

    it('never goes beyond three quarters of a window, and reads until its end', async () => {
      const budget = await told('to-the-end');
      const reads: number[] = [];
      // A minute in steps of half a second; each answer reports the reads so far.
      for (let ms = 0; ms < 59_000; ms += 500) {
        if ((await budget.pace(1)) === 0) {
          reads.push(ms);
          await budget.learn(window(100 - reads.length, 60_000 - ms));
        }
        await passMs('to-the-end', 500);
      }
      assert.ok(reads.length >= 55 && reads.length <= 75, `${reads.length} reads`);
      const gaps = reads.slice(1).map((ms, index) => ms - reads[index]!);
      assert.ok(Math.max(...gaps) <= 2_000, gaps.join());
    });

    it('reads once a minute still when all is used up, and as before once the window is over', async () => {
      const budget = await told('used-up', window(0, 3_600_000));
      assert.equal(await budget.pace(4), 0);
      const waitMs = await budget.pace(1);
      assert.ok(waitMs > 55_000 && waitMs <= 60_000, `${waitMs} ms`);
      await budget.learn(window(100, 1));
      await passMs('used-up', 60_100);
      const begunMs = performance.now();
      assert.equal(await budget.pace(1), 0);
      // By the policy alone.
      assertPaced(await budget.pace(1), 800, begunMs);
    });

    it('follows windows that change, and forgets those that are told no more', async () => {
      const budget = await told('changing', window(26, 600_000));
      assert.equal(await budget.pace(1), 0);
      assert.ok((await budget.pace(1)) > 50_000);
      await passMs('changing', 60_000);
      await budget.learn([{ name: 'second', quota: 100, windowMs: 1_000, remaining: 100, resetMs: 1_000 }]);
      for (let n = 0; n < 3; n += 1) {
        assert.equal(await budget.pace(1), 0);
        assert.ok((await budget.pace(1)) <= 20);
        await passMs('changing', 20);
      }
      await budget.learn(window(26, 600_000));
      assert.equal(await budget.pace(1), 0);
      await passMs('changing', 16 * 60_000);
      for (let n = 0; n < 20; n += 1) assert.equal(await budget.pace(1), 0, 'a quarter of an hour old');
    });
  });

  it('sends nothing that it does not allow', async () => {
    const budget: RequestBudget = {
      take: () => Promise.resolve(1_234),
      takeTurn: () => Promise.resolve({ isTaken: true, waitMs: 0 }),
      pace: () => Promise.resolve(0),
      learn: () => Promise.resolve(),
    };
    // Nobody listens at this address: a request that was sent would fail otherwise.
    const upstream = createUpstream({ url: 'http://127.0.0.1:9', headers: {}, timeoutMs: 500, budget });
    await assert.rejects(upstream.call('asking', { method: 'POST', path: '/x' }), (error: ProviderError) => {
      assert.ok(error instanceof ProviderError);
      assert.equal(error.kind, 'rate_limited');
      assert.equal(error.details.retryAfterMs, 1_234);
      return true;
    });
  });
});
