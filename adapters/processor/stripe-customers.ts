import { isMissing, type Processor } from './processor.js';
import { requireText } from './stripe-answers.js';
import type { StripeCalls } from './stripe-calls.js';

/** The calls for customers. */
export function createStripeCustomers({
  stripe,
  asked,
}: StripeCalls): Pick<Processor, 'knowsCustomer' | 'createCustomer' | 'deleteCustomer'> {
  return {
    knowsCustomer: async (customerId) => {
      try {
        // One that was deleted is told of as such (docs.stripe.com/api/customers/retrieve).
        await asked(() => stripe.customers.retrieve(customerId));
        return true;
      } catch (error) {
        if (isMissing(error)) return false;
        throw error;
      }
    },
    createCustomer: async ({ userId, email }) => {
      const customer = await asked(() =>
        stripe.customers.create(
          { email, metadata: { user_id: userId } },
          { idempotencyKey: `customer:${userId}` },
        ),
      );
      return { customerId: requireText(customer.id, 'the customer’s id') };
    },
    deleteCustomer: async (customerId) => {
      try {
        await asked(() => stripe.customers.del(customerId));
      } catch (error) {
        if (!isMissing(error)) throw error;
      }
    },
  };
}
