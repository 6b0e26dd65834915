import { ConnectionError, isApiError } from './errors.js';
import { openIdOf } from './retries.js';

/** Tells whether a request that failed may have been done all the same. */
export function mayBeDone(error: unknown): boolean {
  if (error instanceof ConnectionError) return !error.neverSent;
  // What is not known of may be anything: an answer that could not be read, say.
  if (!isApiError(error) || isApiError(error, 'idempotency_in_progress')) return true;
  if (isApiError(error, 'temporarily_unavailable') && error.details?.outcome === 'not_done') return false;
  return error.status >= 500;
}

/** Refusals that come before the service looks at what a request's Idempotency-Key has done; all others tell it. */
const atTheDoor: readonly (string | number)[] = [
  'validation_failed',
  'billing_disabled',
  'forbidden',
  'session_required',
  'fresh_sign_in_required',
  'key_scope',
  'key_address',
  'key_ends_own',
  'key_setup',
  'not_found',
  'idempotency_conflict',
  'idempotency_in_progress',
  'code_request_rate_limited',
  // Statuses of which each refusal is one.
  ...[401, 405, 413, 415, 421],
];

/** Tells whether a failure leaves open what became of earlier attempts of the same request, under the same key. */
export function leavesEarlierOpen(error: unknown): boolean {
  if (!isApiError(error)) return true;
  if (isApiError(error, 'rate_limited')) {
    // A refusal made on demand has no details.
    const details = error.details as typeof error.details | undefined;
    return details?.reason !== 'too_many_free_machines';
  }
  return error.status >= 500 || [error.code, error.status].some((each) => atTheDoor.includes(each));
}

/**
 * Chooses what is told of a request that was sent several times and failed each time: that a later attempt did nothing
 * says nothing of those before it, and an id that the service told once is not forgotten.
 * @param soFar undefined: it is the first one
 */
export function mostOpen<Failure>(soFar: Failure | undefined, newest: Failure): Failure {
  if (soFar === undefined || !mayBeDone(soFar) || !leavesEarlierOpen(newest)) return newest;
  const isAsOpen = mayBeDone(newest) && (openIdOf(newest) !== undefined || openIdOf(soFar) === undefined);
  return isAsOpen ? newest : soFar;
}
