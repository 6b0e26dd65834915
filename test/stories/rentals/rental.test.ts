import assert from 'node:assert/strict';
import type { QuoteId, RentalId } from '../../../domain/ids.js';
import type { Answer } from '../../support/http/answers.js';
import type { SignedIn } from '../../support/http/api.js';
import { insertApiKeyOf } from '../../support/money/factories.js';
import { startService, type TestService } from '../../support/service/living-service.js';
import { b200, l40s, netCents, priceOf, Renting, rtx4090 } from '../../support/story/renting.js';
import { toldEvents } from '../../support/story/told-events.js';
import { until } from '../../support/until.js';

const HOUR = 3_600;
const machine = { familyId: rtx4090.familyId, gpuCount: rtx4090.gpuCount };

describe('a rental', () => {
  let service: TestService;
  let renting: Renting;
  let user: SignedIn;
  /** What the service saw of its machines. */
  const lists: { readonly answeredMs: number; readonly podIds: string[] }[] = [];

  before(async () => {
    service = await startService({
      wrapProvider: (provider) => ({
        ...provider,
        async listPods() {
          const pods = await provider.listPods();
          lists.push({ answeredMs: Date.now(), podIds: pods.map(({ podId }) => podId) });
          return pods;
        },
      }),
    });
    renting = new Renting(service);
  });
  beforeEach(async () => {
    user = await service.signIn(10_000);
  });
  afterEach(async () => {
    await service.gpus.clearFaults();
    await service.gpus.faults({ bootMs: 100 });
    await renting.assertAddsUp();
  });
  after(() => service.stop());

  it('is answered with the specification’s fields, and a warning without an SSH key', async () => {
    const answer = await user.post('/v1/rentals', { ...machine, name: 'first' });
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    assert.match(answer.body.id, /^rent_/);
    assert.deepEqual(answer.body, {
      id: answer.body.id,
      status: 'provisioning',
      host: null,
      port: null,
      pricePerHourCents: answer.body.pricePerHourCents,
      startedAt: answer.body.startedAt,
      warnings: ['no_ssh_key'],
    });
    const balance = await user.get('/v1/billing/balance');
    assert.equal(balance.body.totalCents, 10_000);
    assert.equal(balance.body.reservedCents, answer.body.pricePerHourCents);
  });

  it('is answered without warnings when there is a key, and uses it', async () => {
    const key = await user.post('/v1/ssh-keys', { name: 'k', generate: true });
    const answer = await user.post('/v1/rentals', machine);
    assert.deepEqual(Object.keys(answer.body), [
      'id',
      'status',
      'host',
      'port',
      'pricePerHourCents',
      'startedAt',
    ]);
    const row = await service.api
      .db('rentals')
      .where({ id: answer.body.id as RentalId })
      .first();
    assert.deepEqual(row!.ssh_key_ids, [key.body.id]);
  });

  it('is one for many retries with one Idempotency-Key', async () => {
    const answers: Answer[] = await Promise.all(
      Array.from({ length: 4 }, () => user.post('/v1/rentals', machine, { 'Idempotency-Key': 'k' })),
    );
    assert.deepEqual(new Set(answers.map((answer) => answer.status)), new Set([200]));
    const ids = new Set(answers.map((answer) => answer.body.id));
    assert.equal(ids.size, 1);
    assert.equal((await user.get('/v1/rentals')).body.rentals.length, 1);
    const replay = await user.post('/v1/rentals', machine, { 'Idempotency-Key': 'k' });
    assert.equal(replay.headers.get('idempotent-replayed'), 'true');
  });

  it('runs, is metered, stops and gives back what was not used', async () => {
    const id = await renting.open(user, b200, { name: 'story' });
    const opened = await renting.wallet(user);
    assert.deepEqual([opened.available_cents, opened.reserved_cents], [10_000 - 3_992, 3_992]);
    assert.deepEqual(await renting.entries(user), [], 'a hold is no entry');

    await renting.awaitStatus(id, 'running');
    const shown = (await user.get(`/v1/rentals/${id}`)).body;
    const [pod] = await renting.pods(id);
    assert.deepEqual([shown.host, shown.port, shown.username], ['127.0.0.1', pod?.port, 'shadeform']);
    assert.match(shown.hostKeyFingerprint ?? '', /^SHA256:/);

    await until('the ledger ticked twice', async () => (await renting.entries(user)).length >= 2);
    const meter = (await user.get(`/v1/rentals/${id}/meter`)).body;
    assert.ok(meter.chargedCents >= 2 && meter.holdCents === 3_992 - meter.chargedCents);

    const answer = await renting.stop(user, id);
    const stopped = await renting.awaitStatus(id, 'stopped');
    assert.equal(answer.finalChargedCents, priceOf(stopped));
    assert.equal(answer.refundedCents, 3_992 - priceOf(stopped));
    assert.equal(stopped.stop_reason, 'user');
    assert.deepEqual(
      (await renting.pods(id)).map(({ status }) => status),
      ['deleted'],
    );
    const wallet = await renting.wallet(user);
    assert.deepEqual([wallet.available_cents, wallet.reserved_cents], [10_000 - priceOf(stopped), 0]);
    const told = (await toldEvents(service.db, user.user.id)).map(({ type }) => type);
    const steps = ['created', 'machine_found', 'ssh_answered', 'running', 'stopping', 'stopped'];
    assert.deepEqual(told, ['session.started', 'wallet.credited', ...steps.map((step) => `rental.${step}`)]);
    assert.ok((await renting.entries(user)).every(({ type }) => type === 'rental_charge'));
  });

  it('whose machine never boots fails after the deadline: captured and refunded, net 0', async () => {
    await service.gpus.faults({ bootNever: 1 });
    const id = await renting.openDirectly(user, b200, { provisionDeadlineMs: 700 });
    const failed = await renting.awaitClosed(id);
    assert.equal(failed.status, 'failed');
    assert.match(failed.error ?? '', /did not answer within 1 seconds/);
    assert.deepEqual(await renting.entries(user), [
      { type: 'rental_charge', amount_cents: -3_992 },
      { type: 'refund', amount_cents: 3_992 },
    ]);
    assert.equal((await renting.wallet(user)).available_cents, 10_000);
    assert.deepEqual(
      (await renting.pods(id)).map(({ status }) => status),
      ['deleted'],
    );
  });

  it('that loses its machine later is stopped, and charged until it was last seen alive', async () => {
    const { id } = await renting.run(user, b200);
    await renting.age(id, 600);
    const [pod] = await renting.pods(id);
    await service.gpus.crash(pod!.id, 'vanish');
    const stopped = await renting.awaitClosed(id);
    assert.deepEqual([stopped.status, stopped.stop_reason], ['stopped', 'pod_lost']);
    // The end is the last list before the first one without the machine.
    const last = lists.findLastIndex(({ podIds }) => podIds.includes(pod!.id));
    const endedMs = stopped.ended_at!.getTime();
    // Its instant is taken before it is asked for, and after the one before it.
    const [before, gone] = [lists[last - 1]!, lists[last + 1]!];
    assert.ok(endedMs >= before.answeredMs, `ended ${before.answeredMs - endedMs} ms before its list`);
    assert.ok(endedMs <= gone.answeredMs, `ended ${endedMs - gone.answeredMs} ms after a list without it`);
    assert.equal(netCents(stopped), priceOf(stopped));
    assert.ok(netCents(stopped) >= 665);
  });

  it('that is changed stops at its new limit, of which its workflow learns at once, and Temporal neither name nor label', async () => {
    const { id } = await renting.run(user, b200, { labels: { secretkey: 'secretvalue' } });
    const answer = await user.patch(`/v1/rentals/${id}`, {
      ...{ name: 'secretname', labels: { secretother: 'secretmore' } },
      // A machine that stands still for some seconds must not find it beyond this limit already.
      autoStopAfterHours: 6 / HOUR,
    });
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    const closed = await renting.awaitClosed(id);
    assert.equal(closed.ended_at!.getTime() - closed.running_at!.getTime(), 6_000);
    assert.deepEqual([closed.stop_reason, closed.name, netCents(closed)], ['auto_stop', 'secretname', 7]);
    const history = await service.temporal.workflow.getHandle(id).fetchHistory();
    const text = JSON.stringify(history, (_, value: unknown) =>
      value instanceof Uint8Array ? Buffer.from(value).toString() : value,
    );
    assert.ok(text.includes('chg_'));
    assert.ok(!text.includes('secret'));
  });

  describe('by a quote', () => {
    beforeEach(async () => {
      user = await service.signIn(1_000);
    });

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

    it('is 404 for another user, and to a key with a cap for what its owner or another key was quoted, open or taken', async () => {
      const keyOf = async (spendCapCents: number | null): Promise<SignedIn> => {
        const { token } = await insertApiKeyOf(service.db, user.user.id, {
          ...{ scopes: ['read', 'rentals'], spendCapCents },
        });
        return Object.assign(service.api.withKey(token), { user: user.user });
      };
      const [capped, uncapped] = [await keyOf(900), await keyOf(null)];
      const other = await service.signIn(1_000);
      for (const asker of [user, uncapped]) {
        const quoteId = await quote(l40s, asker);
        const isNone = async () => {
          for (const [by, id] of [
            [capped, quoteId],
            [other, quoteId],
            [other, 'nonsense'],
          ] as const) {
            const { status, body } = await take(id, undefined, by);
            assert.deepEqual([status, body.error], [404, 'quote_not_found']);
          }
        };
        await isNone();
        const id = rentalIn(await take(quoteId, undefined, asker));
        await isNone();
        await renting.stop(user, id);
      }
      const own = rentalIn(await take(await quote(l40s, capped), undefined, capped));
      await renting.stop(user, own);
    });
  });
});
