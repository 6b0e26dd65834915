import type { WorkflowClient } from '@temporalio/client';
import { isId } from '../../domain/ids.js';
import { operationLimits } from '../../domain/operations/limits.js';
import type { EventRoute } from '../../domain/payments/processor-routes.js';
import type { Database } from '../postgres/database.js';
import { claimLook, releaseLook } from '../postgres/upkeep/look-signals.js';
import { signalRental } from './signal-rental.js';
import { signalWorkflow } from './signal-workflow.js';

/** A workflow that looks at its row when it is told. */
export type LookRoute = EventRoute | { readonly workflow: 'rental'; readonly workflowId: string };

/**
 * - told: it was signalled. - pending: it has an unhandled signal, and looks because of that one.
 * - repeated: it was signalled again, because it has not looked for long. - capped: it was told often enough today.
 * - capping: it was signalled for the last time today.
 */
export type Told = 'told' | 'pending' | 'repeated' | 'capping' | 'capped';

/**
 * Lets a workflow look at its row, starting it when none runs, unless it has a signal already (decision 69).
 * @param hasNoRun no run of it is open
 * @throws whatever Temporal's client does: it was not told, and may be told again at once
 */
export async function signalLook(
  { db, workflows }: { readonly db: Database; readonly workflows: WorkflowClient },
  route: LookRoute,
  hasNoRun = false,
): Promise<Told> {
  const { mayTell, isRepeated, today } = await claimLook(db, route, hasNoRun);
  if (!mayTell) return today >= operationLimits.looksPerDay ? 'capped' : 'pending';
  try {
    await signal(workflows, route);
  } catch (error) {
    await releaseLook(db, route.workflowId);
    throw error;
  }
  if (isRepeated) return 'repeated';
  return today === operationLimits.looksPerDay ? 'capping' : 'told';
}

function signal(workflows: WorkflowClient, route: LookRoute): Promise<void> {
  if (route.workflow !== 'rental') return signalWorkflow(workflows, route);
  const { workflowId } = route;
  if (!isId('rent', workflowId)) throw new Error(`${workflowId} is no rental's id`);
  return signalRental(workflows, workflowId);
}
