import { WorkflowNotFoundError, type WorkflowClient } from '@temporalio/client';
import type { SignalDefinition } from '@temporalio/common';
import pLimit from 'p-limit';
import { isId, type RentalId } from '../../domain/ids.js';
import type { EventRoute } from '../../domain/payments/processor-routes.js';
import { lookingWorkflows } from '../../workflows/contracts/index.js';
import { lookSignal, processorEventSignal } from '../../workflows/contracts/signals.js';
import type { LookingWorkflow } from '../../workflows/contracts/workflow-contract.js';
import { startOptions } from './start-workflow.js';

/** A workflow that looks at its row when it is signalled. */
export type LookRoute =
  | EventRoute
  | { readonly workflow: 'rental' | 'webhook' | 'closing'; readonly workflowId: string };

/**
 * Lets a workflow look at its row again: an event of the processor about it was stored, or the row waits. A workflow
 * that has ended is started again, and looks at its row before anything else (design: Temporal 1).
 * @throws Error when the id is none of such a workflow, and the errors of Temporal's client
 */
export async function signalWorkflow(
  workflows: WorkflowClient,
  { workflow, workflowId }: LookRoute,
): Promise<void> {
  const contract = lookingWorkflows[workflow];
  await workflows.signalWithStart(contract.type, {
    ...startOptions(contract.takeUp(workflowId)),
    signal: contract.signal,
  });
}

/** Lets a rental's workflow look at its row again, starting it when none runs. */
export function signalRental(workflows: WorkflowClient, rentalId: RentalId): Promise<void> {
  return signalWorkflow(workflows, { workflow: 'rental', workflowId: rentalId });
}

/** Each signal has a deadline of its own, so that many take longer than one, and one that hangs fails alone. */
const SIGNAL_MS = 3_000;
const SIGNALS_AT_ONCE = 10;
/** So many failures are Temporal's, and not their workflows': the others would fail as well. */
const FAILURES_OF_ALL = 20;

/**
 * Lets the running workflows of these ids look at once. The loops start those that have no run.
 * @throws Error telling how many were not signalled, and why; the others were
 */
export async function signalRunning(workflows: WorkflowClient, ids: readonly string[]): Promise<void> {
  const failures: unknown[] = [];
  let signalled = 0;
  const limit = pLimit(SIGNALS_AT_ONCE);
  const signalOne = async (id: string): Promise<void> => {
    if (failures.length >= FAILURES_OF_ALL) return;
    try {
      const signal = () => workflows.getHandle(id).signal(signalOf(id));
      await workflows.withDeadline(Date.now() + SIGNAL_MS, signal);
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) {
        failures.push(error);
        return;
      }
    }
    signalled += 1;
  };
  await Promise.all(ids.map((id) => limit(() => signalOne(id))));
  const [first] = failures;
  if (failures.length === 0) return;
  const why = first instanceof Error ? first.message : String(first);
  throw new Error(`${ids.length - signalled} of ${ids.length} were not signalled: ${why}`, { cause: first });
}

/** The signal that a workflow of this id looks at. */
function signalOf(id: string): SignalDefinition {
  const looks = Object.values<LookingWorkflow>(lookingWorkflows).some(
    ({ signal, takeUp }) => signal === lookSignal && isIdOf(takeUp, id),
  );
  // An order has no row to be taken up from by its id alone.
  return looks || isId('op', id) ? lookSignal : processorEventSignal;
}

function isIdOf(takeUp: LookingWorkflow['takeUp'], id: string): boolean {
  try {
    return takeUp(id).workflowId === id;
  } catch {
    return false;
  }
}
