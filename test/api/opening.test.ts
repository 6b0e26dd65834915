import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { insertRental } from '../support/factories.js';
import { OpeningBench } from './opening-bench.js';

describe('opening an entity', () => {
  let bench: OpeningBench;

  before(async () => {
    bench = await OpeningBench.start();
  });
  beforeEach(() => bench.begin());
  after(() => bench.stop());

  it('answers with the row', async () => {
    const answer = await bench.open();
    assert.deepEqual([answer.status, answer.body], [200, { id: bench.asked[0] }]);
  });

  it('makes a new one each time', async () => {
    await bench.open();
    await bench.open();
    assert.equal(await bench.countRentals(), 2);
  });

  it('passes a refusal on with its code, message and details', async () => {
    bench.workflow = bench.refuses('insufficient_balance', { requiredCents: 100, availableCents: 99 });
    const answer = await bench.open();
    assert.equal(answer.status, 403);
    assert.deepEqual(answer.body, {
      error: 'insufficient_balance',
      message: 'refused: insufficient_balance',
      details: { requiredCents: 100, availableCents: 99 },
      requestId: answer.body.requestId,
    });
  });

  it('sets Retry-After on a 429', async () => {
    bench.workflow = bench.refuses('rate_limited', { retryAfterSeconds: 5 });
    const answer = await bench.open();
    assert.deepEqual([answer.status, answer.headers.get('retry-after')], [429, '5']);
  });

  it('asks again after a failure that is no answer, under the same id', async () => {
    let calls = 0;
    bench.workflow = (id) => (++calls === 1 ? Promise.reject(new Error('UNAVAILABLE')) : bench.opens(id));
    assert.equal((await bench.open()).status, 200);
    assert.equal(bench.asked.length, 2);
    assert.equal(new Set(bench.asked).size, 1);
  });

  it('answers with a row that is there although the workflow’s answer was lost', async () => {
    bench.workflow = async (id) => {
      await bench.opens(id);
      throw new Error('the answer was lost');
    };
    assert.equal((await bench.open()).status, 200);
  });

  it('answers with a row that is there although the workflow said 503', async () => {
    bench.workflow = async (id, answerBefore) => {
      await bench.opens(id);
      await bench.refuses('temporarily_unavailable')(id, answerBefore);
    };
    assert.equal((await bench.open()).status, 200);
  });

  it('names the id in a 503 of the workflow', async () => {
    bench.workflow = bench.refuses('temporarily_unavailable');
    const answer = await bench.open();
    assert.equal(answer.status, 503);
    assert.deepEqual(answer.body.details, {
      rentalId: bench.asked[0],
      lookAt: `/v1/rentals/${bench.asked[0]}`,
    });
  });

  it('is a 503 within the limit after silence, and says that it never will be', async () => {
    bench.workflow = bench.saysNothing;
    const startMs = performance.now();
    const answer = await bench.open();
    assert.ok(performance.now() - startMs < 2_500);
    assert.equal(answer.status, 503);
    assert.deepEqual(answer.body.details, { rentalId: bench.asked[0], outcome: 'not_done' });
  });

  it('finds a row under the wallet’s lock that is committed at the last moment', async () => {
    const before = bench.deps;
    bench.deps = { ...bench.deps, settings: { ...bench.deps.settings, lockWaitMs: 2_000 } };
    // The activity holds the lock while the deadline passes, and commits after it.
    let committed: Promise<void> | undefined;
    bench.workflow = async (id, answerBefore) => {
      committed = bench.api.db.transaction(async (trx) => {
        await trx.raw('select 1 from wallets where user_id = ? for no key update', [bench.userId]);
        await sleep(900);
        await insertRental(trx, bench.userId, { id });
      });
      await bench.saysNothing(id, answerBefore);
    };
    try {
      assert.equal((await bench.open()).status, 200);
      assert.equal(bench.asked.length, 1);
    } finally {
      bench.deps = before;
      await committed;
    }
  });

  it('says that the outcome is unknown, and where to look, when the lock is not to be had', async () => {
    bench.workflow = bench.saysNothing;
    const held = await bench.api.db.transaction();
    await held.raw('select 1 from wallets where user_id = ? for no key update', [bench.userId]);
    try {
      const answer = await bench.open();
      assert.equal(answer.status, 503);
      assert.deepEqual(answer.body.details, {
        rentalId: bench.asked[0],
        outcome: 'unknown',
        lookAt: `/v1/rentals/${bench.asked[0]}`,
      });
    } finally {
      await held.rollback();
    }
  });
});
