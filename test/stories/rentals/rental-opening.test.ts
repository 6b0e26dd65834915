import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Transaction } from '../../../adapters/postgres/database.js';
import type { Provider } from '../../../adapters/providers/provider.js';
import type { RentalId } from '../../../domain/ids.js';
import { rentalLimits } from '../../../domain/rentals/limits.js';
import type { SignedIn } from '../../support/http/api.js';
import { insertRental } from '../../support/money/factories.js';
import { startService, type TestService } from '../../support/service/living-service.js';
import { runUpkeepRound } from '../../support/service/upkeep-round.js';
import { l40s, Renting, rtx4090 } from '../../support/story/renting.js';
import { until } from '../../support/until.js';

/** The lag of the upstream's lists: while blind, they show none of our pods. */
const lists = { blind: false };

function lagging(provider: Provider): Provider {
  return {
    ...provider,
    listPods: async () => (lists.blind ? [] : provider.listPods()),
    find: async (tag) => (lists.blind ? undefined : provider.find(tag)),
  };
}

describe('opening a rental', () => {
  let service: TestService;
  let renting: Renting;
  let user: SignedIn;

  before(async () => {
    service = await startService({ freeMachines: {}, wrapProvider: lagging });
    renting = new Renting(service);
  });
  beforeEach(async () => {
    user = await service.signIn(1_000);
  });
  afterEach(async () => {
    lists.blind = false;
    await service.gpus.clearFaults();
    await service.gpus.faults({ bootMs: 100 });
    await renting.assertAddsUp();
  });
  after(() => service.stop());

  describe('at the next cheapest offer', () => {
    it('when the cheapest has no capacity; the hold is that one’s price', async () => {
      await service.gpus.faults({ noCapacity: 1 });
      const { id, price_per_hour_cents } = await renting.run(user, l40s);
      assert.equal(price_per_hour_cents, l40s.nextCents);
      assert.equal((await renting.wallet(user)).reserved_cents, l40s.nextCents);
      assert.deepEqual(await renting.bought(id), [['active', l40s.nextCents]]);
      await renting.stop(user, id);
    });

    it('but not when it is more than a tenth dearer: refused, without a hold or an entry', async () => {
      await service.gpus.faults({ noCapacity: 1 });
      const answer = await user.post('/v1/rentals', { familyId: 'rtx-4090', gpuCount: 1 });
      assert.deepEqual([answer.status, answer.body.error], [400, 'model_unavailable']);
      assert.equal((await renting.wallet(user)).available_cents, 1_000);
      assert.deepEqual(await renting.entries(user), []);
    });

    it('when that was agreed to', async () => {
      await service.gpus.faults({ noCapacity: 1 });
      const id = await renting.open(user, rtx4090, { maxPricePerHourCents: 69 });
      assert.equal((await renting.row(id)).price_per_hour_cents, 69);
      await renting.stop(user, id);
    });

    it('when the machine turns out dearer than listed: that one is given back', async () => {
      await service.gpus.faults({ priceChange: { times: 1, percent: 25 } });
      const { id, price_per_hour_cents } = await renting.run(user, l40s);
      assert.equal(price_per_hour_cents, l40s.nextCents);
      await until('the dearer one is gone', async () => (await renting.bought(id))[0]?.[0] === 'deleted');
      assert.deepEqual(await renting.bought(id), [
        ['deleted', 185],
        ['active', l40s.nextCents],
      ]);
      await renting.stop(user, id);
    });

    it('also when the answer with the dearer price was lost', async () => {
      await service.gpus.faults({ priceChange: { times: 1, percent: 25 }, failCreateAfterMake: 1 });
      const { id, price_per_hour_cents } = await renting.run(user, l40s);
      assert.equal(price_per_hour_cents, l40s.nextCents);
      await until('the dearer one is gone', async () => (await renting.bought(id))[0]?.[0] === 'deleted');
      await renting.stop(user, id);
    });
  });

  describe('when it is not known whether a machine was bought', () => {
    for (const fault of ['loseCreateAnswer', 'failCreateAfterMake'] as const) {
      it(`finds it by its tag and adopts it: one pod in all (${fault})`, async () => {
        await service.gpus.faults({ [fault]: 1 });
        const { id, pod_id } = await renting.run(user, l40s);
        const pods = await renting.pods(id);
        assert.deepEqual(
          pods.map((pod) => pod.id),
          [pod_id],
        );
        await renting.stop(user, id);
      });
    }

    it('answers all the same, and looks on until the upstream’s lists show it', async () => {
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

    it('gives up after its time with a full refund, and sweeps what appears later', async () => {
      await service.gpus.faults({ failCreateAfterMake: 1 });
      lists.blind = true;
      const id = await renting.openDirectly(user, l40s, { unknownFindMs: 300 });
      const failed = await renting.awaitClosed(id);
      assert.deepEqual([failed.status, failed.charged_cents, failed.refunded_cents], ['failed', 148, 148]);
      assert.equal(
        (await renting.bought(id))[0]?.[0],
        'active',
        'the late machine runs and nobody pays for it',
      );
      lists.blind = false;
      await until('it was swept', async () => {
        await runUpkeepRound(service, 'sweep');
        return (await renting.bought(id))[0]?.[0] === 'deleted';
      });
    });
  });

  it('and stopping it before any list has shown its machine ends the machine and closes it', async () => {
    lists.blind = true;
    await service.gpus.faults({ bootMs: 60_000 });
    const id = await renting.open(user, l40s);
    await renting.stop(user, id);
    await until('the machine is gone', async () => (await renting.bought(id))[0]?.[0] === 'deleted');
    lists.blind = false;
    assert.equal((await renting.awaitClosed(id)).status, 'stopped');
  });

  it('while another one of the same user is being opened waits 5 seconds, then tells to come back', async () => {
    const lock = await holdWallet();
    const answer = await user.post('/v1/rentals', { familyId: 'l40s', gpuCount: 1 });
    await lock.rollback();
    assert.deepEqual([answer.status, answer.body.error], [429, 'rate_limited']);
    assert.equal(answer.headers.get('retry-after'), '5');
    assert.deepEqual(await service.db('rentals').where({ user_id: user.user.id }), []);
  });

  it('is not refused because a try of its own that broke off still holds the wallet', async () => {
    const lock = await holdWallet();
    const answer = user.post('/v1/rentals', { familyId: 'l40s', gpuCount: 1 });
    // The first try loses its connection. The next ones find the lock held for longer than they wait.
    await until('the first try is cut off', async () => {
      const { rows } = await service.db.raw<{ rows: unknown[] }>(
        `select pg_terminate_backend(pid) from pg_stat_activity
          where application_name = 'test-worker-open' and wait_event_type = 'Lock' and datname = current_database()`,
      );
      return rows.length > 0;
    });
    await sleep(rentalLimits.openLockWaitMs + 1_500);
    await lock.rollback();
    const { status, body } = await answer;
    assert.equal(status, 200, JSON.stringify(body));
    await renting.stop(user, body.id as RentalId);
  });

  /** Locks the user's wallet, as a create under way does. */
  async function holdWallet(): Promise<Transaction> {
    const lock = await service.db.transaction();
    await lock.raw('select id from wallets where user_id = ? for no key update', [user.user.id]);
    return lock;
  }

  it('waits after machines of an hour that nobody was billed for, without a hold', async () => {
    const renter = await service.signIn(10_000);
    const at = new Date(Date.now() - 60_000);
    for (let count = 0; count < 2; count += 1) {
      await insertRental(service.db, renter.user.id, {
        ...{ price_per_hour_cents: 3_992, gpu_count: 8, pod_id: `free-${count}` },
        ...{ status: 'stopped', stop_reason: 'user', started_at: at, ended_at: at },
        ...{ settled_at: at, terminated_at: at, closed_at: at },
      });
    }
    const answer = await renter.post('/v1/rentals', { familyId: 'rtx-4090', gpuCount: 1 });
    assert.deepEqual([answer.status, answer.body.error], [429, 'rate_limited']);
    const seconds = Number(answer.headers.get('retry-after'));
    assert.ok(seconds > 3_400 && seconds <= 3_540, `${seconds} s`);
    assert.equal((await renter.get('/v1/billing/balance')).body.reservedCents, 0);
  });

  it('20 times at once with money for 3 opens exactly 3', async () => {
    await service.gpus.faults({ bootMs: 60_000 });
    const shared = await service.signIn(3 * 40 + 10);
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => shared.post('/v1/rentals', { familyId: 'rtx-4090', gpuCount: 1 })),
    );
    const opened = answers.filter(({ status }) => status === 200).map(({ body }) => body.id);
    assert.equal(opened.length, 3, JSON.stringify(answers.map(({ status, body }) => [status, body.error])));
    assert.equal(new Set(opened).size, 3);
    const refusals = answers.filter(({ status }) => status !== 200);
    // A late request may be told to come back: it waits for the lock for 5 seconds at most.
    for (const { body } of refusals)
      assert.ok(['insufficient_balance', 'rate_limited'].includes(body.error), body.error);
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

  it('50 times at once with one Idempotency-Key opens one, and answers all the same', async () => {
    await service.gpus.faults({ bootMs: 60_000 });
    const send = () =>
      user.post('/v1/rentals', { familyId: 'l40s', gpuCount: 1 }, { 'Idempotency-Key': 'order-1' });
    const answers = await Promise.all(Array.from({ length: 50 }, send));
    for (const { status, body } of answers) {
      assert.equal(status, 200, JSON.stringify(body));
      assert.deepEqual(body, answers[0]!.body);
    }
    const replay = await send();
    assert.deepEqual([replay.status, replay.body], [200, answers[0]!.body]);
    assert.equal(replay.headers.get('idempotent-replayed'), 'true');
    const rows = await service.db('rentals').where({ user_id: user.user.id });
    assert.deepEqual(
      rows.map(({ id }) => id),
      [answers[0]!.body.id],
    );
    assert.equal((await renting.bought(rows[0]!.id)).length, 1);
    assert.equal((await renting.wallet(user)).reserved_cents, l40s.pricePerHourCents);
    await renting.stop(user, rows[0]!.id);
  });
});
