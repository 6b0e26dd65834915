import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { Refusal } from '../../../domain/refusal.js';
import type { Answer } from '../../support/http/answers.js';
import { insertRental } from '../../support/money/factories.js';
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
    assert.deepEqual([answer.status, answer.body.id], [200, bench.asked[0]]);
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

  it('names the id in a 503 of the workflow, which proves nothing by itself', async () => {
    bench.workflow = bench.refuses('temporarily_unavailable');
    isUnknown(await bench.open());
  });

  it('passes on that nothing was done, where the workflow knows it', async () => {
    bench.workflow = bench.refuses('temporarily_unavailable', { outcome: 'not_done' });
    isNotDone(await bench.open());
  });

  it('is a 503 within the limit after silence, and says that it never will be', async () => {
    bench.staysSilent();
    const startMs = performance.now();
    const answer = await bench.open();
    assert.ok(performance.now() - startMs < 20_000);
    isNotDone(answer);
  });

  it('finds a row under the wallet’s lock that is committed at the last moment', async () => {
    // The activity holds the lock while the deadline passes, and commits after it.
    let committed: Promise<void> | undefined;
    bench.isHurried = true;
    bench.workflow = async (id, answerBefore) => {
      committed = bench.api.db.transaction(async (trx) => {
        await trx.raw('select 1 from wallets where user_id = ? for no key update', [bench.userId]);
        await sleep(900);
        await insertRental(trx, bench.userId, { id });
      });
      await bench.saysNothing(id, answerBefore);
    };
    await bench.with({ settings: { ...bench.deps.settings, lockWaitMs: 2_000 } }, async () => {
      assert.equal((await bench.open()).status, 200);
      assert.equal(bench.asked.length, 1);
    });
    await committed;
  });

  it('says that the outcome is unknown, and where to look, when the lock is not to be had', async () => {
    bench.staysSilent();
    const held = await bench.api.db.transaction();
    await held.raw('select 1 from wallets where user_id = ? for no key update', [bench.userId]);
    try {
      const answer = await bench.open();
      isUnknown(answer);
    } finally {
      await held.rollback();
    }
  });

  describe('while the database is away', () => {
    it('says that the outcome is unknown when it went away after the machine was bought', async () => {
      bench.isHurried = true;
      bench.workflow = async (id) => {
        await bench.opens(id);
        bench.databaseGoesAway();
      };
      isUnknown(await bench.open());
      assert.equal(await bench.countRentals(), 1);
    });

    it('answers with the row once it is back in time', async () => {
      bench.workflow = async (id) => {
        if (bench.asked.length > 1) return;
        await bench.opens(id);
        bench.databaseGoesAway();
        setTimeout(() => bench.databaseComesBack(), 200);
      };
      assert.equal((await bench.open()).status, 200);
    });

    it('says that the outcome is unknown when only the look under the lock fails', async () => {
      bench.staysSilent();
      bench.beforeLastLook = () => bench.databaseGoesAway();
      isUnknown(await bench.open());
    });

    it('says the same after a 503 of the workflow', async () => {
      bench.workflow = async (id, answerBefore) => {
        bench.databaseGoesAway();
        await bench.refuses('temporarily_unavailable')(id, answerBefore);
      };
      isUnknown(await bench.open());
    });

    it('answers with the row although its answer can’t be kept for retries', async () => {
      bench.whenPresented = () => bench.databaseGoesAway();
      const answer = await bench.open('k');
      assert.deepEqual([answer.status, answer.body.id], [200, bench.asked[0]]);
      await bench.begin(bench.userId);
      const retry = await bench.open('k');
      assert.deepEqual([retry.status, retry.body.id], [200, answer.body.id]);
      assert.equal(await bench.countRentals(), 1);
    });

    it('answers with the refusal although it can’t be kept for retries', async () => {
      const refuses = bench.refuses('insufficient_balance');
      bench.workflow = (id, answerBefore) => {
        bench.databaseGoesAway();
        return refuses(id, answerBefore);
      };
      assert.equal((await bench.open('k')).status, 403);
    });

    it('says that nothing was done when nothing could be begun', async () => {
      bench.databaseGoesAway();
      const answer = await bench.open();
      assert.equal(answer.status, 503);
      assert.deepEqual(answer.body.details, { outcome: 'not_done' });
      assert.equal(bench.asked.length, 0);
    });

    it('says nothing of the kind about a key: an earlier request may have done it', async () => {
      bench.databaseGoesAway();
      const answer = await bench.open('k');
      assert.equal(answer.status, 503);
      assert.deepEqual(answer.body.details, { outcome: 'unknown', lookAt: '/v1/rentals' });
      assert.match(answer.body.message, /repeat the request with the same Idempotency-Key/);
    });

    it('names what the earlier request made when a retry can’t look for it', async () => {
      bench.staysSilent();
      await bench.open('k');
      const earlier = bench.asked[0];
      bench.beforeLastLook = () => bench.databaseGoesAway();
      const retry = await bench.open('k');
      assert.equal(retry.status, 503);
      assert.deepEqual(retry.body.details, {
        ...{ rentalId: earlier, outcome: 'unknown', lookAt: `/v1/rentals/${earlier}` },
      });
    });

    it('answers a retry of what was refused with "later" with that again', async () => {
      bench.workflow = bench.refuses('rate_limited');
      assert.equal((await bench.open('k')).status, 429);
      const refuses = bench.workflow;
      bench.workflow = (id, answerBefore) => {
        bench.databaseGoesAway();
        return refuses(id, answerBefore);
      };
      assert.equal((await bench.open('k')).status, 429);
    });
  });

  it('keeps a refusal that a late retry finds', async () => {
    bench.staysSilent();
    await bench.open('k');
    let looks = 0;
    bench.beforeLastLook = () => {
      looks += 1;
      throw new Refusal('insufficient_balance', 'The row says so.');
    };
    assert.equal((await bench.open('k')).status, 403);
    const looksBefore = looks;
    const again = await bench.open('k');
    assert.deepEqual([again.status, again.headers.get('idempotent-replayed')], [403, 'true']);
    assert.equal(looks, looksBefore);
  });

  it('says that the outcome is unknown after a fault of its own', async () => {
    bench.whenPresented = () => {
      throw new Error('a fault');
    };
    const answer = await bench.open();
    assert.deepEqual([answer.status, answer.body.error], [500, 'internal_error']);
    const [rentalId] = bench.asked;
    assert.deepEqual(answer.body.details, {
      ...{ rentalId, outcome: 'unknown', lookAt: `/v1/rentals/${rentalId}` },
    });
  });

  it('says nothing of a key’s outcome when Temporal is away: a twin may have reached it', async () => {
    await bench.with({ temporal: bench.api.deps.temporal }, async () => {
      assert.equal((await bench.open()).body.details.outcome, 'not_done');
      const keyed = await bench.open('k');
      assert.equal(keyed.body.details.outcome, 'unknown');
      assert.match(keyed.body.details.rentalId, /^rent_/);
    });
  });

  function isUnknown(answer: Answer): void {
    assert.deepEqual([answer.status, answer.body.error], [503, 'temporarily_unavailable']);
    const [rentalId] = bench.asked;
    const lookAt = `/v1/rentals/${rentalId}`;
    assert.deepEqual(answer.body.details, { rentalId, outcome: 'unknown', lookAt });
    assert.ok(answer.body.message.includes(lookAt), answer.body.message);
  }

  function isNotDone(answer: Answer): void {
    assert.deepEqual([answer.status, answer.body.error], [503, 'temporarily_unavailable']);
    assert.deepEqual(answer.body.details, { rentalId: bench.asked[0], outcome: 'not_done' });
  }
});
