import { defineSignal } from '@temporalio/workflow';
import { processorEventSignalName } from '../../domain/payments/processor-routes.js';

/** What workflows are started with that follow one of the processor's objects. */
export interface EventInput {
  /** The workflow's id: the object's id at the processor. */
  readonly id: string;
  /** How long to wait for an event before the processor is asked, in milliseconds; the last one repeats. */
  readonly askAfterMs?: readonly number[];
}

/** What an activity saw that brought its row up to date. */
export interface EventLook {
  /** waiting: more is expected. closed: nothing is. missing: nothing of ours. */
  readonly state: 'missing' | 'waiting' | 'closed';
  readonly status: string;
  readonly summary: string;
  /** When there is something to do even if nobody tells, in milliseconds from now; otherwise the caller's waits. */
  readonly nextLookMs?: number;
}

/** An event of the processor was stored: look again. */
export const processorEventSignal = defineSignal(processorEventSignalName);
