/** What the address of the billing page tells. */
export interface BillingSearch {
  /** How the browser came back from a payment page. */
  readonly session?: 'success' | 'cancel';
  /** How the processor's form ended that takes a card. */
  readonly setup?: 'succeeded' | 'failed';
  /** What is to be added, in cents: another page knows what is missing. */
  readonly amountCents?: number;
}

/** Reads the search part of the address; what is none of it is left out. */
export function readBillingSearch(search: Readonly<Record<string, unknown>>): BillingSearch {
  const { session, setup, amountCents } = search;
  return {
    ...((session === 'success' || session === 'cancel') && { session }),
    ...((setup === 'succeeded' || setup === 'failed') && { setup }),
    ...(isCents(amountCents) && { amountCents }),
  };
}

function isCents(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0;
}
