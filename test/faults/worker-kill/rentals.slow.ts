import assert from 'node:assert/strict';
import { WorkflowUpdateFailedError } from '@temporalio/client';
import { KilledWorker } from '../../support/service/killed-worker.js';
import { startService, type TestService } from '../../support/service/living-service.js';
import { b200, Renting } from '../../support/story/renting.js';
import { until } from '../../support/until.js';
import { describeChange } from './change.js';
import { describePhases } from './phases.js';
import { describeSteps } from './steps.js';

const BOOT_MS = 100;

describe('rentals, when a worker is killed', () => {
  // Another worker starts in time for the callers, however slow the machine is.
  const settings = { stopWaitMs: 300, answerWithinMs: 60_000 };
  const world = new KilledWorker({ settings, bootMs: BOOT_MS });

  before(async () => {
    await world.start();
    const { db } = world.service;
    await until('the catalog is read', async () => (await db('listings').first('id')) !== undefined);
  });
  beforeEach(() => world.startWorker());
  afterEach(async () => {
    await world.service.gpus.clearFaults();
    await world.service.gpus.faults({ bootMs: BOOT_MS });
  });
  after(() => world.stop());

  describePhases(world);
  describeSteps(world);
  describeChange(world);
});

describe('without a worker', () => {
  let service: TestService;
  before(async () => {
    service = await startService({ worker: false, settings: { answerWithinMs: 3_000, answerGraceMs: 300 } });
  });
  after(() => service.stop());

  it('a rental is refused in time, and a worker that comes later never opens it', async () => {
    const user = await service.signIn(10_000);
    const answer = await user.post('/v1/rentals', { familyId: 'b200', gpuCount: 8 });
    assert.deepEqual([answer.status, answer.body.error], [503, 'temporarily_unavailable']);
    assert.equal(answer.body.details.outcome, 'not_done');

    await service.startWorker();
    const handle = service.temporal.workflow.getHandle(answer.body.details.rentalId);
    assert.deepEqual(await handle.result(), { outcome: 'refused', code: 'temporarily_unavailable' });
    assert.deepEqual(await service.db('rentals').where({ user_id: user.user.id }), []);
    assert.deepEqual(await service.db('allocation_attempts'), []);
    assert.deepEqual((await service.gpus.state()).pods, []);
    const { body } = await user.get('/v1/billing/balance');
    assert.deepEqual([body.availableCents, body.reservedCents], [10_000, 0]);
  });

  it('a change is refused in time, and a worker that comes later never makes it', async () => {
    if (!(await service.db('listings').first('id'))) await service.startWorker();
    const renting = new Renting(service);
    const user = await service.signIn(10_000);
    // The API would refuse a machine as well that is not bought within its short time.
    const id = await renting.openDirectly(user, b200, {});
    await renting.awaitStatus(id, 'running');
    await service.stopWorker();
    const answer = await user.patch(`/v1/rentals/${id}`, { maxSpendCents: 9_000, name: 'late' });
    assert.deepEqual([answer.status, answer.body.error], [503, 'temporarily_unavailable']);
    assert.equal(answer.body.details.outcome, 'not_done');

    await service.startWorker();
    const { changeId } = answer.body.details as unknown as { changeId: string };
    const update = service.temporal.workflow.getHandle(id).getUpdateHandle(changeId);
    await assert.rejects(update.result(), WorkflowUpdateFailedError);
    const { max_spend_cents, name } = await renting.row(id);
    assert.deepEqual([max_spend_cents, name], [null, null]);
  });
});
