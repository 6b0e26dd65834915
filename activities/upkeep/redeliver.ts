import { listWorkflowsWithWaitingEvents } from '../../adapters/postgres/payments/event-handling.js';
import { operationLimits } from '../../domain/operations/limits.js';
import type { ActivityDeps } from '../deps.js';
import type { Tell } from '../heartbeat.js';
import { signalLooks } from './signal-looks.js';

/**
 * Signals the workflows for which a stored event of the processor has waited too long.
 * @returns how many were signalled, or had a signal already
 */
export async function redeliver(deps: ActivityDeps, tell?: Tell): Promise<{ workflows: number }> {
  const waiting = await listWorkflowsWithWaitingEvents(deps.db, operationLimits.eventRedeliverMs);
  return { workflows: (await signalLooks(deps, waiting, tell === undefined ? {} : { tell })).length };
}
