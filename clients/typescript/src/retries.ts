import { ApiError, ConnectionError, isApiError } from './errors.js';

/**
 * What sending a request a second time may do.
 * - `read`: nothing: it changes nothing, or gives what nobody must pay for
 * - `same`: what the first did, at most: it sets a state, or ends something
 * - `keyed`: what the first did, because both carry one Idempotency-Key
 * - `once`: more than the first, so only a request that certainly was not begun is sent again
 */
export type Repeats = 'read' | 'same' | 'keyed' | 'once';

/** Tells whether a request that failed may be sent again as it is. */
export function mayRepeat(repeats: Repeats, error: ApiError | ConnectionError): boolean {
  if (error instanceof ApiError) return mayRepeatAfterAnswer(repeats, error);
  if (error.neverSent) return true;
  if (error.status !== undefined && error.status < 500) return false;
  return repeats !== 'once';
}

function mayRepeatAfterAnswer(repeats: Repeats, error: ApiError): boolean {
  // Refused before it was begun.
  if (isApiError(error, 'rate_limited')) return true;
  if (isApiError(error, 'idempotency_in_progress')) return repeats === 'keyed';
  if (isApiError(error, 'temporarily_unavailable') && error.details?.outcome === 'not_done') return true;
  // What has an id is looked up there, and not asked for once more.
  if (openIdOf(error) !== undefined) return false;
  return error.status >= 500 && repeats !== 'once';
}

/**
 * Names what a create may have made: the service knows the id and could not tell the outcome (its promise of a 503:
 * what was not made by then never will be), or the first request with its key is still under way.
 */
export function openIdOf(error: unknown): string | undefined {
  if (isApiError(error, 'idempotency_in_progress')) {
    // A refusal made on demand has no details.
    const details = error.details as typeof error.details | undefined;
    return details?.rentalId ?? details?.topupId;
  }
  if (!isApiError(error, 'temporarily_unavailable') && !isApiError(error, 'internal_error')) return undefined;
  const { outcome, rentalId, topupId } = error.details ?? {};
  return outcome === 'unknown' ? (rentalId ?? topupId) : undefined;
}

/** Tells whether a failure is one of the network or of the moment, so that asking later may help. */
export function isPassing(error: unknown): error is ApiError | ConnectionError {
  if (error instanceof ConnectionError) return error.status === undefined || error.status >= 500;
  return error instanceof ApiError && (error.status >= 500 || error.status === 429);
}
