import { ApplicationFailure } from '@temporalio/activity';
import {
  confirmDatabase,
  isDatabaseConfirmed,
  type Verdict,
} from '../adapters/postgres/restore/watermark.js';
import { readKeptWatermark } from '../adapters/temporal/watermark.js';
import { restoredMessage, unprovenMessage } from '../domain/operations/watermark.js';
import type { ActivityDeps } from './deps.js';
import type { Activity } from './noticing.js';

type Asking = Pick<ActivityDeps, 'db' | 'temporal' | 'log'>;

/**
 * Refuses while the database is behind what the service has done (decision 37, "Brakes and the watermark", and decision
 * 67, "Restored databases"). A database whose incarnation is new is compared with Temporal's watermark first, so an
 * ordinary restart costs one question.
 * @throws ApplicationFailure `database_restored`, which is retried: work that waits goes on once an operator has
 *   reconciled
 */
export async function refuseWhenRestored(deps: Asking): Promise<void> {
  if (await isDatabaseConfirmed(deps.db)) return;
  const verdict = await compareWatermarks(deps);
  if (verdict === 'confirmed') return;
  throw ApplicationFailure.create({
    type: 'database_restored',
    ...(verdict === 'restored'
      ? { message: restoredMessage, nextRetryDelay: '5s' }
      : { message: unprovenMessage, nextRetryDelay: '1s' }),
  });
}

/** Tells whether work was refused because the database is behind: nothing of that work failed. */
export function isRestoredRefusal(error: unknown): boolean {
  return error instanceof ApplicationFailure && error.type === 'database_restored';
}

/** Compares the database's watermark with Temporal's, and records the result in the database. */
export async function compareWatermarks(deps: Asking): Promise<Verdict> {
  const verdict = await confirmDatabase(deps.db, await readKeptWatermark(deps.temporal.workflow));
  if (verdict === 'restored') deps.log.error(restoredMessage);
  return verdict;
}

/** Makes an activity ask first whether the database may be acted on. */
export function askingFirst(deps: Asking, activity: Activity): Activity {
  return async (...args) => {
    await refuseWhenRestored(deps);
    return activity(...args);
  };
}

/**
 * Makes an activity ask first, as `askingFirst` does, where a caller waits: they are told at once that nothing was
 * begun.
 */
export function answeringRestored(deps: Asking, activity: Activity): Activity {
  return async (...args) => {
    await refuseWhenRestored(deps).catch((error: unknown) => {
      throw asAnswer(error);
    });
    return activity(...args);
  };
}

function asAnswer(error: unknown): unknown {
  if (!isRestoredRefusal(error)) return error;
  return ApplicationFailure.nonRetryable(
    'The service is under repair, so nothing happened. Try again later.',
    'temporarily_unavailable',
  );
}
