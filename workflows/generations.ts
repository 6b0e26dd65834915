import { ActivityFailure, deprecatePatch, isCancellation, log, workflowInfo } from '@temporalio/workflow';

/**
 * A run with more events than this goes on as a new one. The server refuses the 10,001st signal and the 2,001st update
 * of a run, and suggests a new run only by its history. Each signal is an event of the history, so this limit comes
 * well before all of them.
 */
const EVENTS_MAX = 1_000;

/** Whether a run should continue as new. */
export function isLong(): boolean {
  const { continueAsNewSuggested, historyLength } = workflowInfo();
  return continueAsNewSuggested || isVeryLong(historyLength);
}

/** The same for a run that must not be asked before it is quiet. */
export function isVeryLong(historyLength = workflowInfo().historyLength): boolean {
  if (historyLength <= EVENTS_MAX) return false;
  // Runs of 0.2 carry this mark here; the next release drops the line.
  deprecatePatch('continues-by-length');
  return true;
}

/**
 * Returns how long a workflow waits after an activity has used up its schedule so many times in a row, in milliseconds.
 * The wait is never so long that an outage, for example of the database, is felt for long after its end (decision 95,
 * "Outages of a peer").
 */
export function pauseMs(failures: number): number {
  return Math.min(5_000 * 2 ** (failures - 1), PAUSE_MAX_MS);
}

const PAUSE_MAX_MS = 120_000;

/**
 * Lets a workflow have its turn when an activity has used up its schedule. A run that waits for an activity for ever
 * can't continue as new, while signals fill its history.
 * @throws any other failure, and a cancellation
 */
export function goOnAfter(error: unknown): void {
  if (!(error instanceof ActivityFailure) || isCancellation(error)) throw error;
  log.error('an activity used up its schedule; it is tried again later', { error });
}
