import assert from 'node:assert/strict';
import { insertAttempt } from '../../adapters/postgres/machines/attempts.js';
import type { RentalId } from '../../domain/ids.js';
import { startService, type TestService } from '../support/service/living-service.js';
import { startWorkerProcess, type WorkerProcess } from '../support/service/worker-process.js';
import { netCents, priceOf, Renting, rtx4090 } from '../support/story/renting.js';
import { until } from '../support/until.js';

const DIALECTS = ['shadeform', 'vast'] as const;

/** Decision 179, "Next machine after bad". Both upstreams sell the machine at one price. */
describe('a worker that is killed once a bad machine was left, before another one is bought', () => {
  let service: TestService;
  let renting: Renting;
  let worker: WorkerProcess | undefined;

  before(async () => {
    service = await startService({ worker: false, listener: true, dialects: DIALECTS, bootMs: 50 });
    renting = new Renting(service);
    worker = await startWorker();
    await until('the catalogs are read', async () => {
      const synced = await service.db('providers').whereNotNull('catalog_synced_at');
      return synced.length === DIALECTS.length;
    });
  });
  after(async () => {
    await worker?.kill();
    await service.stop();
  });

  async function startWorker(): Promise<WorkerProcess> {
    const { settings } = await service.activityDeps();
    return startWorkerProcess(service, {
      LAB_PROVIDER_DIALECTS: DIALECTS.join(','),
      INSTALLATION_KEY: settings.installationKey ?? '',
      MACHINE_URL: service.listener?.url,
    });
  }

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
    await worker?.kill();
    // Its statement would go on without it.
    await service.db.raw('select pg_terminate_backend(?)', [pid]);
    await holding.rollback();
    assert.equal((await renting.row(id)).pod_id, null);
    assert.equal((await statesOf(id)).length, 1, 'one machine was bought by then');
    await until('the bad one is gone', async () => (await statesOf(id)).join() === 'deleted');

    worker = await startWorker();
    await renting.awaitStatus(id, 'running');
    assert.deepEqual(await statesOf(id), ['deleted', 'active']);
    await renting.stop(user, id);
    const row = await renting.awaitClosed(id);
    assert.equal(netCents(row), priceOf(row));
    assert.deepEqual(await statesOf(id), ['deleted', 'deleted']);
    await renting.assertAddsUp(row.user_id);
  });
});
