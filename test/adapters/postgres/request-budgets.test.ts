import assert from 'node:assert/strict';
import { createRequestBudget } from '../../../adapters/postgres/request-budgets.js';
import { createHttpClient } from '../../../adapters/providers/http-client.js';
import { ProviderError } from '../../../adapters/providers/provider.js';
import type { RequestBudget, RequestUse } from '../../../adapters/providers/request-budget.js';
import { openMoneyDatabase, type MoneyDatabase } from '../../support/money.js';

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

  it('is one for all workers', async () => {
    const budgets = [1, 2, 3].map(() => createRequestBudget(database.db, 'shared', 10));
    const allowed = await Promise.all(budgets.map((budget) => spend(budget, 'acting', 10)));
    assert.equal(
      allowed.reduce((sum, count) => sum + count, 0),
      10,
    );
  });

  it('sends nothing that it does not allow', async () => {
    const budget: RequestBudget = { take: () => Promise.resolve(1_234) };
    // Nobody listens there: a request that was sent would fail otherwise.
    const http = createHttpClient({ url: 'http://127.0.0.1:9', headers: {}, timeoutMs: 500, budget });
    await assert.rejects(http.request({ method: 'POST', path: '/x' }), (error: ProviderError) => {
      assert.ok(error instanceof ProviderError);
      assert.equal(error.kind, 'rate_limited');
      assert.equal(error.details.retryAfterMs, 1_234);
      return true;
    });
  });
});
