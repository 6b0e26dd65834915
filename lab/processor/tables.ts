import type Stripe from 'stripe';

/** An event in the API's shape; the SDK's own type is a union over each kind's object. */
export interface LabEvent {
  readonly id: string;
  readonly object: 'event';
  readonly api_version: string;
  readonly created: number;
  readonly data: { readonly object: object; readonly previous_attributes?: object };
  readonly livemode: false;
  /** Deliveries without a 2xx answer so far. */
  readonly pending_webhooks: number;
  readonly request: { readonly id: string | null; readonly idempotency_key: string | null };
  readonly type: Stripe.Event.Type;
}

/** One event on its way to one endpoint. */
export interface Delivery {
  readonly id: string;
  readonly eventId: string;
  readonly endpointId: string;
  readonly attempts: number;
  /** `failed`: given up after the last retry, or dropped by an ordered fault. */
  readonly state: 'pending' | 'delivered' | 'failed';
  readonly lastStatus: number | null;
  readonly lastError: string | null;
}

/** The simulator's own record of a payment method beside its public object. */
export interface CardRecord {
  readonly id: string;
  readonly number: string;
  /** True: its owner agreed, with authentication, to charges while they are away. */
  readonly setUp: boolean;
  /** True: detached, or used once without a customer; it can't be used again. */
  readonly spent: boolean;
}

/** An answer kept under the key of the request that it belongs to. */
export interface IdempotencyRecord {
  /** The key itself. */
  readonly id: string;
  readonly created: number;
  readonly method: string;
  readonly path: string;
  readonly paramsHash: string;
  readonly status: number;
  /** The body as it was sent, so that a replay is the same to the byte. */
  readonly body: string;
}

export type FutureUsage = 'off_session' | 'on_session' | null;

/** The hosted page's own record of a session beside the public object. */
export interface CheckoutDetails {
  readonly id: string;
  readonly amountCents: number;
  readonly currency: string;
  readonly customerId: string | null;
  readonly email: string | null;
  readonly successUrl: string;
  readonly cancelUrl: string | null;
  /** The metadata of the payment behind the page. */
  readonly metadata: Record<string, string>;
  readonly description: string | null;
  readonly setupFutureUsage: FutureUsage;
  /** Whether the page offers to keep the card. */
  readonly offersSave: boolean;
  /** True: the payer ticked the page's own consent to keep the card. */
  readonly saveTicked: boolean;
}

/** The address to which a payment returns after the payer has dealt with the bank. */
export interface IntentDetails {
  readonly id: string;
  readonly sessionId: string | null;
  readonly returnUrl: string | null;
}

/** An item in the API's shape; the SDK's type has its decimals as objects and its references expanded. */
export interface InvoiceItemRow extends Omit<
  Stripe.InvoiceItem,
  'customer' | 'invoice' | 'pricing' | 'quantity_decimal'
> {
  readonly customer: string;
  readonly invoice: string | null;
  readonly pricing: null;
  readonly quantity_decimal: string;
}

/** Every table, in the public shape of the API where it has one. */
export interface Tables {
  customers: Stripe.Customer;
  payment_methods: Stripe.PaymentMethod;
  cards: CardRecord;
  setup_intents: Stripe.SetupIntent;
  payment_intents: Stripe.PaymentIntent;
  intent_details: IntentDetails;
  charges: Stripe.Charge;
  refunds: Stripe.Refund;
  disputes: Stripe.Dispute;
  fraud_warnings: Stripe.Radar.EarlyFraudWarning;
  invoices: Stripe.Invoice;
  invoice_items: InvoiceItemRow;
  invoice_payments: Stripe.InvoicePayment;
  checkout_sessions: Stripe.Checkout.Session;
  checkout_details: CheckoutDetails;
  events: LabEvent;
  webhook_endpoints: Stripe.WebhookEndpoint;
  deliveries: Delivery;
  idempotency_keys: IdempotencyRecord;
}
export type TableName = keyof Tables;

/** Written as a record, so that a table that is not listed here does not compile. */
const listed: Record<TableName, true> = {
  customers: true,
  payment_methods: true,
  cards: true,
  setup_intents: true,
  payment_intents: true,
  intent_details: true,
  charges: true,
  refunds: true,
  disputes: true,
  fraud_warnings: true,
  invoices: true,
  invoice_items: true,
  invoice_payments: true,
  checkout_sessions: true,
  checkout_details: true,
  events: true,
  webhook_endpoints: true,
  deliveries: true,
  idempotency_keys: true,
};
export const tableNames = Object.keys(listed) as TableName[];
