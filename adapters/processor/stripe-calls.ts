import { randomUUID } from 'node:crypto';
import type Stripe from 'stripe';

/** What the parts of the adapter share: the SDK, and the one way by which its errors leave. */
export interface StripeCalls {
  readonly stripe: Stripe;
  readonly chargeTimeoutMs: number;
  /** @throws ProcessorError for whatever the call throws */
  readonly asked: <T>(call: () => Promise<T>) => Promise<T>;
}

/**
 * The key of one attempt at a call whose answer hangs on the object's state: voiding, finalizing, detaching. The
 * processor keeps refusals under a key for a day too, so that a key which named the object alone would repeat an early
 * refusal long after its cause is gone (docs.stripe.com/api/idempotent_requests). Such a call may be made twice: the
 * second is refused by the state that the first has left. What may not happen twice keeps the key of its row.
 */
export function attemptKey(step: string, objectId: string): { idempotencyKey: string } {
  return { idempotencyKey: `${step}:${objectId}:${randomUUID()}` };
}
