import { processorEventSignal } from './signals.js';
import type { LookingWorkflow } from './workflow-contract.js';

/** The input of workflows that follow one of the processor's objects. */
export interface EventInput {
  /** The workflow's id: the object's id at the processor. */
  readonly id: string;
  /** How long to wait for an event before the processor is asked, in milliseconds; the last one repeats. */
  readonly askAfterMs?: readonly number[];
}

/** The result of an activity's look, which brought its row up to date. */
export interface EventLook {
  /** waiting: more is expected. closed: nothing more is expected. missing: nothing of ours. */
  readonly state: 'missing' | 'waiting' | 'closed';
  readonly status: string;
  readonly summary: string;
  /** When the next look is due even without an event, in milliseconds from now. Default: the caller's waits. */
  readonly nextLookMs?: number;
}

type EventRun = (input: EventInput) => Promise<{ outcome: string }>;

/** A payment that names a user and none of their top-ups; the workflow's id is the payment's. */
export const paymentWorkflow = following('payment', 'A payment that names a user and none of their top-ups');

/** A saved card; the workflow's id is the payment method's. */
export const cardWorkflow = following('card', 'A saved card');

/** A refund at the processor; the workflow's id is the refund's. */
export const refundWorkflow = following('refund', 'A refund at the processor');

/** A dispute at the processor; the workflow's id is the dispute's. */
export const disputeWorkflow = following('dispute', 'A dispute at the processor');

/** Makes the contract of a workflow that follows one object of the processor under that object's id. */
function following<Type extends string>(type: Type, summary: string): LookingWorkflow<Type, EventRun> {
  const contract: LookingWorkflow<Type, EventRun> = {
    type,
    signal: processorEventSignal,
    takeUp: (workflowId) => ({ contract, workflowId, args: [{ id: workflowId }], summary }),
  };
  return contract;
}
