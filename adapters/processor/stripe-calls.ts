import { randomUUID } from 'node:crypto';
import type Stripe from 'stripe';

/** The shared part of the adapter: the SDK, and the one place that sorts its errors. */
export interface StripeCalls {
  readonly stripe: Stripe;
  readonly chargeTimeoutMs: number;
  /** @throws ProcessorError for whatever the call throws */
  readonly asked: <T>(call: () => Promise<T>) => Promise<T>;
}

/**
 * Makes the key of one attempt at a call whose answer depends on the object's state: voiding, finalizing, detaching.
 * The processor keeps refusals under a key for a day too, so a key of the object alone would repeat an early refusal
 * long after its cause is gone (docs.stripe.com/api/idempotent_requests). Such a call may be made twice: the state that
 * the first has left refuses the second. A call that must not happen twice keeps the key of its row.
 */
export function attemptKey(step: string, objectId: string): { idempotencyKey: string } {
  return { idempotencyKey: `${step}:${objectId}:${randomUUID()}` };
}
