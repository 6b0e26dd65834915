import { defineUpdate } from '@temporalio/workflow';
import type { ChangeId, RentalId } from '../../domain/ids.js';
import { lookSignal } from './signals.js';
import { rowIdOf, type LookingWorkflow } from './workflow-contract.js';

/**
 * The input of an opening. The committed row in `rental_requests` says all else (decision 88, "Rows before workflows",
 * and decision 89, "Words kept from Temporal"): names, labels and texts of users never cross Temporal.
 */
export interface OpenInput {
  /** ISO instant by the database's clock; the rental must not be opened after it (decision 4, "Promise of a 503"). */
  readonly answerBefore: string;
}

/**
 * Durations of the workflow, in milliseconds. Tests shorten them; the defaults stand in domain/rentals/limits.ts and
 * domain/metering/limits.ts.
 */
export interface RentalDurations {
  readonly provisionDeadlineMs: number;
  readonly unknownFindMs: number;
  readonly beltMs: number;
}

export interface RentalInput {
  readonly rentalId: RentalId;
  /** Absent when the workflow is started again for a row that exists. */
  readonly open?: OpenInput;
  readonly durations?: Partial<RentalDurations>;
}

/** The actions of the workflow, shown as its result. */
export interface RentalOutcome {
  readonly outcome: 'refused' | 'stopped' | 'failed' | 'missing';
  readonly code?: string;
}

/** Answered as soon as the rental is open, or with the refusal: an ApplicationFailure whose type is its code. */
export const openUpdate = defineUpdate<{ rentalId: RentalId }>('open');
/** Answered when the rental is settled. The request itself is the API's stop_requests row. */
export const stopUpdate = defineUpdate('stop');

/** A change as the workflow is told of it; its row in `rental_changes` says what is asked for. */
export interface ChangeInput {
  readonly changeId: ChangeId;
  /** ISO instant by the database's clock; nothing is changed after it (decision 4, "Promise of a 503"). */
  readonly answerBefore: string;
}

/** Answered when the limits are changed, or with the refusal: an ApplicationFailure whose type is its code. */
export const changeUpdate = defineUpdate<{ changeId: ChangeId }, [ChangeInput]>('change');

type RentalRun = (input: RentalInput) => Promise<RentalOutcome>;

/** One rental; the workflow's id is the rental's (design: Temporal 2). */
export const rentalWorkflow: LookingWorkflow<'rental', RentalRun> = {
  type: 'rental',
  signal: lookSignal,
  takeUp: (workflowId) => ({
    contract: rentalWorkflow,
    workflowId,
    args: [{ rentalId: rowIdOf('rent', workflowId) }],
    summary: 'A rental that is taken up again from its row',
  }),
};
