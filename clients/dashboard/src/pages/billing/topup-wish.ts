import { isOutcomeUnknown } from '../../data/outcome.js';
import type { TopupWish } from '../../data/topups.js';

/** What became of a wish to pay. */
export type WishOutcome =
  /** Nobody knows: the money may be on its way. */
  | 'open'
  /** A payment page was opened for it; whether somebody pays there is open. */
  | 'page'
  /** It is paid, or certainly never will be. */
  | 'over';

/** A wish that was sent. */
export interface SentWish extends TopupWish {
  readonly outcome: WishOutcome;
}

/**
 * The wish that a press of the button means. While the outcome of the one before is open it is that one again, whatever
 * amount stands in the form: under its key it can't be paid twice. The same holds for one whose page was opened, as long
 * as the amount is the same.
 */
export function nextWish(sent: SentWish | undefined, amountCents: number, newKey: () => string): TopupWish {
  if (sent !== undefined && isMeantAgain(sent, amountCents)) {
    return { amountCents: sent.amountCents, idempotencyKey: sent.idempotencyKey };
  }
  return { amountCents, idempotencyKey: newKey() };
}

function isMeantAgain(sent: SentWish, amountCents: number): boolean {
  return sent.outcome === 'open' || (sent.outcome === 'page' && sent.amountCents === amountCents);
}

/** What a failure says of the payment: only an answer that refuses it promises that nothing is charged. */
export function outcomeOf(error: unknown): Exclude<WishOutcome, 'page'> {
  return isOutcomeUnknown(error) ? 'open' : 'over';
}
