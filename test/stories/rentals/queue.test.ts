import assert from 'node:assert/strict';
import {
  ProviderError,
  type AllocationRequest,
  type Provider,
} from '../../../adapters/providers/provider.js';
import { startService, type TestService } from '../../support/service/living-service.js';
import { netCents, Renting } from '../../support/story/renting.js';
import type { SignedIn } from '../../support/http/api.js';
import { until } from '../../support/until.js';

/** What Lambda's dialect of the lab sells: one, two kinds more are dearer. */
const machine = { familyId: 'h100-80gb', gpuCount: 1 };

describe('a rental at an upstream that sells one machine at a time (decision 158)', () => {
  let service: TestService;
  let renting: Renting;
  let user: SignedIn;
  /** Whether others have their turn; then each create is refused as the adapter refuses it. */
  let isTaken = false;
  /** Loses the answer of the next create that is made. */
  let losesAnswer = false;
  const asked: AllocationRequest[] = [];
  const inTurn = (provider: Provider): Provider => ({
    ...provider,
    createEveryMs: 40_000,
    async allocate(request) {
      asked.push(request);
      if (isTaken) {
        const details = { outOfTurn: true, retryAfterMs: 200 };
        throw new ProviderError('rate_limited', 'it is not its turn', details);
      }
      const pod = await provider.allocate(request);
      if (!losesAnswer) return pod;
      losesAnswer = false;
      throw new ProviderError('unknown', 'the answer was lost');
    },
  });
  before(async () => {
    service = await startService({ dialects: ['lambda'], wrapProvider: inTurn });
    renting = new Renting(service);
    await until('the catalog is read', async () => (await service.db('listings').first()) !== undefined);
  });
  beforeEach(async () => {
    isTaken = true;
    asked.length = 0;
    user = await service.signIn(10_000);
  });
  afterEach(async () => {
    isTaken = false;
    await service.gpus.clearFaults();
  });
  after(() => service.stop());

  const attemptsOf = (id: string) =>
    service
      .db('allocation_attempts')
      .where({ rental_id: id as never })
      .orderBy('attempt');
  const phaseOf = async (id: string) => (await user.get(`/v1/rentals/${id}`)).body;

  it('opens queued, holds its hour, buys once when its turn comes, and runs', async () => {
    const id = await renting.open(user, machine);
    assert.equal((await renting.wallet(user)).available_cents, 10_000 - 329);
    const queued = await until('it was asked for again', async () => {
      const body = await phaseOf(id);
      assert.equal(body.phase, 'queued');
      return asked.length >= 3 && body;
    });
    assert.deepEqual([queued.status, queued.phase, queued.host], ['provisioning', 'queued', null]);
    isTaken = false;
    const { provider_code } = await renting.awaitStatus(id, 'running');
    assert.equal(provider_code, 'lab-lambda');
    const attempts = await attemptsOf(id);
    assert.deepEqual(
      attempts.map(({ state, launch_at }) => [state, launch_at === null]),
      [
        // It was out of turn, so it was not asked for.
        ['failed', false],
        ['adopted', true],
      ],
    );
    assert.equal((await renting.pods(id)).length, 1);
    // The second purchase alone was asked for since, by its tag.
    assert.deepEqual(new Set(asked.slice(1).map(({ tag }) => tag)), new Set([attempts[1]?.tag]));
    await renting.stop(user, id);
    await renting.awaitClosed(id);
    await renting.assertAddsUp(user.user.id);
  });

  it('looks for what it bought when the answer is lost, and buys no second machine', async () => {
    const id = await renting.open(user, machine);
    losesAnswer = true;
    isTaken = false;
    await renting.awaitStatus(id, 'running');
    assert.equal((await renting.pods(id)).length, 1);
    assert.equal((await attemptsOf(id)).length, 2);
    await renting.stop(user, id);
    await renting.awaitClosed(id);
  });

  it('is stopped while it waits: nothing was bought, and everything is given back', async () => {
    const id = await renting.open(user, machine);
    await renting.stop(user, id);
    const closed = await renting.awaitClosed(id);
    assert.equal(netCents(closed), 0);
    isTaken = false;
    assert.deepEqual(await renting.pods(id), []);
    assert.equal((await renting.wallet(user)).available_cents, 10_000);
  });

  it('fails when its turn does not come in time, and everything is given back', async () => {
    const id = await renting.open(user, machine);
    // As if it had waited for two minutes.
    await service
      .db('allocation_attempts')
      .where({ rental_id: id, state: 'open' })
      .update({ created_at: new Date(Date.now() - 121_000) });
    const failed = await renting.awaitStatus(id, 'failed');
    assert.match(failed.error ?? '', /no machine for you/);
    await renting.awaitClosed(id);
    assert.equal((await renting.wallet(user)).available_cents, 10_000);
  });

  it('goes behind those that wait already, and is refused when the queue is too long', async () => {
    const waiting: string[] = [];
    for (let n = 0; n < 3; n += 1) {
      const next = await service.signIn(1_000);
      waiting.push(await renting.open(next, machine));
      // Whoever comes later asks nobody: those who wait come first.
      if (n > 0)
        assert.deepEqual(
          (await attemptsOf(waiting[n]!)).map(({ state }) => state),
          ['open'],
        );
    }
    const last = (await attemptsOf(waiting[2]!)).at(-1)!;
    const turnMs = (last.launch_at?.getTime() ?? 0) - last.created_at.getTime();
    assert.ok(turnMs > 60_000, `the last one is told a later turn, and not one in ${turnMs} ms`);
    const refused = await user.post('/v1/rentals', machine);
    assert.deepEqual([refused.status, refused.body.error], [400, 'model_unavailable']);
    const { retryAfterSeconds } = refused.body.details as { retryAfterSeconds?: number };
    assert.equal(retryAfterSeconds, 40);
    assert.equal((await renting.wallet(user)).available_cents, 10_000);
    await until('the first one was asked for again', () => Promise.resolve(asked.length >= 5));
    assert.ok(
      asked.every(({ tag }) => tag.includes(waiting[0]!)),
      'nobody is asked for out of turn',
    );
    isTaken = false;
    await renting.awaitStatus(waiting[2] as never, 'running');
    const tags = asked.map(({ tag }) => tag);
    const order = waiting.map((id) => tags.findLastIndex((tag) => tag.includes(id)));
    assert.deepEqual(
      order,
      order.toSorted((one, other) => one - other),
    );
  });
});
