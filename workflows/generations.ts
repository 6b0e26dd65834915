import { ActivityFailure, isCancellation, log, patched, workflowInfo } from '@temporalio/workflow';

/**
 * A run goes on as a new one from here on. The server refuses the 10,001st signal and the 2,001st update of a run, and
 * suggests a new one only by its history; each signal is an event of it, so this is well before all of them.
 */
const EVENTS_MAX = 1_000;

/** Tells whether a run should continue as new. Runs of release 0.1 that are longer already do so from now on. */
export function isLong(): boolean {
  const { continueAsNewSuggested, historyLength } = workflowInfo();
  return continueAsNewSuggested || isVeryLong(historyLength);
}

/** The same where a run that was begun by release 0.1 went on although it was suggested. */
export function isVeryLong(historyLength = workflowInfo().historyLength): boolean {
  return historyLength > EVENTS_MAX && patched('continues-by-length');
}

/**
 * How long a workflow waits when an activity has used up its schedule so many times in a row: never so long that an
 * outage, of the database for one, is felt for long after its end (decision 95, "Outages of a peer").
 */
export function pauseMs(failures: number): number {
  return Math.min(5_000 * 2 ** (failures - 1), PAUSE_MAX_MS);
}

const PAUSE_MAX_MS = 120_000;

/**
 * Lets a workflow have its turn when an activity has used up its schedule: a run that waits for an activity for ever can't
 * continue as new, while signals fill its history.
 * @throws what is no such failure, and a cancellation
 */
export function goOnAfter(error: unknown): void {
  if (!(error instanceof ActivityFailure) || isCancellation(error)) throw error;
  log.error('an activity used up its schedule; it is tried again later', { error });
}
