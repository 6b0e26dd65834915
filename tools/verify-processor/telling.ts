import Stripe from 'stripe';
import { ProcessorError, type Processor } from '../../adapters/processor/processor.js';

/** The means of telling the story. */
export interface Teller {
  readonly processor: Processor;
  /** The official SDK, for requests that the service does not send itself. */
  readonly stripe: Stripe;
  /** The address of the simulator's own pages and orders. */
  readonly labUrl: string;
}

/** The user of the story. */
export const userId = 'usr_verified';

/** The processor's customer of the story's user. */
export async function customerOf({ processor }: Teller): Promise<string> {
  return (await processor.createCustomer({ userId, email: 'verified@example.com' })).customerId;
}

/** The call must fail, through the port in this way; otherwise the story is wrong. */
export async function fails(call: () => Promise<unknown>, kind?: ProcessorError['kind']): Promise<void> {
  try {
    await call();
  } catch (error) {
    if (kind === undefined && error instanceof Stripe.errors.StripeError) return;
    if (error instanceof ProcessorError && error.kind === kind) return;
    throw error;
  }
  throw new Error(
    `A call that must fail (${kind ?? 'at the SDK'}) did not: mend the simulator or the story.`,
  );
}
