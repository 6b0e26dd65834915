import type Stripe from 'stripe';
import { type Decline, decline, type TestCard } from '../cards/cards.js';
import { createCharge } from './charges.js';
import { openDispute } from './disputes.js';
import { warnOfFraud } from './fraud-warnings.js';
import { ApiError } from '../http/errors.js';
import type { World } from '../http/endpoint.js';
import { idOf } from '../ids.js';
import { failInvoice, settleInvoice } from '../invoices/invoice-settlement.js';
import { pageUrl } from '../http/page-url.js';
import { attachMethod, cardOf, requireUsable } from '../cards/payment-methods.js';

/**
 * Tries to pay an intent with a payment method, as a confirmation does.
 * @param offSession the payer is away, so a bank that asks for authentication declines
 * @returns the intent, `succeeded` or waiting for authentication (`requires_action`)
 * @throws ApiError 402 for a decline; the intent is then back at `requires_payment_method`
 */
export function attemptPayment(
  world: World,
  intent: Stripe.PaymentIntent,
  method: Stripe.PaymentMethod,
  offSession: boolean,
): Stripe.PaymentIntent {
  requireUsable(world, method, idOf(intent.customer));
  const isExpired = isOver(method, world.now());
  const word = isExpired ? { declines: 'expired_card' } : world.bank({ intent, offSession });
  if (word !== null && typeof word === 'object') return refuse(world, intent, method, decline(word.declines));
  const forced = world.faults.takeDecline();
  if (forced !== undefined) return refuse(world, intent, method, decline(forced));
  return decide(world, intent, method, offSession, word);
}

/** What comes of a payment that its bank does not decline at once. */
function decide(
  world: World,
  intent: Stripe.PaymentIntent,
  method: Stripe.PaymentMethod,
  offSession: boolean,
  word: 'asks' | 'ponders' | null,
): Stripe.PaymentIntent {
  const card = cardOf(world, method.id);
  if (word === 'asks') return askForAuthentication(world, intent, method);
  if (needsAuthentication(card, offSession)) {
    if (offSession) return refuse(world, intent, method, decline('authentication_required'));
    return askForAuthentication(world, intent, method);
  }
  if (word === 'ponders' || world.faults.takeProcessing()) return process(world, intent, method);
  return charge(world, intent, method);
}

/** Tells whether the month until which a card is good is over. */
function isOver({ card }: Stripe.PaymentMethod, nowS: number): boolean {
  return card !== undefined && Date.UTC(card.exp_year, card.exp_month, 1) <= nowS * 1000;
}

/** The bank delays its decision: nothing is charged or declined yet. */
function process(
  world: World,
  intent: Stripe.PaymentIntent,
  method: Stripe.PaymentMethod,
): Stripe.PaymentIntent {
  const processing = world.store.put('payment_intents', {
    ...intent,
    status: 'processing',
    payment_method: method.id,
    last_payment_error: null,
    next_action: null,
  });
  world.emit('payment_intent.processing', processing);
  return processing;
}

/**
 * Applies the bank's decision on a payment that was processing.
 * @throws ApiError 402 for a decline
 */
export function finishProcessing(
  world: World,
  intent: Stripe.PaymentIntent,
  succeeds: boolean,
): Stripe.PaymentIntent {
  const method = methodOf(world, intent);
  return succeeds ? charge(world, intent, method) : refuse(world, intent, method, decline('generic_decline'));
}

function methodOf(world: World, intent: Stripe.PaymentIntent): Stripe.PaymentMethod {
  const methodId = idOf(intent.payment_method);
  const method = methodId === null ? undefined : world.store.find('payment_methods', methodId);
  if (method === undefined) throw new Error(`${intent.id} is under way without a payment method`);
  return method;
}

/** Continues with a payment whose payer has answered the bank. */
export function finishAuthentication(
  world: World,
  intent: Stripe.PaymentIntent,
  approved: boolean,
): Stripe.PaymentIntent {
  const method = methodOf(world, intent);
  if (approved) return charge(world, intent, method);
  const failed: Decline = {
    code: 'payment_intent_authentication_failure',
    declineCode: '',
    message: 'The payment was not approved at the bank. Try again or take another card.',
  };
  return refuse(world, intent, method, failed, false);
}

function needsAuthentication(card: TestCard & { setUp: boolean }, offSession: boolean): boolean {
  if (card.authentication === 'always') return true;
  return card.authentication === 'unless_set_up' && !(offSession && card.setUp);
}

function askForAuthentication(
  world: World,
  intent: Stripe.PaymentIntent,
  method: Stripe.PaymentMethod,
): Stripe.PaymentIntent {
  const returnUrl = world.store.find('intent_details', intent.id)?.returnUrl ?? null;
  const waiting = world.store.put('payment_intents', {
    ...intent,
    status: 'requires_action',
    payment_method: method.id,
    last_payment_error: null,
    next_action: {
      type: 'redirect_to_url',
      redirect_to_url: { url: pageUrl(`/c/authenticate/${intent.id}`), return_url: returnUrl },
    },
  });
  world.emit('payment_intent.requires_action', waiting);
  return waiting;
}

function charge(
  world: World,
  intent: Stripe.PaymentIntent,
  method: Stripe.PaymentMethod,
): Stripe.PaymentIntent {
  const card = cardOf(world, method.id);
  if (card.decline !== null) return refuse(world, intent, method, card.decline);
  const made = createCharge(world, intent, method, null);
  const succeeded = world.store.put('payment_intents', {
    ...intent,
    status: 'succeeded',
    amount_received: intent.amount,
    latest_charge: made.id,
    payment_method: method.id,
    last_payment_error: null,
    next_action: null,
  });
  keepMethod(world, succeeded, method);
  world.emit('payment_intent.succeeded', succeeded);
  settleInvoice(world, succeeded);
  if (card.warns) warnOfFraud(world, made);
  if (card.disputes !== 'never') openDispute(world, made, { inquiry: card.disputes === 'inquires' });
  return succeeded;
}

/** Keeps a charged card for its customer when the request asked so; else the card is used up. */
function keepMethod(world: World, intent: Stripe.PaymentIntent, method: Stripe.PaymentMethod): void {
  const customerId = idOf(intent.customer);
  if (intent.setup_future_usage !== null && customerId !== null) {
    attachMethod(world, method, customerId, { setUp: intent.setup_future_usage === 'off_session' });
    return;
  }
  const record = world.store.find('cards', method.id);
  if (idOf(method.customer) === null && record !== undefined) {
    world.store.put('cards', { ...record, spent: true });
  }
}

/** The last step of a failed payment: the intent can be tried again with another method. */
function refuse(
  world: World,
  intent: Stripe.PaymentIntent,
  method: Stripe.PaymentMethod,
  reason: Decline,
  byBank = true,
): never {
  const failedCharge = byBank ? createCharge(world, intent, method, reason) : null;
  const details = {
    code: reason.code,
    ...(reason.declineCode === '' ? {} : { decline_code: reason.declineCode }),
    message: reason.message,
    ...(failedCharge === null ? {} : { charge: failedCharge.id }),
  };
  const failed = world.store.put('payment_intents', {
    ...intent,
    status: 'requires_payment_method',
    latest_charge: failedCharge?.id ?? intent.latest_charge,
    last_payment_error: {
      type: byBank ? 'card_error' : 'invalid_request_error',
      ...details,
      payment_method: method,
    },
    next_action: null,
    payment_method: null,
  });
  world.emit('payment_intent.payment_failed', failed);
  failInvoice(world, failed);
  throw new ApiError(402, {
    type: 'card_error',
    ...details,
    payment_intent: failed,
    payment_method: method,
  });
}
