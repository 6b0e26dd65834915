import type Stripe from 'stripe';
import { saidNo, type ChargeInput, type CheckoutInput, type Processor } from './processor.js';
import { checkoutSessionOf, paymentOf } from './stripe-answers.js';
import { attemptKey, type StripeCalls } from './stripe-calls.js';

/** The parts of a session to expand: its payment, the payment's charge for the receipt, and the card if it was kept. */
const sessionExpansions = ['payment_intent.latest_charge', 'payment_intent.payment_method'];
const paymentExpansions = ['latest_charge'];

const pageSize = 100;
/** The most payments of a customer that a lookup reads; they are made since one instant, newest first. */
const lookupLimit = 1000;

/** The calls for payments: by the hosted page, and of a saved card. */
export function createStripePayments(
  calls: StripeCalls,
): Pick<Processor, PageCall | 'chargeSavedCard' | 'getPayment' | 'findPaymentOfTopup' | 'cancelPayment'> {
  const { stripe, asked, chargeTimeoutMs } = calls;
  const getPayment: Processor['getPayment'] = async (paymentId) =>
    paymentOf(await asked(() => stripe.paymentIntents.retrieve(paymentId, { expand: paymentExpansions })));
  return {
    getPayment,
    ...createPages(calls),
    chargeSavedCard: async (input) =>
      paymentOf(
        await asked(() =>
          stripe.paymentIntents.create(chargeParams(input), {
            idempotencyKey: `charge:${input.topupId}`,
            timeout: chargeTimeoutMs,
          }),
        ),
      ),
    findPaymentOfTopup: async ({ customerId, topupId, createdFrom }) => {
      // The list is consistent at once; the search may lag by a minute and is not offered everywhere.
      const payments = await asked(() =>
        stripe.paymentIntents
          .list({
            customer: customerId,
            created: { gte: Math.floor(createdFrom.getTime() / 1000) },
            limit: pageSize,
            expand: ['data.latest_charge'],
          })
          .autoPagingToArray({ limit: lookupLimit }),
      );
      const found = payments.find(({ metadata }) => metadata['topup_id'] === topupId);
      return found === undefined ? null : paymentOf(found);
    },
    cancelPayment: async (paymentId) => {
      try {
        return paymentOf(
          await asked(() =>
            stripe.paymentIntents.cancel(
              paymentId,
              { cancellation_reason: 'abandoned' },
              attemptKey('cancel', paymentId),
            ),
          ),
        );
      } catch (error) {
        // The payment is decided already, one way or the other: the caller goes by its present state.
        if (saidNo(error)) return getPayment(paymentId);
        throw error;
      }
    },
  };
}

type PageCall = 'createCheckoutSession' | 'getCheckoutSession' | 'expireCheckoutSession';

function createPages({ stripe, asked }: StripeCalls): Pick<Processor, PageCall> {
  const getCheckoutSession: Processor['getCheckoutSession'] = async (sessionId) =>
    checkoutSessionOf(
      await asked(() => stripe.checkout.sessions.retrieve(sessionId, { expand: sessionExpansions })),
    );
  return {
    getCheckoutSession,
    expireCheckoutSession: async (sessionId) => {
      try {
        return checkoutSessionOf(
          await asked(() => stripe.checkout.sessions.expire(sessionId, { expand: sessionExpansions })),
        );
      } catch (error) {
        // It was paid meanwhile, or has expired: the caller goes by its present state.
        if (saidNo(error)) return getCheckoutSession(sessionId);
        throw error;
      }
    },
    createCheckoutSession: async (input) =>
      checkoutSessionOf(
        await asked(() =>
          stripe.checkout.sessions.create(sessionParams(input), {
            idempotencyKey: `checkout:${input.topupId}`,
          }),
        ),
      ),
  };
}

function sessionParams(input: CheckoutInput): Stripe.Checkout.SessionCreateParams {
  // The payment has it too: its own events name our top-up even when the session's event never comes.
  const metadata = { user_id: input.userId, topup_id: input.topupId };
  return {
    mode: 'payment',
    customer: input.customerId,
    payment_method_types: ['card'],
    // A payer who pays in another currency would pay another amount (docs/operations/stripe.md).
    adaptive_pricing: { enabled: false },
    line_items: [
      {
        quantity: 1,
        price_data: {
          currency: 'usd',
          unit_amount: input.amountCents,
          product_data: { name: 'Wallet top-up' },
        },
      },
    ],
    client_reference_id: input.topupId,
    metadata,
    payment_intent_data: { metadata },
    // A card is kept only if the payer ticks the page's own consent (decision 32, "Checkout and credit").
    saved_payment_method_options: { payment_method_save: 'enabled' },
    success_url: input.successUrl,
    cancel_url: input.cancelUrl,
    ...(input.expiresAt === undefined ? {} : { expires_at: Math.floor(input.expiresAt.getTime() / 1000) }),
    expand: sessionExpansions,
  };
}

/** The payer is away (docs.stripe.com/payments/save-during-payment): a bank that wants to ask them declines. */
function chargeParams(input: ChargeInput): Stripe.PaymentIntentCreateParams {
  return {
    amount: input.amountCents,
    currency: 'usd',
    customer: input.customerId,
    payment_method: input.cardId,
    payment_method_types: ['card'],
    off_session: true,
    confirm: true,
    description: 'Wallet top-up',
    metadata: { user_id: input.userId, topup_id: input.topupId, source: input.source },
    expand: paymentExpansions,
  };
}
