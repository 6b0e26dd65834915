import Stripe from 'stripe';
import { ProcessorError, type Processor } from '../../adapters/processor/processor.js';

/** What the story is told with. */
export interface Teller {
  readonly processor: Processor;
  /** The official SDK, for what the service does not ask for itself. */
  readonly stripe: Stripe;
  /** Where the simulator's own pages and orders are. */
  readonly labUrl: string;
}

/** Whose story it is. */
export const userId = 'usr_verified';

/** The processor's customer of the story's user. */
export async function customerOf({ processor }: Teller): Promise<string> {
  return (await processor.createCustomer({ userId, email: 'verified@example.com' })).customerId;
}

/** The call must fail, and through the port in this way; else the story does not tell what it says. */
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
