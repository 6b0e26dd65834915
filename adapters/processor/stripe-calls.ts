import type Stripe from 'stripe';

/** What the parts of the adapter share: the SDK, and the one way by which its errors leave. */
export interface StripeCalls {
  readonly stripe: Stripe;
  readonly chargeTimeoutMs: number;
  /** @throws ProcessorError for whatever the call throws */
  readonly asked: <T>(call: () => Promise<T>) => Promise<T>;
}
