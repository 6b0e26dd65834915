import assert from 'node:assert/strict';
import type { Provider, Wait } from '../../../adapters/providers/provider.js';
import { rentalLimits } from '../../../domain/rentals/limits.js';
import type { SignedIn } from '../../support/http/api.js';
import { startService, type TestService } from '../../support/service/living-service.js';
import { l40s, Renting } from '../../support/story/renting.js';
import { until } from '../../support/until.js';

/** The lag of the upstream's lists: while blind, they show none of our pods. While hidden, no pod tells its price. */
const lists = { blind: false, hidePrices: false };
/** The time left to each call of an opening when it was made, in milliseconds. */
const waits: number[] = [];

function lagging(provider: Provider): Provider {
  const noteWait = ({ untilMs }: Wait = {}): void => void waits.push((untilMs ?? NaN) - performance.now());
  return {
    ...provider,
    listPods: async () => (lists.blind ? [] : provider.listPods()),
    async find(tag, wait) {
      noteWait(wait);
      const pod = lists.blind ? undefined : await provider.find(tag, wait);
      return pod && lists.hidePrices ? { ...pod, pricePerHourCents: null } : pod;
    },
    async allocate(request) {
      noteWait(request);
      const pod = await provider.allocate(request);
      return lists.hidePrices ? { ...pod, pricePerHourCents: null } : pod;
    },
  };
}

describe('a rental’s machine', () => {
  let service: TestService;
  let renting: Renting;
  let user: SignedIn;

  before(async () => {
    service = await startService({ wrapProvider: lagging });
    renting = new Renting(service);
  });
  beforeEach(async () => {
    user = await service.signIn(1_000);
  });
  afterEach(async () => {
    Object.assign(lists, { blind: false, hidePrices: false });
    waits.length = 0;
    await service.gpus.clearFaults();
    await service.gpus.faults({ bootMs: 100 });
    await renting.assertAddsUp();
  });
  after(() => service.stop());

  describe('whose create does not tell what the machine costs (decision 74)', () => {
    it('waits for the price, with nothing charged, and keeps the machine once it is told', async () => {
      lists.hidePrices = true;
      const id = await renting.open(user, l40s);
      await until('the machine is up', async () => (await renting.bought(id))[0]?.[0] === 'active');
      const { status, pod_id } = await renting.row(id);
      assert.deepEqual([status, pod_id], ['provisioning', null]);
      lists.hidePrices = false;
      await renting.awaitStatus(id, 'running');
      assert.deepEqual(await renting.bought(id), [['active', l40s.pricePerHourCents]]);
      await renting.stop(user, id);
    });

    it('ends a machine that never tells it, and gives everything back', async () => {
      lists.hidePrices = true;
      const id = await renting.openDirectly(user, l40s, { unknownFindMs: 300 });
      await until('none of its machines has time left', async () => {
        await service.db('allocation_attempts').where({ rental_id: id }).update({ deadline_ms: 1_000 });
        return (await renting.row(id)).closed_at !== null;
      });
      const failed = await renting.row(id);
      assert.deepEqual([failed.status, failed.charged_cents - failed.refunded_cents], ['failed', 0]);
      await until('every machine is gone', async () =>
        (await renting.bought(id)).every(([podStatus]) => podStatus === 'deleted'),
      );
    });
  });

  it('is bought without letting a call wait beyond the 15 seconds in all, nor beyond what its caller waits (decision 19)', async () => {
    await service.gpus.faults({ failCreateAfterMake: 1 });
    // Less than those 15 seconds, and far more than a busy machine needs.
    const callerMs = 12_000;
    const soon = new Date(Date.now() + callerMs).toISOString();
    const id = await renting.openDirectly(user, l40s, {}, { answerBefore: soon });
    assert.equal(waits.length >= 2, true, 'a create, and a look for what it bought');
    for (const waitMs of waits)
      assert.ok(waitMs > 0 && waitMs <= callerMs - rentalLimits.openFinishMs, `${waitMs} ms`);
    await renting.stop(user, id);
    waits.length = 0;
    await renting.stop(user, await renting.open(user, l40s));
    assert.ok(waits[0]! <= rentalLimits.openBudgetMs, `${waits[0]} ms`);
  });

  it('of which nobody knows whether it was bought is looked for until the upstream’s lists show it', async () => {
    await service.gpus.faults({ failCreateAfterMake: 1 });
    lists.blind = true;
    const id = await renting.open(user, l40s);
    assert.deepEqual([(await renting.row(id)).pod_id, (await renting.row(id)).hold_cents], [null, 148]);
    lists.blind = false;
    const running = await renting.awaitStatus(id, 'running');
    assert.deepEqual(
      (await renting.pods(id)).map((pod) => pod.id),
      [running.pod_id],
    );
    await renting.stop(user, id);
  });

  it('that is stopped before any list has shown it ends', async () => {
    lists.blind = true;
    await service.gpus.faults({ bootMs: 60_000 });
    const id = await renting.open(user, l40s);
    await renting.stop(user, id);
    await until('the machine is gone', async () => (await renting.bought(id))[0]?.[0] === 'deleted');
    lists.blind = false;
    assert.equal((await renting.awaitClosed(id)).status, 'stopped');
  });

  it('is bought exactly 3 times by 20 requests at once with money for 3', async () => {
    await service.gpus.faults({ bootMs: 60_000 });
    const shared = await service.signIn(3 * 40 + 10);
    const rent = () => shared.post('/v1/rentals', { familyId: 'rtx-4090', gpuCount: 1 });
    const answers = await Promise.all(Array.from({ length: 20 }, rent));
    // A late one is told to come back: it waits for the lock for 5 seconds at most, and does not wait for its turn at all
    // behind many others. So it comes when all have been answered.
    for (const [n, { status }] of answers.entries()) if (status === 429) answers[n] = await rent();
    const opened = answers.filter(({ status }) => status === 200).map(({ body }) => body.id);
    assert.equal(opened.length, 3, JSON.stringify(answers.map(({ status, body }) => [status, body.error])));
    assert.equal(new Set(opened).size, 3);
    const refusals = answers.filter(({ status }) => status !== 200);
    for (const { body } of refusals) assert.equal(body.error, 'insufficient_balance');
    const wallet = await renting.wallet(shared);
    assert.deepEqual([wallet.available_cents, wallet.reserved_cents], [10, 120]);
    const rows = await service.db('rentals').where({ user_id: shared.user.id });
    assert.deepEqual(
      rows.map(({ hold_cents }) => hold_cents),
      [40, 40, 40],
    );
    const { pods } = await service.gpus.state();
    const tags = (await service.db('allocation_attempts').whereIn('rental_id', opened)).map(({ tag }) => tag);
    assert.equal(tags.length, 3);
    assert.equal(pods.filter(({ name }) => tags.includes(name)).length, 3);
    await Promise.all(rows.map(({ id }) => renting.stop(shared, id)));
    assert.equal((await renting.wallet(shared)).available_cents, 130);
  });
});
