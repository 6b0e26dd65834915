import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, NativeConnection, type Worker } from '@temporalio/worker';
import { pino } from 'pino';
import type { Activities } from '../../activities/index.js';
import { countTaskFailures } from '../../adapters/temporal/failing-task.js';
import { newId } from '../../adapters/ids.js';
import { taskQueues } from '../../domain/task-queues.js';
import { createWorkers } from '../../worker/workers.js';
import { createTestNamespace, type TestNamespace } from '../support/servers/namespace.js';
import { until } from '../support/until.js';
import { sendUnreadable } from '../support/workflows/unreadable-signal.js';
import type { answersAtOnce, keepsBusy, waitsForEver } from '../support/workflows/slow-workflows.js';

/** They take longer than the SDK's own limit of one activation (5 s): some 100 µs each. */
const PROMISES = 100_000;
const BESIDE_S = Number(process.env['FAULT_SECONDS'] ?? 20);
const P99_MS = 1_000;

/**
 * A worker outlives a workflow whose activation takes longer than the SDK's default limit, and does the tasks of others
 * beside a run that it can't read. FAULT_SECONDS says for how long (the goal holds for 600).
 */
describe('a worker beside runs that are hard on it', () => {
  let namespace: TestNamespace;
  let connection: NativeConnection;
  let workers: Worker[];
  let ended: Promise<unknown>;
  before(async () => {
    namespace = await createTestNamespace();
    connection = await NativeConnection.connect({ address: namespace.address });
    const workflowsPath = fileURLToPath(new URL('../support/workflows/slow-workflows.ts', import.meta.url));
    workers = await createWorkers({
      connection,
      namespace: namespace.name,
      bundle: await bundleWorkflowCode({ workflowsPath }),
      activities: { runUpkeep: () => Promise.resolve() } as unknown as Activities,
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

  const started = () => ({ taskQueue: taskQueues.rentals, workflowId: newId('op') });

  it('lives on when one activation takes longer than 5 s', async () => {
    const { workflow } = namespace.client;
    const from = performance.now();
    const run = { ...started(), args: [PROMISES] as [number], workflowTaskTimeout: '2 minutes' } as const;
    await workflow.execute<typeof keepsBusy>('keepsBusy', run);
    assert.ok(performance.now() - from > 5_000, 'it took longer than the default limit');
    assert.ok(workers.every((worker) => worker.getState() === 'RUNNING'));
  });

  it('answers others while a run fails again and again by a signal that it can not read', async () => {
    const { workflow } = namespace.client;
    const stuck = await workflow.start<typeof waitsForEver>('waitsForEver', started());
    await sendUnreadable(namespace, stuck.workflowId, 'look');
    await until('its task fails', async () => (await countTaskFailures(workflow, stuck.workflowId)) > 0);
    const tookMs: number[] = [];
    for (const end = performance.now() + BESIDE_S * 1_000; performance.now() < end;) {
      const from = performance.now();
      await workflow.execute<typeof answersAtOnce>('answersAtOnce', started());
      tookMs.push(performance.now() - from);
    }
    const p99 = tookMs.toSorted((one, other) => one - other)[Math.floor(tookMs.length * 0.99)] ?? Infinity;
    process.stdout.write(
      `      ${tookMs.length} workflows in ${BESIDE_S} s, p99 ${Math.round(p99)} ms, Node ${process.version}\n`,
    );
    assert.ok(p99 < P99_MS, `p99 ${p99} ms`);
    assert.ok((await countTaskFailures(workflow, stuck.workflowId)) > 0);
    await stuck.terminate();
  });
});
