import assert from 'node:assert/strict';
import { NativeConnection, type Worker } from '@temporalio/worker';
import { pino } from 'pino';
import type { Activities } from '../../activities/index.js';
import { countTaskFailures, replaceRun } from '../../adapters/temporal/failing-task.js';
import { newId } from '../../adapters/ids.js';
import { taskQueues } from '../../domain/task-queues.js';
import { createWorkers } from '../../worker/workers.js';
import type { EventLook } from '../../workflows/contracts/events.js';
import { processorEventSignal } from '../../workflows/contracts/signals.js';
import { createTestNamespace, type TestNamespace } from '../support/servers/namespace.js';
import { getBundle } from '../support/service/workers.js';
import { until } from '../support/until.js';
import { sendUnreadable } from '../support/workflows/unreadable-signal.js';

describe('a run whose task fails', () => {
  const row: { state: EventLook['state']; looks: number } = { state: 'waiting', looks: 0 };
  let namespace: TestNamespace;
  let connection: NativeConnection;
  let workers: Worker[];
  let ended: Promise<unknown>;
  before(async () => {
    namespace = await createTestNamespace();
    connection = await NativeConnection.connect({ address: namespace.address });
    const lookAtCard = (): Promise<EventLook> => {
      row.looks += 1;
      return Promise.resolve({ state: row.state, status: row.state, summary: 'it was looked at' });
    };
    workers = await createWorkers({
      connection,
      namespace: namespace.name,
      bundle: await getBundle(),
      activities: { lookAtCard } as unknown as Activities,
      log: pino({ level: 'silent' }),
    });
    ended = Promise.all(workers.map((worker) => worker.run()));
  });
  after(async () => {
    for (const worker of workers) worker.shutdown();
    await ended;
    await connection.close();
    await namespace.close();
  });

  it('has no limit of an activation that would end the whole process (test/faults/long-activation)', () => {
    const limits = workers.map(({ options }) => options.isolateExecutionTimeoutMs);
    assert.equal(limits[0], 2 ** 32 - 1);
  });

  it('is seen to fail by a signal that it can not read, and goes on from its row when it is replaced', async () => {
    const { workflow } = namespace.client;
    const id = newId('op');
    const start = { workflowId: id, taskQueue: taskQueues.rentals, args: [{ id }] };
    const first = await workflow.start('card', { ...start, workflowTaskTimeout: '1s' });
    await until('it has looked', () => Promise.resolve(row.looks === 1));
    assert.equal(await countTaskFailures(workflow, id), 0);
    await sendUnreadable(namespace, id, processorEventSignal.name);
    await until('its task has failed twice', async () => (await countTaskFailures(workflow, id)) >= 2);
    assert.equal(row.looks, 1);

    row.state = 'closed';
    assert.equal(await replaceRun(workflow, id, 'a test'), true);
    assert.deepEqual(await workflow.getHandle(id).result(), { outcome: 'closed' });
    const told = await workflow.getHandle(id, first.firstExecutionRunId).describe();
    assert.equal(told.status.name, 'TERMINATED');
    assert.equal(await countTaskFailures(workflow, id), 0, 'it has ended');
    assert.equal(await countTaskFailures(workflow, newId('op')), 0, 'it is not known');
  });
});
