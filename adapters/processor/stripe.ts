import Stripe from 'stripe';
import { processorErrorOf } from './errors.js';
import {
  ProcessorError,
  type CheckoutInput,
  type CheckoutSession,
  type Payment,
  type Processor,
} from './processor.js';

export interface StripeConfig {
  /** Empty: billing is disabled, and every call is refused. */
  readonly secretKey: string;
  /** Set only to reach a simulator: scheme, host and port. */
  readonly apiUrl: string | null;
  /** For one attempt; 5 seconds unless told. */
  readonly timeoutMs?: number;
}

const defaultTimeoutMs = 5000;
/**
 * None: the workflow repeats with the same key, and its pauses outlive an outage. A connection that is cut is
 * repeated once by the SDK all the same.
 */
const networkRetries = 0;
/** What is wanted of a session: the payment behind it and its charge, for the receipt. */
const sessionExpansions = ['payment_intent.latest_charge'];

/**
 * The processor as Stripe plays it. Each POST carries a key made from our own ids, so that a repeated activity
 * never makes a second customer, session or charge.
 */
export function createStripeProcessor(config: StripeConfig): Processor {
  if (config.secretKey.trim() === '') return disabledProcessor;
  const stripe = new Stripe(config.secretKey, {
    maxNetworkRetries: networkRetries,
    timeout: config.timeoutMs ?? defaultTimeoutMs,
    telemetry: false,
    ...addressOf(config.apiUrl),
  });
  return {
    enabled: true,
    createCustomer: async ({ userId, email }) => {
      const customer = await asked(() =>
        stripe.customers.create(
          { email, metadata: { user_id: userId } },
          { idempotencyKey: `customer:${userId}` },
        ),
      );
      return { customerId: requireText(customer.id, 'the customer’s id') };
    },
    createCheckoutSession: async (input) =>
      checkoutSessionOf(
        await asked(() =>
          stripe.checkout.sessions.create(sessionParams(input), {
            idempotencyKey: `checkout:${input.topupId}`,
          }),
        ),
      ),
    getCheckoutSession: async (sessionId) =>
      checkoutSessionOf(
        await asked(() => stripe.checkout.sessions.retrieve(sessionId, { expand: sessionExpansions })),
      ),
  };
}

function sessionParams(input: CheckoutInput): Stripe.Checkout.SessionCreateParams {
  // On the payment too: its own events name our top-up even when the session's event never comes.
  const metadata = { user_id: input.userId, topup_id: input.topupId };
  return {
    mode: 'payment',
    customer: input.customerId,
    payment_method_types: ['card'],
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
    // A card is kept only if the payer ticks the page's own consent (decision 32).
    saved_payment_method_options: { payment_method_save: 'enabled' },
    success_url: input.successUrl,
    cancel_url: input.cancelUrl,
    ...(input.expiresAt === undefined ? {} : { expires_at: Math.floor(input.expiresAt.getTime() / 1000) }),
    expand: sessionExpansions,
  };
}

function addressOf(apiUrl: string | null): Pick<Stripe.StripeConfig, 'host' | 'port' | 'protocol'> {
  if (apiUrl === null) return {};
  const url = new URL(apiUrl);
  const protocol = url.protocol === 'http:' ? 'http' : 'https';
  return { host: url.hostname, port: url.port || (protocol === 'http' ? 80 : 443), protocol };
}

async function asked<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw processorErrorOf(error);
  }
}

function checkoutSessionOf(session: Stripe.Checkout.Session): CheckoutSession {
  return {
    sessionId: requireText(session.id, 'the session’s id'),
    url: session.url ?? null,
    status: sessionStatusOf(session.status),
    paymentStatus: paymentStatusOf(session.payment_status),
    expiresAt: new Date(requireInteger(session.expires_at, 'the session’s expiry') * 1000),
    payment: paymentOf(session.payment_intent),
  };
}

/** A word that this version does not know decides nothing: the session is looked at again later. */
function sessionStatusOf(status: string | null): CheckoutSession['status'] {
  return status === 'complete' || status === 'expired' ? status : 'open';
}

function paymentStatusOf(status: string): CheckoutSession['paymentStatus'] {
  return status === 'paid' || status === 'no_payment_required' ? status : 'unpaid';
}

function paymentOf(intent: Stripe.Checkout.Session['payment_intent']): Payment | null {
  if (intent === null) return null;
  if (typeof intent === 'string') throw unreadable('the payment was not expanded');
  const charge = intent.latest_charge;
  return {
    paymentId: requireText(intent.id, 'the payment’s id'),
    status: intentStatusOf(intent.status),
    amountReceivedCents: requireInteger(intent.amount_received, 'the amount received'),
    currency: requireText(intent.currency, 'the currency').toLowerCase(),
    chargeId: typeof charge === 'string' ? charge : (charge?.id ?? null),
    receiptUrl: typeof charge === 'string' ? null : (charge?.receipt_url ?? null),
  };
}

/** Only `succeeded` moves money; a word that this version does not know counts as not yet decided. */
function intentStatusOf(status: string): Payment['status'] {
  switch (status) {
    case 'succeeded':
    case 'canceled':
    case 'requires_action':
      return status;
    case 'requires_confirmation':
      return 'requires_action';
    case 'requires_payment_method':
      return 'failed';
    default:
      return 'processing';
  }
}

function requireInteger(value: unknown, what: string): number {
  if (!Number.isSafeInteger(value) || (value as number) < 0)
    throw unreadable(`${what} is not a whole number`);
  return value as number;
}

function requireText(value: unknown, what: string): string {
  if (typeof value !== 'string' || value === '') throw unreadable(`${what} is missing`);
  return value;
}

/** An answer without what it must have says nothing about the outcome: it is asked again. */
function unreadable(what: string): ProcessorError {
  return new ProcessorError('unknown', `The payment processor’s answer can’t be read: ${what}. Try again.`);
}

function refuseDisabled(): Promise<never> {
  return Promise.reject(
    new ProcessorError('refused', 'Billing is disabled here. Set STRIPE_SECRET_KEY to enable it.', {
      code: 'billing_disabled',
    }),
  );
}

const disabledProcessor: Processor = {
  enabled: false,
  createCustomer: refuseDisabled,
  createCheckoutSession: refuseDisabled,
  getCheckoutSession: refuseDisabled,
};
