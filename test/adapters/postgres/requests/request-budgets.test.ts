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

  it('keeps a fifth for reads, however many pods end and dates are renewed: they are gone by the lists alone', async () => {
    const budget = createRequestBudget(database.db, 'fifths', 20);
    assert.equal(await spend(budget, 'acting', 14), 14);
    assert.equal(await spend(budget, 'renewing', 10), 2);
    assert.equal(await spend(budget, 'acting', 30), 0);
    assert.equal(await spend(budget, 'reading', 30), 4);
  });

  it('lets renewals of end dates have an eighth, and fails what is beyond its share as out of turn', async () => {
    const budget = createRequestBudget(database.db, 'eighths', 40);
    assert.equal(await spend(budget, 'renewing', 30), 5);
    assert.equal(await spend(budget, 'reading', 40), 30);
    assert.equal(await spend(budget, 'acting', 30), 5, 'and what is left of the rest can still act');
    const upstream = createUpstream({ url: 'http://127.0.0.1:1', headers: {}, timeoutMs: 1_000, budget });
    const renewal = upstream.call('renewing', { method: 'POST', path: '/', use: 'renewing' });
    await assert.rejects(renewal, (error: ProviderError) => error.details.outOfTurn === true);
    const read = upstream.call('listing', { method: 'GET', path: '/' });
    await assert.rejects(read, (error: ProviderError) => error.details.outOfTurn === true);
    const act = upstream.call('buying', { method: 'POST', path: '/' });
    await assert.rejects(
      act,
      ({ details }: ProviderError) => details.outOfTurn === true && details.overBudget === true,
    );
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
    const everyMs = 10_000;
    const pace = { name: 'list', everyMs };
    const ask = (index: number, mostWaitMs: number) => budgets[index % 2]!.takeTurn(pace, mostWaitMs);
    const waits: number[] = [];
    for (let nth = 0; nth < 4; nth += 1) {
      const { isTaken, waitMs } = await ask(nth, 50_000);
      assert.equal(isTaken, true);
      waits.push(Math.ceil(waitMs / everyMs));
    }
    assert.deepEqual(waits, [0, 1, 2, 3]);
    const refused = await ask(0, 5_000);
    assert.equal(refused.isTaken, false);
    assert.ok(refused.waitMs > 30_000 && refused.waitMs <= 40_000, `${refused.waitMs} ms`);
    // Whoever was refused has taken nobody's turn.
    const next = await ask(1, 40_000);
    assert.deepEqual([next.isTaken, Math.ceil(next.waitMs / everyMs)], [true, 4]);
    // Nobody waits for longer than a minute.
    const together = await Promise.all(Array.from({ length: 6 }, (_, index) => ask(index, 1_000_000)));
    const taken = together.filter(({ isTaken }) => isTaken);
    assert.deepEqual(
      taken.map(({ waitMs }) => Math.ceil(waitMs / everyMs)).sort((a, b) => a - b),
      [5, 6],
    );
  });

  it('is one for all workers', async () => {
    const budgets = [1, 2, 3].map(() => createRequestBudget(database.db, 'shared', 10));
    const spendAll = async (use: RequestUse): Promise<number> => {
      const allowed = await Promise.all(budgets.map((budget) => spend(budget, use, 10)));
      return allowed.reduce((sum, count) => sum + count, 0);
    };
    assert.equal(await spendAll('reading'), 7);
    assert.equal(await spendAll('acting'), 3);
  });

  describe('that a clock which ran ahead by a day has noted', () => {
    const ahead = async (table: string, column: string, key: string, where: string): Promise<void> => {
      const day = `${column} = ${column} + ${table === 'rate_limits' ? '86400000' : `interval '1 day'`}`;
      const { rowCount } = await database.db.raw<{ rowCount: number }>(
        `update ${table} set ${day} where ${key} like ?`,
        [where],
      );
      assert.ok(rowCount > 0);
    };

    it('begins its minute anew once it is used up', async () => {
      const budget = createRequestBudget(database.db, 'fast-minute', 20);
      assert.equal(await spend(budget, 'reading', 10), 10);
      await ahead('rate_limits', 'expire', 'key', 'upstream-%:fast-minute');
      assert.equal(await spend(budget, 'reading', 5), 5, 'of the minute that was noted');
      assert.equal(await spend(budget, 'reading', 1), 1, 'and then of a true one');
      assert.equal(await spend(budget, 'reading', 30), 14);
      const waitMs = await budget.take('reading');
      assert.ok(waitMs > 0 && waitMs <= 60_000, `${waitMs} ms`);
    });

    it('gives the next turn at once, and those after it in order', async () => {
      const budget = createRequestBudget(database.db, 'fast-turns', 1_000);
      const pace = { name: 'list', everyMs: 20_000 };
      const now = { isTaken: true, waitMs: 0 };
      assert.deepEqual(await budget.takeTurn(pace, 0), now);
      await ahead('rate_limits', 'expire', 'key', 'upstream-turn-%:fast-turns');
      assert.deepEqual(await budget.takeTurn(pace, 0), now);
      const { isTaken, waitMs } = await budget.takeTurn(pace, 30_000);
      assert.ok(isTaken && waitMs > 0 && waitMs <= 20_000, `${waitMs} ms`);
    });

    it('puts off no read by it', async () => {
      const budget = createRequestBudget(database.db, 'fast-reads', 1_000, 0);
      const usedUp = { name: 'day', quota: 100, windowMs: 60_000, remaining: 0, resetMs: 3_600_000 };
      await budget.learn([usedUp]);
      assert.equal(await budget.pace(1), 0);
      await ahead('provider_quotas', 'next_read_at', 'provider_code', 'fast-reads');
      assert.equal(await budget.pace(1), 0);
      const waitMs = await budget.pace(1);
      assert.ok(waitMs > 50_000 && waitMs <= 60_000, `${waitMs} ms, as long as a read may be late`);
      await ahead('provider_quotas', 'told_at', 'provider_code', 'fast-reads');
      for (let n = 0; n < 3; n += 1) assert.equal(await budget.pace(1), 0, 'what was told then says nothing');
      await budget.learn([usedUp]);
      assert.ok((await budget.pace(1)) > 0, 'this was told now');
    });
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
