import assert from 'node:assert/strict';
import { insertAttempt } from '../../../adapters/postgres/machines/attempts.js';
import type { RentalId } from '../../../domain/ids.js';
import type { Answer } from '../../support/http/answers.js';
import type { SignedIn } from '../../support/http/api.js';
import { KilledWorker } from '../../support/service/killed-worker.js';
import type { TestService } from '../../support/service/living-service.js';
import { netCents, priceOf, Renting, rtx4090 } from '../../support/story/renting.js';
import { until } from '../../support/until.js';

async function awaitCatalogs({ db }: TestService, count: number): Promise<void> {
  await until('the catalogs are read', async () => {
    const synced = await db('providers').whereNotNull('catalog_synced_at');
    return synced.length === count;
  });
}

/** What one of them alone sells, each in its own dialect; at Shadeform's it is killed in phases.ts. */
const sold = [
  { dialect: 'runpod', familyId: 'rtx-6000-ada' },
  { dialect: 'vast', familyId: 'rtx-5090' },
  { dialect: 'lambda', familyId: 'h100-80gb' },
] as const;

describe('a worker that is killed while upstreams sell', () => {
  const world = new KilledWorker({ settings: { answerWithinMs: 60_000 } }, () => ({
    LAB_PROVIDER_DIALECTS: sold.map(({ dialect }) => dialect).join(','),
  }));
  let service: TestService;
  let renting: Renting;
  const openings = new Map<string, { user: SignedIn; answer: Promise<Answer> }>();

  before(async () => {
    await world.start();
    ({ service } = world);
    renting = new Renting(service);
    await awaitCatalogs(service, sold.length);
    await service.gpus.faults({ bootMs: 100, loseCreateAnswer: sold.length });
    for (const { dialect, familyId } of sold) {
      const user = await service.signIn(10_000);
      openings.set(dialect, { user, answer: user.post('/v1/rentals', { familyId, gpuCount: 1 }) });
    }
    await until('their machines were made', async () => {
      const { pods } = await service.gpus.state();
      return pods.length === sold.length;
    });
    await world.kill();
    await world.startWorker();
  });
  after(() => world.stop());

  for (const { dialect } of sold) {
    it(`leaves one machine, which the next worker finds, in the dialect of ${dialect}`, async () => {
      const { user, answer } = openings.get(dialect)!;
      const { status, body } = await answer;
      assert.equal(status, 200, JSON.stringify(body));
      const id = body.id as RentalId;
      const row = await renting.awaitStatus(id, 'running');
      assert.equal(row.provider_code, `lab-${dialect}`);
      await renting.stop(user, id);
      const closed = await renting.awaitClosed(id);
      assert.equal(netCents(closed), priceOf(closed));
      assert.deepEqual(
        (await renting.pods(id)).map(({ dialect: spoken, status: state }) => [spoken, state]),
        [[dialect, 'deleted']],
      );
      await renting.assertAddsUp(closed.user_id);
    });
  }

  it('leaves nothing else', async () => {
    const { pods } = await service.gpus.state();
    assert.equal(pods.length, sold.length);
  });
});

const DIALECTS = ['shadeform', 'vast'] as const;

/** Decision 179, "Next machine after bad". Both upstreams sell the machine at one price. */
describe('a worker that is killed once a bad machine was left, before another one is bought', () => {
  const world = new KilledWorker({ listener: true, dialects: DIALECTS, bootMs: 50 }, async (living) => ({
    LAB_PROVIDER_DIALECTS: DIALECTS.join(','),
    INSTALLATION_KEY: (await living.activityDeps()).settings.installationKey ?? '',
    MACHINE_URL: living.listener?.url,
  }));
  let service: TestService;
  let renting: Renting;

  before(async () => {
    await world.start();
    ({ service } = world);
    renting = new Renting(service);
    await awaitCatalogs(service, DIALECTS.length);
  });
  after(() => world.stop());

  const statesOf = async (id: RentalId): Promise<string[]> =>
    (await renting.pods(id)).map(({ status }) => status);

  it('leaves no machine: the next worker buys one, and the bad one is ended', async () => {
    await service.gpus.faults({ badGpu: { times: 1, kind: 'wrong_model' } });
    const user = await service.signIn(10_000);
    const id = await renting.open(user, rtx4090);
    // Whoever is about to buy another one waits for this.
    const holding = await service.db.transaction();
    const { provider_code: providerCode, listing_id: listingId } = await renting.row(id);
    await insertAttempt(holding as never, {
      ...{ rentalId: id, deployment: 'held', providerCode, listingId, offerId: 'held' },
      ...{ pricePerHourCents: 1, endBy: null, deadlineMs: 1_000 },
    });
    const pid = await until('another one is about to be bought', async () => {
      const waiting = `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
        and query ilike '%insert into allocation_attempts%'`;
      return (await service.db.raw<{ rows: { pid: number }[] }>(waiting)).rows[0]?.pid;
    });
    await world.kill();
    // Its statement would go on without it.
    await service.db.raw('select pg_terminate_backend(?)', [pid]);
    await holding.rollback();
    assert.equal((await renting.row(id)).pod_id, null);
    assert.equal((await statesOf(id)).length, 1, 'one machine was bought by then');
    await until('the bad one is gone', async () => (await statesOf(id)).join() === 'deleted');

    await world.startWorker();
    await renting.awaitStatus(id, 'running');
    assert.deepEqual(await statesOf(id), ['deleted', 'active']);
    await renting.stop(user, id);
    const row = await renting.awaitClosed(id);
    assert.equal(netCents(row), priceOf(row));
    assert.deepEqual(await statesOf(id), ['deleted', 'deleted']);
    await renting.assertAddsUp(row.user_id);
  });
});
