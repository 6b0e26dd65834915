import { listDueIntents, markDelivered, type DueIntent } from '../../adapters/postgres/upkeep/intents.js';
import { warnOfLowBalance } from '../../adapters/postgres/wallets/low-balance.js';
import { listInvoicesToSignal, markSignalled } from '../../money/invoices/invoice-states.js';
import { isDatabaseConfirmed } from '../../adapters/postgres/restore/watermark.js';
import type { LookRoute } from '../../adapters/temporal/signal-workflow.js';
import { autoTopupWorkflowId } from '../../domain/payments/processor-routes.js';
import type { ActivityDeps } from '../deps.js';
import { eachItem } from '../each-item.js';
import type { Tell } from '../heartbeat.js';
import { signalLooks } from './signal-looks.js';

/**
 * Delivers the intents that transactions left: tells the workflows of rentals, and mails warnings. A workflow that is
 * not running is started again for its row (design: Temporal 1), so a lost one loses no intent. One that fails keeps no
 * other from it (decision 69, "Items that fail"). It does nothing while the database may have been restored: it would
 * start again a workflow that has ended (decision 67, "Restored databases").
 * @param tell hears of each: 500 of them may each take as long as Temporal may
 * @returns how many were delivered
 * @throws when Temporal or the database is away
 */
export async function deliverIntents(deps: ActivityDeps, tell?: Tell): Promise<number> {
  if (!(await isDatabaseConfirmed(deps.db))) return 0;
  const due = await listDueIntents(deps.db, 500);
  const warned = await warn(deps, due, tell);
  const told = new Set(
    (await signalLooks(deps, due.flatMap(routesOf), { tell })).map(({ workflowId }) => workflowId),
  );
  const delivered = due.filter((intent) => routesOf(intent).some(({ workflowId }) => told.has(workflowId)));
  await markDelivered(
    deps.db,
    [...warned, ...delivered].map(({ id }) => id),
  );
  return warned.length + delivered.length + (await signalInvoices(deps, tell));
}

function warn(deps: ActivityDeps, due: readonly DueIntent[], tell?: Tell): Promise<DueIntent[]> {
  const items = due.filter(({ kind }) => kind === 'low_balance');
  return eachItem(deps, { duty: 'warning', items, keyOf: ({ id }) => String(id), tell }, ({ id }) =>
    warnOfLowBalance(deps.db, id),
  );
}

/** Returns the workflows that act on an intent; a warning has none. */
function routesOf({ kind, rentalId, userId }: DueIntent): LookRoute[] {
  if (rentalId !== null) return [{ workflow: 'rental', workflowId: rentalId }];
  if (kind === 'auto_topup') return [{ workflow: 'autoTopup', workflowId: autoTopupWorkflowId(userId) }];
  return [];
}

/** Tells the workflows of invoices that were made, or that somebody wants looked at. */
async function signalInvoices(deps: ActivityDeps, tell?: Tell): Promise<number> {
  const routes = (await listInvoicesToSignal(deps.db)).map((id) => ({
    workflow: 'invoice' as const,
    workflowId: id,
  }));
  const told = new Set((await signalLooks(deps, routes, { tell })).map(({ workflowId }) => workflowId));
  const ids = routes.map(({ workflowId }) => workflowId).filter((id) => told.has(id));
  await markSignalled(deps.db, ids);
  return ids.length;
}
