import type Stripe from 'stripe';
import type { Decline } from '../cards/cards.js';
import { noSuch } from '../http/errors.js';
import { unwritten, type Call, type Endpoint, type World } from '../http/endpoint.js';
import { idOf, newId } from '../ids.js';
import { page } from '../http/listing.js';
import { pageUrl } from '../http/page-url.js';

/** Records a charge of an intent: captured in full, or failed for a reason. */
export function createCharge(
  world: World,
  intent: Stripe.PaymentIntent,
  method: Stripe.PaymentMethod,
  failure: Decline | null,
): Stripe.Charge {
  const id = newId('ch');
  const captured = failure === null ? intent.amount : 0;
  const charge: Stripe.Charge = world.store.put('charges', {
    id,
    object: 'charge',
    amount: intent.amount,
    amount_captured: captured,
    amount_refunded: 0,
    application: null,
    application_fee: null,
    application_fee_amount: null,
    balance_transaction: null,
    billing_details: method.billing_details,
    calculated_statement_descriptor: 'GPU RENTAL LAB',
    captured: failure === null,
    created: world.now(),
    currency: intent.currency,
    customer: idOf(intent.customer),
    description: intent.description,
    disputed: false,
    failure_balance_transaction: null,
    failure_code: failure?.code ?? null,
    failure_message: failure?.message ?? null,
    fraud_details: {},
    livemode: false,
    metadata: intent.metadata,
    on_behalf_of: null,
    outcome: outcomeOf(failure),
    paid: failure === null,
    payment_intent: intent.id,
    payment_method: method.id,
    payment_method_details: methodDetails(method, captured),
    receipt_email: intent.receipt_email,
    receipt_number: null,
    receipt_url: failure === null ? pageUrl(`/receipts/${id}`) : null,
    refunded: false,
    review: null,
    shipping: null,
    source: unwritten,
    source_transfer: null,
    statement_descriptor: null,
    statement_descriptor_suffix: null,
    status: failure === null ? 'succeeded' : 'failed',
    transfer_data: null,
    transfer_group: null,
  });
  world.emit(failure === null ? 'charge.succeeded' : 'charge.failed', charge);
  return charge;
}

function outcomeOf(failure: Decline | null): Stripe.Charge.Outcome {
  const common = { advice_code: null, network_advice_code: null };
  if (failure === null) {
    return {
      ...common,
      network_decline_code: null,
      network_status: 'approved_by_network',
      reason: null,
      risk_level: 'normal',
      risk_score: 10,
      seller_message: 'Payment complete.',
      type: 'authorized',
    };
  }
  // The processor's own fraud check stops a charge before any bank sees it.
  const blocked = failure.declineCode === 'fraudulent';
  return {
    ...common,
    network_decline_code: blocked ? null : '05',
    network_status: blocked ? 'not_sent_to_network' : 'declined_by_network',
    reason: failure.declineCode,
    risk_level: blocked ? 'highest' : 'normal',
    risk_score: blocked ? 100 : 10,
    seller_message: failure.message,
    type: blocked ? 'blocked' : 'issuer_declined',
  };
}

function methodDetails(method: Stripe.PaymentMethod, captured: number): Stripe.Charge.PaymentMethodDetails {
  const card = method.card;
  if (card === undefined) return { type: method.type };
  return {
    type: 'card',
    card: {
      amount_authorized: captured,
      authorization_code: null,
      brand: card.brand,
      checks: card.checks,
      country: card.country,
      exp_month: card.exp_month,
      exp_year: card.exp_year,
      fingerprint: card.fingerprint ?? null,
      funding: card.funding,
      installments: null,
      last4: card.last4,
      mandate: null,
      network: card.brand,
      network_transaction_id: null,
      regulated_status: 'unregulated',
      three_d_secure: null,
      transaction_link_id: null,
      wallet: null,
    },
  };
}

/** @throws ApiError `resource_missing` */
export function getCharge(world: World, id: string): Stripe.Charge {
  const charge = world.store.find('charges', id);
  if (charge === undefined) throw noSuch('charge', id);
  return charge;
}

function list(call: Call): object {
  const customer = call.params.string('customer');
  const intent = call.params.string('payment_intent');
  const charges = call.world.store
    .list('charges')
    .filter((charge) => customer === undefined || idOf(charge.customer) === customer)
    .filter((charge) => intent === undefined || idOf(charge.payment_intent) === intent);
  return page(call, charges);
}

export const chargeEndpoints: readonly Endpoint[] = [
  { method: 'get', path: '/charges', handle: list },
  { method: 'get', path: '/charges/:id', handle: ({ world, id }) => getCharge(world, id) },
];
