import { defineSignal, defineUpdate } from '@temporalio/workflow';
import type { TopupId, UserId } from '../domain/ids.js';

export interface TopupInput {
  readonly topupId: TopupId;
  /** Absent when the workflow is started again for a row that exists. */
  readonly open?: { readonly userId: UserId; readonly amountCents: number; readonly answerBefore: string };
  /** When to ask the processor itself if no event came, in milliseconds; the last one repeats. */
  readonly askAfterMs?: readonly number[];
}

export interface TopupOutcome {
  readonly outcome: 'refused' | 'succeeded' | 'expired' | 'failed' | 'missing';
  readonly code?: string;
}

export const topupWorkflow = 'topup';

/** Answered as soon as the payment page exists, or with the refusal: an ApplicationFailure whose type is its code. */
export const openTopupUpdate = defineUpdate<{ topupId: TopupId }>('open');
/** An event of the processor about this top-up was stored: look again. */
export const processorEventSignal = defineSignal('processor-event');
