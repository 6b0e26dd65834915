import { ApiError, isApiError, type ConnectionError } from './errors.js';

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
  return error.status >= 500 && repeats !== 'once';
}

/** Tells of a create whose outcome is not known, and where it can be looked up. */
export function openOutcomeOf(error: unknown): { rentalId?: string; topupId?: string } | undefined {
  if (!isApiError(error, 'temporarily_unavailable') && !isApiError(error, 'internal_error')) return undefined;
  return error.details?.outcome === 'unknown' ? error.details : undefined;
}
