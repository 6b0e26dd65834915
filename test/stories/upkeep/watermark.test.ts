import assert from 'node:assert/strict';
import { NativeConnection, Worker } from '@temporalio/worker';
import { signalWatermark, readKeptWatermark } from '../../../adapters/temporal/watermark.js';
import { taskQueues } from '../../../domain/task-queues.js';
import { raisedSignal, watermarkWorkflowId } from '../../../workflows/contracts/watermark.js';
import { createTestNamespace, type TestNamespace } from '../../support/servers/namespace.js';
import { until } from '../../support/until.js';
import { getBundle } from '../../support/service/workers.js';

describe('the watermark that Temporal keeps', () => {
  let namespace: TestNamespace;
  let connection: NativeConnection;
  let worker: Worker;
  let running: Promise<void>;

  before(async () => {
    namespace = await createTestNamespace();
    connection = await NativeConnection.connect({ address: namespace.address });
    worker = await Worker.create({
      ...{ connection, namespace: namespace.name, taskQueue: taskQueues.rentals },
      workflowBundle: await getBundle(),
    });
  });
  after(async () => {
    if (worker.getState() === 'RUNNING') worker.shutdown();
    await running;
    await connection.close();
    await namespace.close();
  });

  const kept = (): Promise<number | null> => readKeptWatermark(namespace.client.workflow);
  const handle = () => namespace.client.workflow.getHandle(watermarkWorkflowId);

  it('is none before it was first told, and is read without any worker', async () => {
    assert.equal(await kept(), null);
    await signalWatermark(namespace.client.workflow, 5);
    assert.equal(await kept(), 5);
    running = worker.run();
  });

  it('rises, and never falls', async () => {
    await signalWatermark(namespace.client.workflow, 7);
    await until('it is 7', async () => (await kept()) === 7);
    await signalWatermark(namespace.client.workflow, 6);
    await signalWatermark(namespace.client.workflow, 8);
    await until('it is 8', async () => (await kept()) === 8);
  });

  it('outlives a run whose history has grown', async () => {
    const { runId } = await handle().describe();
    for (let value = 9; value < 309; value += 50) {
      const fifty = Array.from({ length: 50 }, (_, at) => value + at);
      await Promise.all(fifty.map((each) => handle().signal(raisedSignal, each)));
    }
    // Signals come in any order: only a higher watermark is a turn of the workflow.
    await handle().signal(raisedSignal, 309);
    await until('another run has it', async () => {
      const now = await handle().describe();
      return now.runId !== runId && (await kept()) === 309;
    });
  });

  it('outlives the end of its workflow', async () => {
    await handle().terminate('by hand');
    assert.equal(await kept(), 309);
    await signalWatermark(namespace.client.workflow, 310);
    await until('it is 310', async () => (await kept()) === 310);
  });
});
