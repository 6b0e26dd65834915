import { moveAttempt } from '../adapters/postgres/attempts.js';
import { listWorkflowsWithWaitingEvents } from '../adapters/postgres/event-handling.js';
import {
  closeCondemnedAttempts,
  listForgottenAttempts,
  listStrayPods,
  listUnclosedRentals,
  listUnclosedTopups,
  raiseWatermark,
  removeExpired,
} from '../adapters/postgres/upkeep.js';
import { isId, type TopupId } from '../domain/ids.js';
import { limits } from '../domain/limits.js';
import { taskQueues } from '../domain/task-queues.js';
import { processorEventSignal, topupWorkflow, type TopupInput } from '../workflows/topup-contract.js';
import { deliverIntents, tellRental } from './deliver-intents.js';
import type { ActivityDeps } from './deps.js';
import { withHeartbeat } from './heartbeat.js';

/** What the schedules do: find what a crash, a lost signal or a terminated run has left, and let it go on. */
export function createUpkeepActivities(deps: ActivityDeps) {
  return {
    /** Starts the workflow of every row that is not final and has no open run, and the long-lived ones. */
    async reviveWorkflows(): Promise<{ rentals: number; topups: number; started: string[] }> {
      return withHeartbeat(async (tell) => {
        const started = await startLongLived(deps);
        const running = await runningWorkflows(deps);
        const rentals = (await listUnclosedRentals(deps.db)).filter((id) => !running.has(id));
        tell({ rentals: rentals.length });
        for (const id of rentals) await tellRental(deps, id);
        const topups = (await listUnclosedTopups(deps.db)).filter((id) => !running.has(id));
        for (const id of topups) await tellTopup(deps, id);
        await deliverIntents(deps);
        return { rentals: rentals.length, topups: topups.length, started };
      });
    },

    /** Signals the workflows for which a stored event of the processor has waited too long. */
    async redeliverEvents(): Promise<{ workflows: number }> {
      const waiting = await listWorkflowsWithWaitingEvents(deps.db, limits.eventRedeliverMs);
      for (const id of waiting) {
        if (isId('top', id)) await tellTopup(deps, id);
      }
      return { workflows: waiting.length };
    },

    /** Ends pods that no live rental owns, and gives up attempts that a crash left open (decision 22). */
    async sweepPods(): Promise<{ ended: string[]; forgotten: number; closed: number }> {
      return withHeartbeat(async (tell) => {
        const forgotten = await listForgottenAttempts(deps.db, limits.attemptOpenMs);
        for (const attempt of forgotten) {
          await moveAttempt(deps.db, attempt.id, 'open', 'condemned', { error: 'no rental came of it' });
        }
        const ended: string[] = [];
        for (const provider of deps.providers.values()) {
          for (const stray of await listStrayPods(deps.db, provider.code, limits.attemptOpenMs)) {
            tell(stray);
            deps.log.warn({ provider: provider.code, ...stray }, 'ending a pod that no rental owns');
            await provider.terminate(stray.podId);
            ended.push(stray.tag);
          }
        }
        const closed = await closeCondemnedAttempts(deps.db, 2 * limits.attemptOpenMs);
        return { ended, forgotten: forgotten.length, closed };
      });
    },

    /** Raises the watermark and removes what has served its time. */
    async keepHouse(): Promise<{ watermark: number; removed: number }> {
      return { watermark: await raiseWatermark(deps.db), removed: await removeExpired(deps.db) };
    },
  };
}

/** Makes sure that the tick engines, the watchers and the mailer run; those that do are left alone. */
export async function startLongLived(deps: ActivityDeps): Promise<string[]> {
  const wanted = [
    ...Array.from({ length: deps.settings.shards }, (_, shard) => ({
      type: 'meter',
      id: `meter:${shard}`,
      arg: { shard },
    })),
    ...[...deps.providers.keys()].map((code) => ({
      type: 'providerWatch',
      id: `provider-watch:${code}`,
      arg: { code },
    })),
    { type: 'mailer', id: 'mailer', arg: {} },
  ];
  for (const { type, id, arg } of wanted) {
    await deps.temporal.workflow.start(type, {
      workflowId: id,
      taskQueue: taskQueues.rentals,
      args: [arg],
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      workflowIdConflictPolicy: 'USE_EXISTING',
    });
  }
  return wanted.map(({ id }) => id);
}

async function tellTopup(deps: ActivityDeps, topupId: TopupId): Promise<void> {
  const input: TopupInput = { topupId };
  await deps.temporal.workflow.signalWithStart(topupWorkflow, {
    workflowId: topupId,
    taskQueue: taskQueues.rentals,
    args: [input],
    signal: processorEventSignal,
    workflowIdReusePolicy: 'ALLOW_DUPLICATE',
  });
}

/** Ids of the rentals' and top-ups' workflows that run. One that began a moment ago may be missing: harmless. */
async function runningWorkflows(deps: ActivityDeps): Promise<Set<string>> {
  const ids = new Set<string>();
  const query = `ExecutionStatus = 'Running' AND WorkflowType IN ('rental', 'topup')`;
  for await (const execution of deps.temporal.workflow.list({ query })) ids.add(execution.workflowId);
  return ids;
}
