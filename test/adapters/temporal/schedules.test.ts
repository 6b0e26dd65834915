import assert from 'node:assert/strict';
import { ScheduleOverlapPolicy } from '@temporalio/client';
import { taskQueues } from '../../../domain/task-queues.js';
import { createTestNamespace, type TestNamespace } from '../../support/servers/namespace.js';
import { until } from '../../support/until.js';
import { ensureSchedules } from '../../../adapters/temporal/schedules.js';

describe('the schedules', () => {
  let namespace: TestNamespace;
  before(async () => {
    namespace = await createTestNamespace();
  });
  after(() => namespace.close());

  const handleOf = (id: string) => namespace.client.schedule.getHandle(id);
  const describeOf = (id: string) => handleOf(id).describe();

  it('are created, by several workers at once', async () => {
    await Promise.all([1, 2, 3].map(() => ensureSchedules(namespace.client)));
    const { spec, action } = await describeOf('reconcile');
    assert.deepEqual(
      spec.intervals?.map(({ every }) => every),
      [900_000],
    );
    assert.deepEqual([action.workflowType, action.args], ['reconcile', [{ scope: 'window' }]]);
  });

  it('are left alone when they are as they should be', async () => {
    const before = await describeOf('reconcile');
    await ensureSchedules(namespace.client);
    assert.deepEqual((await describeOf('reconcile')).info.lastUpdatedAt, before.info.lastUpdatedAt);
    assert.equal((await describeOf('reconcile-full')).info.lastUpdatedAt, undefined);
  });

  it('become what they should be when they differ, and stay paused where operators paused them', async () => {
    await handleOf('backfill').update((now) => ({
      ...now,
      spec: { intervals: [{ every: '1h' }] },
      policies: { ...now.policies, overlap: ScheduleOverlapPolicy.ALLOW_ALL },
      action: { ...now.action, taskQueue: 'elsewhere', args: ['old'] },
      state: { ...now.state, note: 'of an older release' },
    }));
    // Temporal takes both as signals, a moment after their answers. Of two that come at once it may take the pause first,
    // which the change then undoes.
    await until(
      'it differs',
      async () => (await describeOf('backfill')).state.note === 'of an older release',
    );
    await handleOf('backfill').pause('the processor is down');
    await until('it is paused', async () => (await describeOf('backfill')).state.paused);
    await Promise.all([1, 2].map(() => ensureSchedules(namespace.client)));
    const { spec, policies, action, state } = await describeOf('backfill');
    assert.deepEqual(
      spec.intervals?.map(({ every }) => every),
      [300_000],
    );
    assert.equal(policies.overlap, ScheduleOverlapPolicy.SKIP);
    assert.deepEqual([action.taskQueue, action.args ?? []], [taskQueues.rentals, []]);
    assert.equal(state.paused, true);
    assert.match(state.note ?? '', /never arrived/);
  });
});
