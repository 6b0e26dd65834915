import { defineSignal, defineUpdate } from '@temporalio/workflow';
import type { RentalId, SshKeyId, UserId } from '../domain/ids.js';
import { lookSignalName } from '../domain/rental.js';

/** What a user asked for. Validated by the API; ids and intent only, no personal data. */
export interface OpenRequest {
  readonly userId: UserId;
  readonly familyId: string;
  readonly gpuCount: number;
  readonly templateId: string;
  /** ISO country code, or us, eu, apac; null for anywhere. */
  readonly region: string | null;
  readonly name: string | null;
  readonly sshKeyIds: readonly SshKeyId[];
  readonly autoStopAfterMs: number | null;
  readonly maxSpendCents: number | null;
  readonly maxPricePerHourCents: number | null;
  /** ISO instant by the database's clock: after it, the rental must not be opened any more (decision 4). */
  readonly answerBefore: string;
}

/** Durations of the workflow, in milliseconds. Tests shorten them; the defaults stand in domain/limits.ts. */
export interface RentalDurations {
  readonly provisionDeadlineMs: number;
  readonly unknownFindMs: number;
  readonly beltMs: number;
}

export interface RentalInput {
  readonly rentalId: RentalId;
  /** Absent when the workflow is started again for a row that exists. */
  readonly open?: OpenRequest;
  readonly durations?: Partial<RentalDurations>;
}

/** What the workflow did, shown as its result. */
export interface RentalOutcome {
  readonly outcome: 'refused' | 'stopped' | 'failed' | 'missing';
  readonly code?: string;
}

/** Answered as soon as the rental is open, or with the refusal: an ApplicationFailure whose type is its code. */
export const openUpdate = defineUpdate<{ rentalId: RentalId }>('open');
/** Answered when the rental is settled. The request itself is the API's stop_requests row. */
export const stopUpdate = defineUpdate('stop');
/** Something about the rental changed in the database: look again. */
export const lookSignal = defineSignal(lookSignalName);
