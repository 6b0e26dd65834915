import assert from 'node:assert/strict';
import { ProcessorError, type CheckoutInput } from '../../../adapters/processor/processor.js';
import type { Workbench } from '../../lab/processor/workbench.js';

let topups = 0;

/** A new top-up of a user who has a customer at the processor. */
export async function checkoutInput(
  bench: Workbench,
  details: Partial<CheckoutInput> = {},
): Promise<CheckoutInput> {
  topups += 1;
  const { customerId } = await bench.processor.createCustomer({ userId: 'usr_1', email: 'one@example.com' });
  return {
    topupId: `top_${topups}`,
    userId: 'usr_1',
    customerId,
    amountCents: 2500,
    successUrl: 'http://dashboard.test/app/billing?session=success',
    cancelUrl: 'http://dashboard.test/app/billing?session=cancel',
    ...details,
  };
}

/** The error with which a call must fail. */
export async function failureOf(call: Promise<unknown>): Promise<ProcessorError> {
  const outcome = await call.then(
    () => undefined,
    (error: unknown) => error,
  );
  assert.ok(outcome instanceof ProcessorError, `a ProcessorError was expected, not ${String(outcome)}`);
  return outcome;
}
