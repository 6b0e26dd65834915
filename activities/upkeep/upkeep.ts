import { sleep } from '@temporalio/activity';
import { listWorkflowsWithWaitingEvents } from '../../adapters/postgres/payments/event-handling.js';
import { listUnclosedInvoices } from '../../money/invoices/invoice-states.js';
import { claimUntoldNotices } from '../../adapters/postgres/operators/operator-notices.js';
import { prune } from '../../adapters/postgres/upkeep/retention.js';
import { listUnclosedReversals } from '../../adapters/postgres/payments/reversal-reads.js';
import { listExpiredCards, noticeExpiredCard } from '../../adapters/postgres/payments/expired-cards.js';
import { listBegunOrders } from '../../adapters/postgres/operators/order-items.js';
import { listUndetachedCards } from '../../adapters/postgres/payments/saved-cards.js';
import {
  listUnclosedRentals,
  listUnclosedTopups,
  listUsersWithOpenAutoTopups,
} from '../../adapters/postgres/upkeep/upkeep.js';
import { raiseWatermark } from '../../adapters/postgres/restore/watermark.js';
import type { LookRoute } from '../../adapters/temporal/signal-look.js';
import { signalWatermark } from '../../adapters/temporal/watermark.js';
import type { OperationId } from '../../domain/ids.js';
import { operationLimits } from '../../domain/operations/limits.js';
import { autoTopupWorkflowId, type EventRoute } from '../../domain/payments/processor-routes.js';
import { retention } from '../../domain/operations/retention.js';
import { taskQueues } from '../../domain/task-queues.js';
import { upkeepDuties, type UpkeepDuty } from '../../domain/operations/upkeep.js';
import { operationWorkflow } from '../../workflows/contracts/operation.js';
import { compareWatermarks, isRestoredRefusal, refuseWhenRestored } from '../ask-first.js';
import { deliverIntents } from './deliver-intents.js';
import type { ActivityDeps } from '../deps.js';
import { eachItem, eachPart } from '../each-item.js';
import { SEVERAL_CALLS_MS, withHeartbeat, type Tell } from '../heartbeat.js';
import { sweep, type Swept } from '../machines/sweep.js';
import { isTemporalAway, signalLooks } from './signal-looks.js';

/** The upkeep: finds what a crash, a lost signal or a terminated run has left, and let it go on. */
export function createUpkeepActivities(deps: ActivityDeps) {
  return {
    /** Starts the workflow of every row that is not final and has no open run, and the long-lived ones. */
    async reviveWorkflows(): Promise<{ rentals: number; payments: number; started: string[] }> {
      return withHeartbeat((tell) => revive(deps, tell), { stalledAfterMs: SEVERAL_CALLS_MS });
    },

    /** Signals the workflows for which a stored event of the processor has waited too long. */
    async redeliverEvents(): Promise<{ workflows: number }> {
      return redeliver(deps);
    },

    /** Ends pods that no live rental owns, and gives up attempts that a crash left open (decision 22). */
    async sweepPods(): Promise<Swept> {
      return withHeartbeat((tell) => sweep(deps, tell), { stalledAfterMs: SEVERAL_CALLS_MS });
    },

    /** Compares and raises the watermark, and removes what has served its time. */
    async keepHouse(): Promise<{ watermark: number; removed: number }> {
      return keepHouse(deps, () => undefined);
    },

    /** Tells users, once each, that their saved card has expired. */
    async tellOfExpiredCards(): Promise<{ expiredCards: number }> {
      return { expiredCards: await tellOfExpired(deps) };
    },

    /**
     * Does one duty of the upkeep again and again for `forMs` and returns; its workflow starts it again. A round that
     * fails is counted, and made good by the next.
     */
    async runUpkeep(duty: UpkeepDuty, forMs: number): Promise<void> {
      const { everyMs, round } = upkeep[duty];
      await withHeartbeat(
        async (tell) => {
          const end = performance.now() + forMs;
          for (let rounds = 1; performance.now() < end; rounds += 1) {
            const started = performance.now();
            const done = await eachPart(deps, duty, () => round(deps, tell).catch(waitWhenRestored));
            tell({ rounds, ...done });
            await sleep(Math.max(everyMs / 10, everyMs - (performance.now() - started)));
          }
        },
        { stalledAfterMs: SEVERAL_CALLS_MS },
      );
    },
  };
}

/** What a round on a restored database comes to: it waits for operators, and is not set aside for that. */
function waitWhenRestored(error: unknown): object {
  if (isRestoredRefusal(error)) return { waits: 'the database was restored' };
  throw error;
}

/** How often each duty comes round, and what a round is. */
const upkeep: Readonly<
  Record<UpkeepDuty, { everyMs: number; round: (deps: ActivityDeps, tell: Tell) => Promise<object> }>
> = {
  redeliver: { everyMs: operationLimits.eventRedeliverMs, round: unlessRestored(redeliver) },
  revive: { everyMs: operationLimits.reviveEveryMs, round: unlessRestored(revive) },
  sweep: { everyMs: operationLimits.sweepEveryMs, round: unlessRestored(sweep) },
  housekeeping: {
    everyMs: operationLimits.housekeepingEveryMs,
    round: async (deps, tell) => {
      // Whoever starts the others is started again as well.
      await startLongLived(deps);
      const kept = await keepHouse(deps, tell);
      return { ...kept, expiredCards: await tellOfExpired(deps) };
    },
  },
};

function unlessRestored(round: (deps: ActivityDeps, tell: Tell) => Promise<object>) {
  return async (deps: ActivityDeps, tell: Tell): Promise<object> => {
    await refuseWhenRestored(deps);
    return round(deps, tell);
  };
}

async function redeliver(deps: ActivityDeps, tell?: Tell): Promise<{ workflows: number }> {
  const waiting = await listWorkflowsWithWaitingEvents(deps.db, operationLimits.eventRedeliverMs);
  return { workflows: (await signalLooks(deps, waiting, tell === undefined ? {} : { tell })).length };
}

async function keepHouse(deps: ActivityDeps, tell: Tell): Promise<{ watermark: number; removed: number }> {
  // Compared each minute: rows that were put back under a running server change its incarnation in no way.
  await compareWatermarks(deps);
  await refuseWhenRestored(deps);
  const watermark = await raiseWatermark(deps.db);
  // Temporal second: it must never have heard of more than the database has committed.
  await signalWatermark(deps.temporal.workflow, watermark);
  await eachPart(deps, 'notices for operators', () => tellOperators(deps));
  return { watermark, removed: await pruneTables(deps, tell) };
}

async function revive(
  deps: ActivityDeps,
  tell: Tell,
): Promise<{ rentals: number; payments: number; started: string[] }> {
  const started = await startLongLived(deps);
  const running = await runningWorkflows(deps);
  const isLost = ({ workflowId }: LookRoute): boolean => !running.has(workflowId);
  const rentals = (await listRentalRoutes(deps)).filter(isLost);
  const payments = (await listUnfinishedPayments(deps)).filter(isLost);
  tell({ rentals: rentals.length, payments: payments.length });
  await signalLooks(deps, [...rentals, ...payments], { hasNoRun: true, tell });
  await reviveOrders(deps, running, tell);
  await deliverIntents(deps);
  return { rentals: rentals.length, payments: payments.length, started };
}

/** Lets orders of many go on that were begun and have no run (decision 94). */
async function reviveOrders(deps: ActivityDeps, running: ReadonlySet<string>, tell: Tell): Promise<void> {
  const items = (await listBegunOrders(deps.db)).filter((id) => !running.has(id));
  const keyOf = (id: OperationId): string => id;
  await eachItem(deps, { duty: 'workflow', items, keyOf, tell }, (operationId) =>
    deps.temporal.workflow.start(operationWorkflow, {
      workflowId: operationId,
      taskQueue: taskQueues.rentals,
      args: [{ operationId }],
      staticSummary: 'An operator’s order',
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      workflowIdConflictPolicy: 'USE_EXISTING',
    }),
  );
}

/** Tells operators, by the log and by mail, of what was noted for them since the last round. */
async function tellOperators({ db, log, settings }: ActivityDeps): Promise<void> {
  for (const { cause, subject, body } of await claimUntoldNotices(db, settings.operatorEmail ?? null)) {
    log.error({ cause, body }, subject);
  }
}

/** Removes what has served its time (decision 70). A table that fails keeps no other from it. */
async function pruneTables(deps: ActivityDeps, tell: Tell): Promise<number> {
  const end = performance.now() + PRUNE_FOR_MS;
  let removed = 0;
  for (const kept of retention) {
    if (performance.now() > end) break;
    removed += (await eachPart(deps, `pruning ${kept.table}`, () => prune(deps.db, kept, { tell }))) ?? 0;
  }
  return removed;
}

/** Less than what housekeeping may take; what is left goes in the next round. */
const PRUNE_FOR_MS = 15_000;

async function tellOfExpired(deps: ActivityDeps): Promise<number> {
  const items = await listExpiredCards(deps.db);
  const told = await eachItem(deps, { duty: 'card_expiry', items, keyOf: ({ pm_id }) => pm_id }, (card) =>
    noticeExpiredCard(deps.db, card.pm_id),
  );
  return told.length;
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
    ...(deps.settings.withoutUpkeep === true ? [] : upkeepDuties).map((duty) => ({
      type: 'upkeep',
      summary: upkeepSummaries[duty],
      id: `upkeep:${duty}`,
      arg: { duty },
    })),
    { type: 'mailer', summary: 'Sends the mails of the outbox', id: 'mailer', arg: {} },
  ];
  const keyOf = ({ id }: { id: string }): string => id;
  const isOfAll = (): Promise<boolean> => isTemporalAway(deps);
  const items = { duty: 'long_lived', items: wanted, keyOf, isOfAll } as const;
  const started = await eachItem(deps, items, ({ type, summary, id, arg }) =>
    deps.temporal.workflow.start(type, {
      workflowId: id,
      taskQueue: taskQueues.rentals,
      args: [arg],
      staticSummary: summary,
      staticDetails: longLivedDetails,
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      workflowIdConflictPolicy: 'USE_EXISTING',
    }),
  );
  return started.map(({ id }) => id);
}

/** For who finds one of them in the UI. */
const longLivedDetails =
  'It runs for ever: a loop of a quarter of an hour, then the next. What it does now stands in the heartbeat of its pending activity. Terminated by mistake, it is started again by "upkeep:revive" or "upkeep:housekeeping" within a minute.';

const upkeepSummaries: Readonly<Record<UpkeepDuty, string>> = {
  revive: 'Starts the workflow of every unfinished row that has none',
  redeliver: 'Signals workflows whose events of the processor have waited',
  sweep: 'Ends machines that no live rental owns',
  housekeeping: 'Raises the watermark, removes what expired, tells of expired cards',
};

async function listRentalRoutes({ db }: ActivityDeps): Promise<LookRoute[]> {
  const ids = await listUnclosedRentals(db);
  return ids.map((workflowId) => ({ workflow: 'rental', workflowId }));
}

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
  const query = `ExecutionStatus = 'Running' AND WorkflowType IN ('rental', 'topup', 'autoTopup', 'invoice', 'card', 'refund', 'dispute', 'operation')`;
  for await (const execution of deps.temporal.workflow.list({ query })) ids.add(execution.workflowId);
  return ids;
}
