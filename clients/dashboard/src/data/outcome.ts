import { isApiError, leavesEarlierOpen, mayBeDone, type Quote } from '@gpu-rental/client';
import { StillUnknown } from './still-unknown.js';
import { DoneBefore } from './wishes.js';

/**
 * Sends a wish, again where its outcome is open: then only an answer that is about the wish ends that.
 * @param isOpen whether somebody may have done it by its key already
 * @throws StillUnknown
 */
export async function sendWish<Answer>(isOpen: boolean, send: () => Promise<Answer>): Promise<Answer> {
  try {
    return await send();
  } catch (error) {
    if (!isOpen || !leavesEarlierOpen(error)) throw error;
    throw new StillUnknown('nobody looked at it', { cause: error });
  }
}

/**
 * Tells whether a wish that failed may have been done all the same: nobody answered, the service could not say, or the same
 * request is still under way. The same request under the same key is the way to find out.
 */
export function isOutcomeUnknown(error: unknown): boolean {
  // Found done by an earlier wish, before anything was sent.
  if (error instanceof DoneBefore) return false;
  return error instanceof StillUnknown || mayBeDone(error);
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
