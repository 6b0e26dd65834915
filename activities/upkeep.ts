import { moveAttempt } from '../adapters/postgres/attempts.js';
import { stopBlockedRentals } from '../adapters/postgres/blocked-wallets.js';
import { listWorkflowsWithWaitingEvents } from '../adapters/postgres/event-handling.js';
import {
  closeCondemnedAttempts,
  condemnStrayPod,
  listForgottenAttempts,
  listStrayPods,
  listUnclosedRentals,
  listUnclosedTopups,
  listUsersWithOpenAutoTopups,
  type StrayPod,
} from '../adapters/postgres/upkeep.js';
import { raiseWatermark } from '../adapters/postgres/watermark.js';
import { prune } from '../adapters/postgres/retention.js';
import { takeSlowEnds } from '../adapters/postgres/pod-leaks.js';
import { noteSeenAlive } from '../adapters/postgres/pods.js';
import { expectPodsOfRentals } from '../adapters/postgres/pods-watch.js';
import { ProviderError, type Provider } from '../adapters/providers/provider.js';
import { listUnclosedInvoices } from '../adapters/postgres/money/invoice-states.js';
import { listUnclosedReversals } from '../adapters/postgres/reversal-reads.js';
import { listUndetachedCards, noticeExpiredCards } from '../adapters/postgres/saved-cards.js';
import { tellRental } from '../adapters/temporal/tell-rental.js';
import { tellWorkflow } from '../adapters/temporal/tell-workflow.js';
import { keepWatermark } from '../adapters/temporal/watermark.js';
import { limits } from '../domain/limits.js';
import { retention } from '../domain/retention.js';
import { autoTopupWorkflowId, type EventRoute } from '../domain/processor-routes.js';
import { taskQueues } from '../domain/task-queues.js';
import { compareWatermarks, refuseWhenRestored } from './ask-first.js';
import { deliverIntents } from './deliver-intents.js';
import type { ActivityDeps } from './deps.js';
import { SEVERAL_CALLS_MS, withHeartbeat, type Tell } from './heartbeat.js';

/** What the schedules do: find what a crash, a lost signal or a terminated run has left, and let it go on. */
export function createUpkeepActivities(deps: ActivityDeps) {
  return {
    /** Starts the workflow of every row that is not final and has no open run, and the long-lived ones. */
    async reviveWorkflows(): Promise<{ rentals: number; payments: number; started: string[] }> {
      return withHeartbeat((tell) => revive(deps, tell), { stalledAfterMs: SEVERAL_CALLS_MS });
    },

    /** Signals the workflows for which a stored event of the processor has waited too long. */
    async redeliverEvents(): Promise<{ workflows: number }> {
      const waiting = await listWorkflowsWithWaitingEvents(deps.db, limits.eventRedeliverMs);
      for (const route of waiting) await tellWorkflow(deps.temporal.workflow, route);
      return { workflows: waiting.length };
    },

    /** Ends pods that no live rental owns, and gives up attempts that a crash left open (decision 22). */
    async sweepPods(): Promise<{ ended: string[]; forgotten: number; closed: number }> {
      return withHeartbeat(
        async (tell) => {
          const forgotten = await listForgottenAttempts(deps.db, limits.attemptOpenMs);
          for (const attempt of forgotten) {
            tell({ forgotten: attempt.tag });
            await moveAttempt(deps.db, attempt.id, 'open', 'condemned', { error: 'no rental came of it' });
          }
          const ended: string[] = [];
          for (const provider of deps.providers.values()) {
            for (const stray of await listStrayPods(deps.db, provider.code, limits.attemptOpenMs)) {
              tell(stray);
              if (await endStray(deps, provider, stray)) ended.push(stray.tag);
            }
          }
          for (const pod of await stopBlockedRentals(deps.db, limits.blockedForMs)) {
            tell(pod);
            deps.log.error({ ...pod }, 'ending a machine whose wallet can not be metered');
            await noteSeenAlive(deps.db, pod.providerCode, pod.podId);
            await deps.providers.get(pod.providerCode)?.terminate(pod.podId);
          }
          await expectPodsOfRentals(deps.db);
          for (const pod of await takeSlowEnds(deps.db)) {
            deps.log.error({ ...pod }, 'a pod does not end although it was told to: look at the upstream');
          }
          const closed = await closeCondemnedAttempts(deps.db, 2 * limits.attemptOpenMs);
          return { ended, forgotten: forgotten.length, closed };
        },
        { stalledAfterMs: SEVERAL_CALLS_MS },
      );
    },

    /** Compares and raises the watermark, and removes what has served its time. */
    async keepHouse(): Promise<{ watermark: number; removed: number }> {
      // Compared each minute: rows that were put back under a running server change its incarnation in no way.
      await compareWatermarks(deps);
      await refuseWhenRestored(deps);
      const watermark = await raiseWatermark(deps.db);
      // Temporal second: it must never have heard of more than the database has committed.
      await keepWatermark(deps.temporal.workflow, watermark);
      return { watermark, removed: await pruneTables(deps) };
    },

    /** Tells users, once each, that their saved card has expired. */
    async tellOfExpiredCards(): Promise<{ expiredCards: number }> {
      return { expiredCards: await noticeExpiredCards(deps.db) };
    },
  };
}

/** Removes what has served its time (decision 70). A table that fails keeps no other from it. */
async function pruneTables({ db, log }: ActivityDeps): Promise<number> {
  const end = performance.now() + PRUNE_FOR_MS;
  let removed = 0;
  for (const kept of retention) {
    if (performance.now() > end) break;
    try {
      removed += await prune(db, kept);
    } catch (error) {
      log.error({ table: kept.table, err: error }, 'a table could not be pruned');
    }
  }
  return removed;
}

/** Less than what housekeeping may take; what is left goes in the next round. */
const PRUNE_FOR_MS = 15_000;

async function revive(
  deps: ActivityDeps,
  tell: Tell,
): Promise<{ rentals: number; payments: number; started: string[] }> {
  const started = await startLongLived(deps);
  const running = await runningWorkflows(deps);
  const rentals = (await listUnclosedRentals(deps.db)).filter((id) => !running.has(id));
  tell({ rentals: rentals.length });
  for (const id of rentals) {
    await tellRental(deps.temporal.workflow, id);
    tell({ rental: id });
  }
  const payments = (await listUnfinishedPayments(deps)).filter(({ workflowId }) => !running.has(workflowId));
  for (const route of payments) {
    await tellWorkflow(deps.temporal.workflow, route);
    tell(route);
  }
  await deliverIntents(deps);
  return { rentals: rentals.length, payments: payments.length, started };
}

/** One upstream, or one pod, that can't be ended now keeps no other from it; the next sweep asks again. */
async function endStray(deps: ActivityDeps, provider: Provider, stray: StrayPod): Promise<boolean> {
  if (!(await condemnStrayPod(deps.db, stray))) return false;
  deps.log.warn({ provider: provider.code, ...stray }, 'ending a pod that no rental owns');
  try {
    await provider.terminate(stray.podId);
    return true;
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    deps.log.warn({ provider: provider.code, podId: stray.podId, err: error }, 'it could not be ended yet');
    return false;
  }
}

/** Makes sure that the tick engines, the watchers and the mailer run; those that do are left alone. */
export async function startLongLived(deps: ActivityDeps): Promise<string[]> {
  const wanted = [
    ...Array.from({ length: deps.settings.shards }, (_, shard) => ({
      type: 'meter',
      summary: `Meters the wallets of shard ${shard} each second`,
      id: `meter:${shard}`,
      arg: { shard },
    })),
    ...[...deps.providers.keys()].map((code) => ({
      type: 'providerWatch',
      summary: `Watches the machines and the offers of ${code}`,
      id: `provider-watch:${code}`,
      arg: { code },
    })),
    { type: 'mailer', summary: 'Sends the mails of the outbox', id: 'mailer', arg: {} },
  ];
  for (const { type, summary, id, arg } of wanted) {
    await deps.temporal.workflow.start(type, {
      workflowId: id,
      taskQueue: taskQueues.rentals,
      args: [arg],
      staticSummary: summary,
      staticDetails: longLivedDetails,
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      workflowIdConflictPolicy: 'USE_EXISTING',
    });
  }
  return wanted.map(({ id }) => id);
}

/** For who finds one of them in the UI. */
const longLivedDetails =
  'It runs for ever: a loop of a quarter of an hour, then the next. What it does now stands in the heartbeat of its pending activity. Terminated by mistake, it is started again by the schedule "revive" within half a minute.';

/** Rows about money at the processor that are not final: each should have a workflow (design: Temporal 7). */
async function listUnfinishedPayments({ db }: ActivityDeps): Promise<EventRoute[]> {
  const [topups, autoTopups, invoices, cards, reversals] = await Promise.all([
    listUnclosedTopups(db),
    listUsersWithOpenAutoTopups(db),
    listUnclosedInvoices(db),
    listUndetachedCards(db),
    listUnclosedReversals(db),
  ]);
  return [
    ...topups.map((workflowId): EventRoute => ({ workflow: 'topup', workflowId })),
    ...autoTopups.map((userId): EventRoute => ({
      workflow: 'autoTopup',
      workflowId: autoTopupWorkflowId(userId),
    })),
    ...invoices.map((workflowId): EventRoute => ({ workflow: 'invoice', workflowId })),
    ...cards.map((workflowId): EventRoute => ({ workflow: 'card', workflowId })),
    ...reversals.map(({ id, kind }): EventRoute => ({ workflow: kind, workflowId: id })),
  ];
}

/** Ids of the workflows of rows that run. One that began a moment ago may be missing: harmless. */
async function runningWorkflows(deps: ActivityDeps): Promise<Set<string>> {
  const ids = new Set<string>();
  const query = `ExecutionStatus = 'Running' AND WorkflowType IN ('rental', 'topup', 'autoTopup', 'invoice', 'card', 'refund', 'dispute')`;
  for await (const execution of deps.temporal.workflow.list({ query })) ids.add(execution.workflowId);
  return ids;
}
