import assert from 'node:assert/strict';
import { ApplicationFailure } from '@temporalio/common';
import { NativeConnection, Worker } from '@temporalio/worker';
import { newId } from '../../../adapters/ids.js';
import { taskQueues } from '../../../domain/task-queues.js';
import { rentalWorkflow } from '../../../domain/rentals/rental.js';
import { lookSignal, stopUpdate } from '../../../workflows/contracts/rental.js';
import { createTestNamespace, type TestNamespace } from '../../support/servers/namespace.js';
import { until } from '../../support/until.js';
import { getBundle } from '../../support/service/workers.js';

/** A rental's steps, without anything behind them: a running one whose metering fails for as long as it is told to. */
class Steps {
  phase: 'running' | 'ended' | 'end_pod' | 'closed' = 'running';
  failed = 0;
  metered = 0;
  isBroken = true;
  /** Its bill is being made. */
  isSettling = false;
  settle: () => void = () => undefined;

  readonly activities = {
    lookAtRental: () => Promise.resolve({ phase: this.phase, facts: null, summary: this.phase }),
    meterRental: () => {
      if (this.isBroken) {
        this.failed += 1;
        return Promise.reject(ApplicationFailure.nonRetryable('its schedule is used up'));
      }
      this.metered += 1;
      return Promise.resolve({ nextLookMs: this.phase === 'running' ? 3_600_000 : 0 });
    },
    settleRental: async () => {
      this.isSettling = true;
      await new Promise<void>((resolve) => (this.settle = resolve));
      this.phase = 'end_pod';
    },
    endPods: () => Promise.resolve(),
    closeRental: () => {
      this.phase = 'closed';
      return Promise.resolve();
    },
  };
}

describe('a rental whose steps have used up their schedule (decision 69)', () => {
  let namespace: TestNamespace;
  let connection: NativeConnection;
  const steps = new Steps();
  let workers: Worker[] = [];
  let runs: Promise<unknown>;
  before(async () => {
    namespace = await createTestNamespace();
    connection = await NativeConnection.connect({ address: namespace.address });
    const shared = { connection, namespace: namespace.name, activities: steps.activities };
    workers = [
      await Worker.create({ ...shared, taskQueue: taskQueues.rentals, workflowBundle: await getBundle() }),
      await Worker.create({ ...shared, taskQueue: taskQueues.upstream }),
    ];
    runs = Promise.all(workers.map((worker) => worker.run()));
  });
  after(async () => {
    steps.settle();
    for (const worker of workers) worker.shutdown();
    await runs;
    await connection.close();
    await namespace.close();
  });

  it('and that goes on again lets whoever stops it wait for its bill', async () => {
    const rentalId = newId('rent');
    const handle = await namespace.client.workflow.start(rentalWorkflow, {
      ...{ workflowId: rentalId, taskQueue: taskQueues.rentals, args: [{ rentalId }] },
    });
    await until('a step has failed', () => Promise.resolve(steps.failed > 0));
    steps.isBroken = false;
    await until('it is metered again', async () => {
      await handle.signal(lookSignal);
      return steps.metered > 0;
    });

    steps.phase = 'ended';
    const stopped = handle.executeUpdate(stopUpdate, { updateId: 'stop' });
    await until('its bill is being made', () => Promise.resolve(steps.isSettling));
    const { events } = await handle.fetchHistory();
    const has = (name: 'Accepted' | 'Completed'): boolean =>
      (events ?? []).some((event) => event[`workflowExecutionUpdate${name}EventAttributes`]);
    assert.deepEqual([has('Accepted'), has('Completed')], [true, false]);
    steps.settle();
    await stopped;
    assert.deepEqual(await handle.result(), { outcome: 'stopped' });
  });
});
