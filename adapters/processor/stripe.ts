import Stripe from 'stripe';
import { processorErrorOf } from './errors.js';
import { calledClient, type Client } from './called-client.js';
import { ProcessorError, withoutKey, type Processor } from './processor.js';
import type { StripeCalls } from './stripe-calls.js';
import { createStripeCards } from './stripe-cards.js';
import { createStripeCustomers } from './stripe-customers.js';
import { createStripeInvoices } from './stripe-invoices.js';
import { createStripeLists } from './stripe-lists.js';
import { createStripePayments } from './stripe-payments.js';
import { createStripeRecords } from './stripe-records.js';
import { within } from '../within.js';

export interface StripeConfig {
  /** Empty: billing is disabled, and every call is refused. */
  readonly secretKey: string;
  /** Set only to reach a simulator: scheme, host and port. */
  readonly apiUrl: string | null;
  /** What carries requests; default: Stripe's own client over Node's sockets. Set only to reach a simulator in process. */
  readonly client?: Client;
  /** For one attempt, in milliseconds; default: 5 seconds. */
  readonly timeoutMs?: number;
  /** For one attempt at a charge, which waits for a bank; default: 10 seconds. */
  readonly chargeTimeoutMs?: number;
}

const defaultTimeoutMs = 5000;
const defaultChargeTimeoutMs = 10_000;
/**
 * None: the workflow repeats with the same key, and its pauses outlive an outage. The SDK still repeats a call once
 * whose connection was cut.
 */
const networkRetries = 0;

/** The version that the pinned SDK speaks and reads; events of another version are logged as such. */
export const processorApiVersion = Stripe.API_VERSION;

/**
 * Makes the processor's port over Stripe. Each POST carries a key made from our own ids, so that a repeated activity
 * never makes a second customer, session or charge.
 */
export function createStripeProcessor(config: StripeConfig): Processor {
  if (config.secretKey.trim() === '') return disabledProcessor;
  const stripe = new Stripe(config.secretKey, {
    maxNetworkRetries: networkRetries,
    timeout: config.timeoutMs ?? defaultTimeoutMs,
    telemetry: false,
    httpClient: calledClient(config.client ?? Stripe.createNodeHttpClient()),
    ...addressOf(config.apiUrl),
  });
  const chargeTimeoutMs = config.chargeTimeoutMs ?? config.timeoutMs ?? defaultChargeTimeoutMs;
  const callMs = wholeCallMs(Math.max(chargeTimeoutMs, config.timeoutMs ?? defaultTimeoutMs));
  const calls: StripeCalls = { stripe, chargeTimeoutMs, asked: (call) => asked(call, callMs) };
  return {
    enabled: true,
    ...createStripePayments(calls),
    ...createStripeCustomers(calls),
    ...createStripeCards(calls),
    ...createStripeInvoices(calls),
    ...createStripeRecords(calls),
    ...createStripeLists(calls),
  };
}

function addressOf(apiUrl: string | null): Pick<Stripe.StripeConfig, 'host' | 'port' | 'protocol'> {
  if (apiUrl === null) return {};
  const url = new URL(apiUrl);
  const protocol = url.protocol === 'http:' ? 'http' : 'https';
  return { host: url.hostname, port: url.port || (protocol === 'http' ? 80 : 443), protocol };
}

/** Twice the attempt, because the SDK repeats a call whose connection was cut, plus the reading of an answer. */
function wholeCallMs(attemptMs: number): number {
  return 2 * attemptMs + 1_000;
}

/** Limits the whole call. The SDK's own limit is one of silence: an answer that comes byte by byte would never end. */
async function asked<T>(call: () => Promise<T>, limitMs: number): Promise<T> {
  const asking = call();
  try {
    return await within(
      limitMs,
      asking,
      () => new ProcessorError('unknown', `no whole answer of the processor within ${limitMs} ms`),
    );
  } catch (error) {
    throw error instanceof ProcessorError ? error : processorErrorOf(error);
  }
}

function refuseDisabled(): Promise<never> {
  return Promise.reject(
    new ProcessorError('refused', 'Billing is disabled here. Set STRIPE_SECRET_KEY to enable it.', {
      code: withoutKey,
    }),
  );
}

const disabledProcessor: Processor = {
  enabled: false,
  knowsCustomer: refuseDisabled,
  createCustomer: refuseDisabled,
  deleteCustomer: refuseDisabled,
  createCheckoutSession: refuseDisabled,
  getCheckoutSession: refuseDisabled,
  expireCheckoutSession: refuseDisabled,
  chargeSavedCard: refuseDisabled,
  getPayment: refuseDisabled,
  findPaymentOfTopup: refuseDisabled,
  cancelPayment: refuseDisabled,
  createCardSetup: refuseDisabled,
  cancelCardSetup: refuseDisabled,
  getCard: refuseDisabled,
  detachCard: refuseDisabled,
  createRefund: refuseDisabled,
  getRefund: refuseDisabled,
  listRefundsOfCharge: refuseDisabled,
  getDispute: refuseDisabled,
  getFraudWarning: refuseDisabled,
  getCardFingerprint: refuseDisabled,
  listEvents: refuseDisabled,
  listCharges: refuseDisabled,
  findCharge: refuseDisabled,
  listRefunds: refuseDisabled,
  listDisputes: refuseDisabled,
  listInvoices: refuseDisabled,
  createInvoice: refuseDisabled,
  findInvoice: refuseDisabled,
  getInvoice: refuseDisabled,
  finalizeInvoice: refuseDisabled,
  voidInvoice: refuseDisabled,
  writeOffInvoice: refuseDisabled,
};
