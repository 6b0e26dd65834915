import type Stripe from 'stripe';
import { getCharge } from './charges.js';
import { invalidRequest, noSuch } from '../http/errors.js';
import type { Call, Endpoint, World } from '../http/endpoint.js';
import { closeWarnings } from './fraud-warnings.js';
import { idOf, newId } from '../ids.js';
import { page } from '../http/listing.js';
import { getIntent } from './payment-intents.js';
import type { TestCard } from '../cards/cards.js';
import { cardOf } from '../cards/payment-methods.js';

/** @throws ApiError `resource_missing` */
export function getRefund(world: World, id: string): Stripe.Refund {
  const refund = world.store.find('refunds', id);
  if (refund === undefined) throw noSuch('refund', id);
  return refund;
}

function create({ world, params }: Call): Stripe.Refund {
  const charge = chargeOf(world, params.string('charge'), params.string('payment_intent'));
  return refundCharge(world, charge, {
    amount: params.integer('amount', 1, 99_999_999),
    reason: params.oneOf<Stripe.Refund.Reason>('reason', [
      'duplicate',
      'fraudulent',
      'requested_by_customer',
    ]),
    metadata: params.metadata(),
  });
}

/**
 * Gives money back to the card that paid a charge.
 * @param details.amount default: all that is left
 * @param details.outcome default: that of its test card
 * @throws ApiError when the charge is disputed, or less is left
 */
export function refundCharge(
  world: World,
  charge: Stripe.Charge,
  details: {
    amount?: number | undefined;
    reason?: Stripe.Refund.Reason | undefined;
    metadata?: Stripe.Metadata;
    outcome?: TestCard['refund'];
  } = {},
): Stripe.Refund {
  const { amount = leftOf(charge), reason = null, metadata = {} } = details;
  requireRefundable(world, charge, amount);
  const outcome = details.outcome ?? cardOf(world, String(charge.payment_method)).refund;
  const refund = world.store.put('refunds', {
    id: newId('re'),
    object: 'refund',
    amount,
    balance_transaction: null,
    charge: charge.id,
    created: world.now(),
    currency: charge.currency,
    customer: idOf(charge.customer),
    customer_account: null,
    destination_details: {
      type: 'card',
      card: { reference_status: 'pending', reference_type: 'acquirer_reference_number', type: 'refund' },
    },
    metadata,
    payment_intent: idOf(charge.payment_intent),
    payment_method: charge.payment_method,
    reason,
    receipt_number: null,
    source_transfer_reversal: null,
    status: outcome === 'pending' ? 'pending' : 'succeeded',
    transfer_reversal: null,
  });
  world.emit('refund.created', refund);
  const moved = moveRefunded(world, charge, amount);
  world.emit('charge.refunded', moved);
  if (moved.refunded) closeWarnings(world, moved.id);
  // The documented card whose refunds succeed at first and fail afterwards.
  return outcome === 'fails' ? failRefund(world, refund) : refund;
}

/** @throws ApiError when the charge is disputed, or less is left of it */
function requireRefundable(world: World, charge: Stripe.Charge, amount: number): void {
  const left = leftOf(charge);
  if (charge.disputed && world.store.list('disputes').some((dispute) => forbidsRefund(dispute, charge.id))) {
    throw invalidRequest(`Charge ${charge.id} is disputed and can’t be refunded.`, {
      code: 'charge_disputed',
    });
  }
  if (left === 0) {
    throw invalidRequest(`Charge ${charge.id} has been refunded already.`, {
      code: 'charge_already_refunded',
    });
  }
  if (amount > left) {
    throw invalidRequest(`Only ${left} cents of charge ${charge.id} can still be refunded.`, {
      param: 'amount',
    });
  }
}

function leftOf(charge: Stripe.Charge): number {
  return charge.amount_captured - charge.amount_refunded;
}

function forbidsRefund(dispute: Stripe.Dispute, chargeId: string): boolean {
  return idOf(dispute.charge) === chargeId && !dispute.is_charge_refundable;
}

function chargeOf(world: World, chargeId?: string, intentId?: string): Stripe.Charge {
  if (chargeId !== undefined) return getCharge(world, chargeId);
  if (intentId === undefined) {
    throw invalidRequest('Name the charge or the payment_intent to refund.', {
      code: 'parameter_missing',
      param: 'charge',
    });
  }
  const intent = getIntent(world, intentId);
  const charge = world.store.find('charges', idOf(intent.latest_charge) ?? '');
  if (charge?.paid === true) return charge;
  throw invalidRequest(`${intentId} has no charge that succeeded.`, { param: 'payment_intent' });
}

/** Adds the cents to a charge's cumulative refunded amount. */
function moveRefunded(world: World, charge: Stripe.Charge, cents: number): Stripe.Charge {
  const refunded = charge.amount_refunded + cents;
  return world.store.put('charges', {
    ...charge,
    amount_refunded: refunded,
    refunded: refunded === charge.amount_captured,
  });
}

/** The receiver's bank sends the money back to the processor, or a waiting refund is canceled. */
export function failRefund(
  world: World,
  refund: Stripe.Refund,
  status: 'failed' | 'canceled' = 'failed',
): Stripe.Refund {
  if (refund.status === 'failed' || refund.status === 'canceled') {
    throw invalidRequest(`A refund that is ${refund.status} can’t fail.`);
  }
  const failed = world.store.put('refunds', {
    ...refund,
    status,
    failure_reason: status === 'failed' ? 'expired_or_canceled_card' : 'merchant_request',
  });
  moveRefunded(world, getCharge(world, idOf(refund.charge) ?? ''), -refund.amount);
  world.emit('refund.updated', failed);
  if (status === 'failed') world.emit('refund.failed', failed);
  return failed;
}

/** A waiting refund reaches its receiver. */
export function finishRefund(world: World, refund: Stripe.Refund): Stripe.Refund {
  if (refund.status !== 'pending')
    throw invalidRequest(`A refund that is ${String(refund.status)} waits for nothing.`);
  const done = world.store.put('refunds', { ...refund, status: 'succeeded' });
  world.emit('refund.updated', done);
  return done;
}

function list(call: Call): object {
  const charge = call.params.string('charge');
  const intent = call.params.string('payment_intent');
  const refunds = call.world.store
    .list('refunds')
    .filter((refund) => charge === undefined || idOf(refund.charge) === charge)
    .filter((refund) => intent === undefined || idOf(refund.payment_intent) === intent);
  return page(call, refunds);
}

export const refundEndpoints: readonly Endpoint[] = [
  { method: 'post', path: '/refunds', handle: create },
  { method: 'get', path: '/refunds', handle: list },
  { method: 'get', path: '/refunds/:id', handle: ({ world, id }) => getRefund(world, id) },
];
