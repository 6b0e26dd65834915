import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Provider } from '../../../adapters/providers/provider.js';
import type { QuoteId, RentalId } from '../../../domain/ids.js';
import { rentalLimits } from '../../../domain/rentals/limits.js';
import type { Answer } from '../../support/http/answers.js';
import type { SignedIn } from '../../support/http/api.js';
import { insertApiKeyOf } from '../../support/money/factories.js';
import { credit } from '../../support/money/money.js';
import { startService, type TestService } from '../../support/service/living-service.js';
import { l40s, Renting, rtx4090 } from '../../support/story/renting.js';
import { until } from '../../support/until.js';

/** How long the upstream takes to sell a machine. */
const upstream = { waitsMs: 0 };

function slow(provider: Provider): Provider {
  return {
    ...provider,
    allocate: async (order) => {
      await sleep(upstream.waitsMs);
      return provider.allocate(order);
    },
  };
}

describe('renting by a quote', () => {
  let service: TestService;
  let renting: Renting;
  let user: SignedIn;

  before(async () => {
    service = await startService({ wrapProvider: slow });
    renting = new Renting(service);
    await until('the catalog is read', async () => (await service.db('listings').first('id')) !== undefined);
  });
  beforeEach(async () => {
    user = await service.signIn(1_000);
  });
  afterEach(async () => {
    await service.gpus.clearFaults();
    await service.gpus.faults({ bootMs: 100 });
    await renting.assertAddsUp();
  });
  after(() => service.stop());

  async function quote(asked: object = l40s, as: SignedIn = user): Promise<QuoteId> {
    const { familyId, gpuCount, ...more } = { ...l40s, ...asked } as Record<string, unknown>;
    delete more['pricePerHourCents'];
    delete more['nextCents'];
    const { status, body } = await as.post('/v1/quotes', { familyId, gpuCount, ...more });
    assert.equal(status, 200, JSON.stringify(body));
    return (body as unknown as { quoteId: QuoteId }).quoteId;
  }

  const take = (quoteId: string, key?: string, as: SignedIn = user): Promise<Answer> =>
    as.post('/v1/rentals', { quoteId }, key === undefined ? {} : { 'Idempotency-Key': key });

  async function expire(id: QuoteId): Promise<void> {
    await service
      .db('quotes')
      .where({ id })
      .update({
        created_at: service.db.raw(`clock_ms() - interval '2 minutes'`),
        expires_at: service.db.raw(`clock_ms() - interval '1 minute'`),
      });
  }

  function rentalIn({ status, body }: Answer): RentalId {
    assert.equal(status, 200, JSON.stringify(body));
    return body.id as RentalId;
  }

  const isReplay = ({ headers }: Answer): boolean => headers.get('idempotent-replayed') === 'true';

  /** A new quote or the alternatives that a refusal tells. */
  function offerIn({ body }: Answer): { quote: { quoteId: QuoteId; pricePerHourCents: number } | null } {
    return body.details as never;
  }

  it('opens what was quoted, with all that was asked for', async () => {
    const id = rentalIn(
      await take(await quote({ name: 'quoted', maxSpendCents: 70, autoStopAfterHours: 2 })),
    );
    const row = await renting.awaitStatus(id, 'running');
    assert.deepEqual(
      [row.name, row.price_per_hour_cents, row.max_spend_cents, row.auto_stop_after_ms],
      ['quoted', l40s.pricePerHourCents, 70, 7_200_000],
    );
    const { events } = (await user.get('/v1/audit')).body as unknown as {
      events: { kind: string; entityId: string; clientAddress: string | null }[];
    };
    assert.deepEqual(
      events.filter(({ kind }) => kind === 'rental_created').map(({ entityId }) => entityId),
      [id],
    );
    await renting.stop(user, id);
  });

  it('opens one rental for two requests with keys of their own, and answers both with it', async () => {
    await service.gpus.faults({ bootMs: 60_000 });
    const quoteId = await quote();
    const answers = await Promise.all([take(quoteId, 'one'), take(quoteId, 'two'), take(quoteId)]);
    const [id, ...others] = new Set(answers.map(rentalIn));
    assert.deepEqual(others, []);
    assert.equal(answers.filter(isReplay).length, 2, 'one of them opened it');
    assert.equal((await service.db('rentals').where({ user_id: user.user.id })).length, 1);
    const attempts = await service
      .db('allocation_attempts as a')
      .join('rental_requests as r', 'r.id', 'a.rental_id')
      .where('r.user_id', user.user.id);
    assert.equal(attempts.length, 1, 'one machine was asked for');
    assert.equal((await renting.wallet(user)).reserved_cents, l40s.pricePerHourCents);

    for (const key of ['one', 'two']) {
      const again = await take(quoteId, key);
      assert.deepEqual([rentalIn(again), isReplay(again)], [id, true]);
    }
    await renting.stop(user, id!);
  });

  it('lets a twin wait for a slow upstream, and not only as long as for other creates', async () => {
    const quoteId = await quote();
    upstream.waitsMs = rentalLimits.openLockWaitMs + 1_500;
    const answers = await Promise.all([take(quoteId, 'one'), take(quoteId, 'two')]);
    upstream.waitsMs = 0;
    const ids = new Set(answers.map(rentalIn));
    assert.equal(ids.size, 1);
    await renting.stop(user, [...ids][0]!);
  });

  it('answers a quote that was taken with its rental, however late, and one that was not with a new one', async () => {
    const [taken, free] = [await quote(), await quote()];
    const id = rentalIn(await take(taken, 'first'));
    await Promise.all([expire(taken), expire(free)]);
    for (const key of ['first', 'second', undefined]) {
      const again = await take(taken, key);
      assert.deepEqual([rentalIn(again), isReplay(again)], [id, true], String(key));
    }
    await renting.stop(user, id);

    const late = await take(free, 'late');
    assert.deepEqual([late.status, late.body.error], [409, 'quote_expired']);
    const again = await take(free, 'late');
    assert.deepEqual([again.status, isReplay(again)], [409, true]);
    assert.deepEqual(offerIn(again), offerIn(late));
    const next = rentalIn(await take(offerIn(late).quote?.quoteId ?? assert.fail('a new quote')));
    assert.notEqual(next, id);
    await renting.stop(user, next);
  });

  it('refuses a risen price with a new quote, which can be taken', async () => {
    const quoteId = await quote();
    // The quote was made when it cost less.
    await service.db('quotes').where({ id: quoteId }).update({ price_per_hour_cents: 140 });
    const answer = await take(quoteId);
    assert.deepEqual([answer.status, answer.body.error], [409, 'price_changed']);
    const { quote: fresh, ...facts } = offerIn(answer);
    assert.deepEqual(facts, {
      quoteId,
      quotedPricePerHourCents: 140,
      pricePerHourCents: l40s.pricePerHourCents,
    });
    assert.equal(fresh?.pricePerHourCents, l40s.pricePerHourCents);
    assert.equal((await renting.wallet(user)).reserved_cents, 0);
    await renting.stop(user, rentalIn(await take(fresh.quoteId)));
  });

  it('goes on to a dearer machine by a new quote alone when the quoted one has no capacity', async () => {
    const quoteId = await quote();
    await service.gpus.faults({ noCapacity: 1 });
    const answer = await take(quoteId);
    assert.deepEqual([answer.status, answer.body.error], [409, 'price_changed']);
    assert.equal(offerIn(answer).quote?.pricePerHourCents, l40s.nextCents, 'not the one without capacity');
  });

  it('tells alternatives when nothing is to be had, to a quote’s taker as to anybody', async () => {
    const quoteId = await quote({ ...rtx4090, maxPricePerHourCents: 40 });
    for (const body of [{ quoteId }, { familyId: 'rtx-4090', gpuCount: 1, maxPricePerHourCents: 40 }]) {
      await service.gpus.faults({ noCapacity: 1 });
      const answer = await user.post('/v1/rentals', body);
      assert.deepEqual([answer.status, answer.body.error], [400, 'model_unavailable']);
      const { alternatives, ...details } = answer.body.details as unknown as {
        alternatives: { family: string; pricePerHourCents: number }[];
      };
      assert.deepEqual(details, { familyId: 'rtx-4090', gpuCount: 1, region: null });
      assert.equal(alternatives[0]?.family, 'rtx-4090');
      assert.ok(alternatives[0].pricePerHourCents > 40, 'the same for more money');
    }
  });

  it('is 404 for another user’s quote as for none', async () => {
    const other = await service.signIn(1_000);
    const quoteId = await quote();
    for (const id of [quoteId, 'quo_00000000000000000000000000', 'nonsense']) {
      const answer = await take(id, undefined, other);
      assert.deepEqual([answer.status, answer.body.error], [404, 'quote_not_found']);
    }
    await renting.stop(user, rentalIn(await take(quoteId)));
    const after = await take(quoteId, undefined, other);
    assert.equal(after.status, 404, 'also once it was taken');
  });

  it('is 404 to a key with a cap for what its owner or another key was quoted, open or taken', async () => {
    const keyOf = async (spendCapCents: number | null): Promise<SignedIn> => {
      const { token } = await insertApiKeyOf(service.db, user.user.id, {
        ...{ scopes: ['read', 'rentals'], spendCapCents },
      });
      return Object.assign(service.api.withKey(token), { user: user.user });
    };
    const [capped, uncapped] = [await keyOf(900), await keyOf(null)];
    for (const asker of [user, uncapped]) {
      const quoteId = await quote(l40s, asker);
      const isNone = async () => {
        const { status, body } = await take(quoteId, undefined, capped);
        assert.deepEqual([status, body.error], [404, 'quote_not_found']);
      };
      await isNone();
      const id = rentalIn(await take(quoteId, undefined, asker));
      await isNone();
      await renting.stop(user, id);
    }
    const own = rentalIn(await take(await quote(l40s, capped), undefined, capped));
    await renting.stop(user, own);
  });

  it('refuses too little money, and opens the same quote once there is enough', async () => {
    const poor = await service.signIn(10);
    const quoteId = await quote(l40s, poor);
    const answer = await take(quoteId, undefined, poor);
    assert.deepEqual([answer.status, answer.body.error], [403, 'insufficient_balance']);
    await credit(service.db, poor.user.id, 1_000);
    await renting.stop(poor, rentalIn(await take(quoteId, undefined, poor)));
  });
});
