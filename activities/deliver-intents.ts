import { warnOfLowBalance } from '../adapters/postgres/low-balance.js';
import { listInvoicesToTell, markTold } from '../adapters/postgres/money/invoice-states.js';
import { listDueIntents, markDelivered } from '../adapters/postgres/intents.js';
import { isDatabaseConfirmed } from '../adapters/postgres/watermark.js';
import { tellRental } from '../adapters/temporal/tell-rental.js';
import { tellWorkflow } from '../adapters/temporal/tell-workflow.js';
import type { UserId } from '../domain/ids.js';
import { autoTopupWorkflowId } from '../domain/processor-routes.js';
import type { ActivityDeps } from './deps.js';

/**
 * Delivers what transactions left to do: tells the workflows of rentals, and mails warnings. A workflow that is not
 * running is started again for its row (design: Temporal 1), so a lost one loses no intent.
 * Not while the database may have been restored: a workflow that has ended would be started again (decision 67).
 * @returns how many were delivered
 */
export async function deliverIntents(deps: ActivityDeps): Promise<number> {
  if (!(await isDatabaseConfirmed(deps.db))) return 0;
  const due = await listDueIntents(deps.db, 500);
  const delivered: number[] = [];
  for (const intent of due) {
    if (intent.rentalId !== null) await tellRental(deps.temporal.workflow, intent.rentalId);
    else if (intent.kind === 'auto_topup') await tellAutoTopup(deps, intent.userId);
    else if (intent.kind === 'low_balance') await warnOfLowBalance(deps.db, intent.id);
    delivered.push(intent.id);
  }
  await markDelivered(deps.db, delivered);
  return delivered.length + (await tellInvoices(deps));
}

/** Tells the workflows of invoices that were made or that somebody wants looked at. */
async function tellInvoices(deps: ActivityDeps): Promise<number> {
  const ids = await listInvoicesToTell(deps.db);
  for (const workflowId of ids)
    await tellWorkflow(deps.temporal.workflow, { workflow: 'invoice', workflowId });
  await markTold(deps.db, ids);
  return ids.length;
}

/** Lets a user's auto-topup look at the level. */
export async function tellAutoTopup(deps: ActivityDeps, userId: UserId): Promise<void> {
  await tellWorkflow(deps.temporal.workflow, {
    workflow: 'autoTopup',
    workflowId: autoTopupWorkflowId(userId),
  });
}
