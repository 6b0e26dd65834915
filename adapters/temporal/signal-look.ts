import type { WorkflowClient } from '@temporalio/client';
import { operationLimits } from '../../domain/operations/limits.js';
import type { Database } from '../postgres/database.js';
import { claimLook, releaseLook } from '../postgres/upkeep/look-signals.js';
import { signalWorkflow, type LookRoute } from './signal-workflow.js';

/**
 * - signalled: it was. - pending: it has an unhandled signal, and looks because of that one.
 * - repeated: it was signalled again, because it has not looked for long. - capped: it was signalled often enough today.
 * - capping: it was signalled for the last time today.
 */
export type Signalled = 'signalled' | 'pending' | 'repeated' | 'capping' | 'capped';

/**
 * Lets a workflow look at its row, starting it when none runs, unless it has a signal already (decision 69, "Items that
 * fail").
 * @param hasNoRun no run of it is open
 * @throws the errors of Temporal's client: it was not signalled, and may be at once
 */
export async function signalLook(
  { db, workflows }: { readonly db: Database; readonly workflows: WorkflowClient },
  route: LookRoute,
  hasNoRun = false,
): Promise<Signalled> {
  const { mayTell, isRepeated, today } = await claimLook(db, route, hasNoRun);
  if (!mayTell) return today >= operationLimits.looksPerDay ? 'capped' : 'pending';
  try {
    await signalWorkflow(workflows, route);
  } catch (error) {
    await releaseLook(db, route.workflowId);
    throw error;
  }
  if (isRepeated) return 'repeated';
  return today === operationLimits.looksPerDay ? 'capping' : 'signalled';
}
