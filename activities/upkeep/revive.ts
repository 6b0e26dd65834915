import { listOpenClosings } from '../../adapters/postgres/accounts/closings.js';
import { listBegunOrders } from '../../adapters/postgres/operators/order-items.js';
import { listUnclosedReversals } from '../../adapters/postgres/payments/reversal-reads.js';
import { listUndetachedCards } from '../../adapters/postgres/payments/saved-cards.js';
import {
  listUnclosedRentals,
  listUnclosedTopups,
  listUsersWithOpenAutoTopups,
} from '../../adapters/postgres/upkeep/upkeep.js';
import { listRunning } from '../../adapters/temporal/runs.js';
import type { LookRoute } from '../../adapters/temporal/signal-workflow.js';
import { ensureRunning } from '../../adapters/temporal/start-workflow.js';
import { closingWorkflowId } from '../../domain/accounts/closing.js';
import type { OperationId } from '../../domain/ids.js';
import { autoTopupWorkflowId, type EventRoute } from '../../domain/payments/processor-routes.js';
import { listUnclosedInvoices } from '../../money/invoices/invoice-states.js';
import { lookingWorkflows } from '../../workflows/contracts/index.js';
import { operationRun, operationWorkflow } from '../../workflows/contracts/operation.js';
import type { ActivityDeps } from '../deps.js';
import { eachItem } from '../each-item.js';
import type { Tell } from '../heartbeat.js';
import { deliverIntents } from './deliver-intents.js';
import { noteFailingRuns } from './failing-runs.js';
import { startLongLived } from './long-lived.js';
import { signalLooks } from './signal-looks.js';

const { rental, topup, autoTopup, invoice, card, refund, dispute, closing } = lookingWorkflows;

/** The workflows of the rows that are looked for below. */
const ofRows = [rental, topup, autoTopup, invoice, card, refund, dispute, closing, operationWorkflow];

/**
 * Starts the workflow of every row that is not final and has no open run, and the long-lived workflows (design:
 * Temporal 7).
 * @returns how many rows had no run, and the long-lived workflows that run
 */
export async function revive(
  deps: ActivityDeps,
  tell: Tell,
): Promise<{ rentals: number; payments: number; started: string[] }> {
  const started = await startLongLived(deps, tell);
  const running = await listRunning(deps.temporal.workflow, ofRows);
  const isLost = ({ workflowId }: LookRoute): boolean => !running.has(workflowId);
  const rentals = (await listRentalRoutes(deps)).filter(isLost);
  const closings = (await listClosingRoutes(deps)).filter(isLost);
  const payments = (await listUnfinishedPayments(deps)).filter(isLost);
  tell({ rentals: rentals.length, payments: payments.length });
  await signalLooks(deps, [...rentals, ...payments, ...closings], { hasNoRun: true, tell });
  await reviveOrders(deps, running, tell);
  await deliverIntents(deps, tell);
  await noteFailingRuns(deps, new Set([...running, ...started]), tell);
  return { rentals: rentals.length, payments: payments.length, started };
}

/** Starts again the orders of many that were begun and have no run (decision 94, "Refunds of an outage"). */
async function reviveOrders(deps: ActivityDeps, running: ReadonlySet<string>, tell: Tell): Promise<void> {
  const items = (await listBegunOrders(deps.db)).filter((id) => !running.has(id));
  const keyOf = (id: OperationId): string => id;
  await eachItem(deps, { duty: 'workflow', items, keyOf, tell }, (operationId) =>
    ensureRunning(deps.temporal.workflow, operationRun(operationId)),
  );
}

async function listRentalRoutes({ db }: ActivityDeps): Promise<LookRoute[]> {
  const ids = await listUnclosedRentals(db);
  return ids.map((workflowId) => ({ workflow: 'rental', workflowId }));
}

async function listClosingRoutes({ db }: ActivityDeps): Promise<LookRoute[]> {
  const ids = await listOpenClosings(db);
  return ids.map((userId) => ({ workflow: 'closing', workflowId: closingWorkflowId(userId) }));
}

/** Lists rows about money at the processor that are not final: each should have a workflow (design: Temporal 7). */
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
