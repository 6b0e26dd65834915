import { ConnectionError, isApiError, type DetailsOf, type Quote } from '@gpu-rental/client';

/**
 * Tells whether a create that failed may have rented all the same: nobody answered, the service could not say, or the same
 * request is still under way. The same request under the same key is the way to find out.
 */
export function isOutcomeUnknown(error: unknown): boolean {
  if (error instanceof ConnectionError) return !error.neverSent;
  if (isApiError(error, 'idempotency_in_progress')) return true;
  if (!isApiError(error) || error.status < 500) return false;
  const details = error.details as DetailsOf<'temporarily_unavailable'>;
  return details?.outcome !== 'not_done';
}

/** Tells whether a create was refused for good: its key gives this answer again, so the next try takes another one. */
export function isRefused(error: unknown): boolean {
  return isApiError(error) && error.status < 429 && !isOutcomeUnknown(error);
}

/** The new quote that came with a refusal, if one did. */
export function quoteOfRefusal(error: unknown): Quote | undefined {
  if (isApiError(error, 'price_changed') || isApiError(error, 'quote_expired')) {
    // A refusal made on demand has no details.
    return (error.details as Partial<typeof error.details> | undefined)?.quote ?? undefined;
  }
  return undefined;
}
