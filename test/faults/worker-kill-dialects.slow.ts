import assert from 'node:assert/strict';
import type { RentalId } from '../../domain/ids.js';
import type { Answer } from '../support/http/answers.js';
import type { SignedIn } from '../support/http/api.js';
import { startService, type TestService } from '../support/service/living-service.js';
import { startWorkerProcess, type WorkerProcess } from '../support/service/worker-process.js';
import { netCents, priceOf, Renting } from '../support/story/renting.js';
import { until } from '../support/until.js';

/** What one of them alone sells, each in its own dialect; that of Shadeform is killed in worker-kill.slow.ts. */
const sold = [
  { dialect: 'runpod', familyId: 'rtx-6000-ada' },
  { dialect: 'vast', familyId: 'rtx-5090' },
  { dialect: 'lambda', familyId: 'h100-80gb' },
] as const;

describe('a worker that is killed while upstreams sell', () => {
  let service: TestService;
  let renting: Renting;
  let worker: WorkerProcess | undefined;
  const openings = new Map<string, { user: SignedIn; answer: Promise<Answer> }>();
  const startWorker = () =>
    startWorkerProcess(service, { LAB_PROVIDER_DIALECTS: sold.map(({ dialect }) => dialect).join(',') });

  before(async () => {
    service = await startService({ worker: false, settings: { answerWithinMs: 60_000 } });
    renting = new Renting(service);
    worker = await startWorker();
    await until('the catalogs are read', async () => {
      const synced = await service.db('providers').whereNotNull('catalog_synced_at');
      return synced.length === sold.length;
    });
    await service.gpus.faults({ bootMs: 100, loseCreateAnswer: sold.length });
    for (const { dialect, familyId } of sold) {
      const user = await service.signIn(10_000);
      openings.set(dialect, { user, answer: user.post('/v1/rentals', { familyId, gpuCount: 1 }) });
    }
    await until('their machines were made', async () => {
      const { pods } = await service.gpus.state();
      return pods.length === sold.length;
    });
    await worker.kill();
    worker = await startWorker();
  });
  after(async () => {
    await worker?.kill();
    await service.stop();
  });

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
