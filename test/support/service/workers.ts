import threads from 'node:worker_threads';
import { NativeConnection, Runtime, type WorkflowBundleWithSourceMap } from '@temporalio/worker';
import { createActivities } from '../../../activities/index.js';
import type { ActivityDeps } from '../../../activities/deps.js';
import { startLongLived } from '../../../activities/upkeep/long-lived.js';
import { connectTemporal } from '../../../adapters/temporal/client.js';
import { createWorkers } from '../../../worker/workers.js';
import { bundleWorkflows } from '../../../worker/bundle.js';

/** The product's workers in this process. */
export interface TestWorkers {
  /** Stops the workers after their current work, as an orderly stop of the process does. */
  stop(): Promise<void>;
}

let bundle: Promise<WorkflowBundleWithSourceMap> | undefined;

/** The workflows' code, read once per process. */
export function getBundle(): Promise<WorkflowBundleWithSourceMap> {
  bundle ??= bundleWorkflows();
  return bundle;
}

/** The dependencies of the activities, without the way back to Temporal. */
export type WorkerParts = Omit<ActivityDeps, 'temporal'>;

/** Starts one worker per queue, and the long-lived workflows, as worker/index.ts does. */
export async function startTestWorkers(
  where: { readonly address: string; readonly name: string },
  parts: WorkerParts,
): Promise<TestWorkers> {
  const [native, temporal] = await Promise.all([
    NativeConnection.connect({ address: where.address }),
    connectTemporal({ address: where.address, namespace: where.name }),
  ]);
  const deps = { ...parts, temporal };
  const close = (): Promise<unknown> => Promise.all([native.close(), temporal.connection.close()]);
  try {
    const workers = await createWorkers({
      connection: native,
      namespace: where.name,
      bundle: await getBundle(),
      activities: createActivities(deps),
      log: parts.log,
      // The loops of a test file have nothing to end in order.
      shutdownGraceMs: 100,
    });
    const runs = Promise.all(workers.map((worker) => worker.run()));
    await startLongLived(deps);
    return {
      async stop() {
        for (const worker of workers) worker.shutdown();
        await runs;
        await close();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * The SDK's thread of workflows runs plain JavaScript alone. A thread inherits `--import=tsx`, and would load it twice, for
 * itself and for its hooks, before each worker.
 */
threads.Worker = class extends threads.Worker {
  constructor(file: string | URL, options: threads.WorkerOptions = {}) {
    const isOfWorkflows = String(file).endsWith('workflow-worker-thread.js');
    super(file, isOfWorkflows ? { ...options, execArgv: [] } : options);
  }
};

const ignore = (): undefined => undefined;

/** The worker's own log would drown the report. The service keeps the activities' log (service.ts). */
Runtime.install({
  logger: { log: ignore, trace: ignore, debug: ignore, info: ignore, warn: ignore, error: ignore },
  telemetryOptions: { logging: { filter: 'ERROR' } },
  // Mocha decides about signals.
  shutdownSignals: [],
});
