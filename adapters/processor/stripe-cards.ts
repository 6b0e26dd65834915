import { saidNo, type Processor } from './processor.js';
import { cardOf, requireText } from './stripe-answers.js';
import { attemptKey, type StripeCalls } from './stripe-calls.js';

/** The calls for the cards of customers. */
export function createStripeCards({
  stripe,
  asked,
}: StripeCalls): Pick<Processor, 'createCardSetup' | 'cancelCardSetup' | 'getCard' | 'detachCard'> {
  const getCard: Processor['getCard'] = async (cardId) =>
    cardOf(await asked(() => stripe.paymentMethods.retrieve(cardId)));
  return {
    getCard,
    createCardSetup: async ({ userId, customerId, setupNo }) => {
      const setup = await asked(() =>
        stripe.setupIntents.create(
          {
            customer: customerId,
            usage: 'off_session',
            payment_method_types: ['card'],
            metadata: { user_id: userId },
          },
          { idempotencyKey: `card-setup:${userId}:${setupNo}` },
        ),
      );
      return {
        setupId: requireText(setup.id, 'the setup’s id'),
        clientSecret: requireText(setup.client_secret, 'the setup’s secret'),
      };
    },
    cancelCardSetup: async (setupId) => {
      try {
        await asked(() => stripe.setupIntents.cancel(setupId, {}, attemptKey('cancel-setup', setupId)));
      } catch (error) {
        // It has saved a card, or is cancelled.
        if (!saidNo(error)) throw error;
      }
    },
    detachCard: async (cardId) => {
      try {
        await asked(() => stripe.paymentMethods.detach(cardId, {}, attemptKey('detach', cardId)));
      } catch (error) {
        // A refusal gives no reason that a program may rely on, so the card itself is read.
        if (!saidNo(error) || (await isAttached(cardId))) throw error;
      }
    },
  };

  async function isAttached(cardId: string): Promise<boolean> {
    try {
      return (await getCard(cardId)).customerId !== null;
    } catch (error) {
      if (saidNo(error) && error.details.code === 'resource_missing') return false;
      throw error;
    }
  }
}
