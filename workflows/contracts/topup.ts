import { defineUpdate } from '@temporalio/workflow';
import type { TopupId } from '../../domain/ids.js';
import { processorEventSignal } from './signals.js';
import { rowIdOf, type LookingWorkflow } from './workflow-contract.js';

export interface TopupInput {
  readonly topupId: TopupId;
  /**
   * Absent when the workflow is started again for a row that exists. The row of `topup_requests` says the user and the
   * amount (decision 88, "Rows before workflows").
   */
  readonly open?: { readonly answerBefore: string };
  /** When to ask the processor itself if no event came, in milliseconds; the last one repeats. */
  readonly askAfterMs?: readonly number[];
}

export interface TopupOutcome {
  readonly outcome: 'refused' | 'joined' | 'succeeded' | 'expired' | 'failed' | 'missing';
  readonly code?: string;
}

type TopupRun = (input: TopupInput) => Promise<TopupOutcome>;

/** One top-up; the workflow's id is the top-up's. */
export const topupWorkflow: LookingWorkflow<'topup', TopupRun> = {
  type: 'topup',
  signal: processorEventSignal,
  takeUp: (workflowId) => ({
    contract: topupWorkflow,
    workflowId,
    args: [{ topupId: rowIdOf('top', workflowId) }],
    summary: 'A top-up by page or saved card',
  }),
};

/**
 * Answers as soon as the payment page exists or the saved card's charge is answered. The answer is the top-up that
 * answers the request, or the refusal: an ApplicationFailure whose type is its code.
 */
export const openTopupUpdate = defineUpdate<{ topupId: TopupId }>('open');
