import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  claimIdempotencyKey,
  findMadeUnderKey,
  recordIdempotentResponse,
} from '../../../adapters/postgres/requests/idempotency-keys.js';
import type { RentalId, UserId } from '../../../domain/ids.js';
import { insertRental, insertUser } from '../../support/money/factories.js';
import { until } from '../../support/until.js';
import { OpeningBench } from './opening-bench.js';

describe('opening an entity with an Idempotency-Key', () => {
  let bench: OpeningBench;

  before(async () => {
    bench = await OpeningBench.start();
  });
  beforeEach(() => bench.begin());
  after(() => bench.stop());

  /** Opens with as much time as a slow machine may need. */
  async function patiently<T>(work: () => Promise<T>): Promise<T> {
    const settings = { ...bench.deps.settings, answerWithinMs: 20_000, idempotencyWaitMs: 20_000 };
    let done: T | undefined;
    await bench.with({ settings }, async () => {
      done = await work();
    });
    return done as T;
  }

  it('replays the answer, marked, and makes nothing new', async () => {
    const first = await patiently(() => bench.open('k'));
    const again = await bench.open('k');
    assert.equal(first.headers.get('idempotent-replayed'), null);
    assert.deepEqual([again.status, again.text], [200, first.text], 'byte for byte');
    assert.equal(again.headers.get('idempotent-replayed'), 'true');
    assert.equal(await bench.countRentals(), 1);
    assert.equal(bench.asked.length, 1);
  });

  it('refuses an empty key, and one that is not printable ASCII', async () => {
    for (const key of ['', ' ', 'a\tb', 'é', 'k'.repeat(256)]) {
      const answer = await bench.open(key);
      assert.deepEqual([answer.status, answer.body.error], [400, 'validation_failed'], JSON.stringify(key));
    }
    assert.equal(bench.asked.length, 0);
  });

  it('replays a final refusal', async () => {
    bench.workflow = bench.refuses('model_unavailable', { familyId: 'x' });
    const first = await bench.open('k');
    bench.workflow = bench.opens;
    const again = await bench.open('k');
    assert.deepEqual([again.status, again.headers.get('idempotent-replayed')], [400, 'true']);
    assert.equal(again.text, first.text, 'byte for byte, the id of the first request included');
    assert.notEqual(again.headers.get('x-request-id'), first.headers.get('x-request-id'));
  });

  it('replays also while Temporal is away', async () => {
    const first = await bench.open('k');
    await bench.with({ temporal: bench.api.deps.temporal }, async () => {
      assert.deepEqual((await bench.open('k')).body, first.body);
      assert.equal((await bench.open('other')).status, 503);
    });
  });

  it('is per user, and per key', async () => {
    await bench.open('k');
    await bench.open('other');
    assert.equal(await bench.countRentals(), 2);
    const second = (await insertUser(bench.api.db)).id;
    bench.userId = second;
    assert.equal((await bench.open('k')).headers.get('idempotent-replayed'), null);
    assert.equal(await bench.countRentals(second), 1);
  });

  it('refuses another body under the same key', async () => {
    await bench.open('k', 'a');
    const answer = await bench.open('k', 'b');
    assert.deepEqual([answer.status, answer.body.error], [409, 'idempotency_conflict']);
    assert.equal(await bench.countRentals(), 1);
  });

  it('attaches twins to one entity', async () => {
    bench.workflow = async (id) => {
      await sleep(100);
      await bench.opens(id).catch(() => undefined);
    };
    const answers = await patiently(() => Promise.all(Array.from({ length: 5 }, () => bench.open('k'))));
    assert.deepEqual(new Set(answers.map((answer) => answer.status)), new Set([200]));
    assert.equal(new Set(answers.map(({ text }) => text)).size, 1, 'whoever comes first decides the bytes');
    const marked = answers.map((answer) => answer.headers.get('idempotent-replayed'));
    assert.deepEqual(marked.toSorted(), [null, 'true', 'true', 'true', 'true'], 'one made it');
    assert.equal(new Set(bench.asked).size, 1);
    assert.equal(await bench.countRentals(), 1);
  });

  it('is idempotency_in_progress when the twin takes longer than a retry waits', async () => {
    bench.staysSilent();
    const first = bench.open('k');
    await until('the first one is under way', () => bench.asked.length === 1);
    const twin = await bench.open('k');
    assert.deepEqual([twin.status, twin.body.error], [409, 'idempotency_in_progress']);
    assert.equal(twin.body.details.rentalId, bench.asked[0]);
    assert.equal((await first).status, 503);
  });

  it('puts a new id in after a final 503, and keeps no 5xx', async () => {
    bench.staysSilent();
    const first = await bench.open('k');
    assert.equal(first.body.details.outcome, 'not_done');
    bench.workflow = bench.opens;
    const retry = await bench.open('k');
    assert.deepEqual([retry.status, retry.headers.get('idempotent-replayed')], [200, null]);
    assert.notEqual(retry.body.id, first.body.details.rentalId);
    assert.equal(await bench.countRentals(), 1);
  });

  it('lets one of several retries put the new id in', async () => {
    bench.staysSilent();
    await bench.open('k');
    bench.asked = [];
    bench.workflow = async (id) => {
      await sleep(100);
      await bench.opens(id).catch(() => undefined);
    };
    const retries = await patiently(() => Promise.all(Array.from({ length: 4 }, () => bench.open('k'))));
    assert.deepEqual(new Set(retries.map((answer) => answer.status)), new Set([200]));
    assert.equal(new Set(bench.asked).size, 1);
    assert.equal(await bench.countRentals(), 1);
  });

  it('answers with the old row when it was there after all', async () => {
    bench.staysSilent();
    const first = await bench.open('k');
    // The process that wrote the rental died before it could tell, as the one that answered 503 may have.
    await insertRental(bench.api.db, bench.userId, { id: first.body.details.rentalId as RentalId });
    const retry = await bench.open('k');
    assert.deepEqual([retry.status, retry.body.id], [200, first.body.details.rentalId]);
    assert.equal(retry.headers.get('idempotent-replayed'), 'true');
    assert.equal(await bench.countRentals(), 1);
  });

  it('tries anew after a 429, which is not kept', async () => {
    bench.workflow = bench.refuses('rate_limited');
    assert.equal((await bench.open('k')).status, 429);
    const refused = bench.asked[0];
    bench.workflow = (id, answerBefore) =>
      id === refused ? bench.refuses('rate_limited')(id, answerBefore) : bench.opens(id);
    const retry = await bench.open('k');
    assert.equal(retry.status, 200);
    assert.notEqual(retry.body.id, refused);
  });

  it('forgets a key after 24 hours', async () => {
    const first = await bench.open('k');
    await bench.api.db.raw("update idempotency_keys set created_at = created_at - interval '25 hours'");
    const answer = await bench.open('k', 'b');
    assert.equal(answer.status, 200);
    assert.notEqual(answer.body.id, first.body.id);
  });

  describe('what was made under a key', () => {
    const endpoint = 'POST /v1/billing/checkout';
    const made = (key: string, name: { userId?: UserId; endpoint?: string } = {}) =>
      findMadeUnderKey(bench.api.db, { userId: bench.userId, endpoint, key, ...name });
    const claim = (key: string) =>
      claimIdempotencyKey(
        bench.api.db,
        { userId: bench.userId, endpoint, key },
        Buffer.alloc(32),
        'top_asked',
      );
    const record = (key: string, status: number, body: unknown) =>
      recordIdempotentResponse(bench.api.db, { userId: bench.userId, endpoint, key }, 'top_asked', {
        status,
        body,
      });

    it('is told before it is there, to its user alone, for a day', async () => {
      await claim('k');
      assert.equal(await made('k'), 'top_asked');
      const { id: userId } = await insertUser(bench.api.db);
      assert.deepEqual(
        await Promise.all([
          made('other'),
          made('k', { userId }),
          made('k', { endpoint: 'POST /v1/rentals' }),
        ]),
        [undefined, undefined, undefined],
      );
      await bench.api.db.raw("update idempotency_keys set created_at = created_at - interval '25 hours'");
      assert.equal(await made('k'), undefined);
    });

    it('is what the answer named, where another request had made it', async () => {
      for (const [key, status, body] of [
        ['charge', 200, { body: { topupId: 'top_before' } }],
        ['rental', 200, { body: { id: 'top_before' } }],
        ['declined', 402, { refused: { code: 'card_declined', details: { topupId: 'top_before' } } }],
      ] as const) {
        await claim(key);
        await record(key, status, body);
        assert.equal(await made(key), 'top_before', key);
      }
      await claim('refused');
      await record('refused', 403, { refused: { code: 'blocked', message: 'no' } });
      assert.equal(await made('refused'), 'top_asked');
    });
  });
});
