import Router, { type RouterContext } from '@koa/router';
import rawBody from 'raw-body';
import type Stripe from 'stripe';
import { createMethod, findTestMethod } from './cards/cards.js';
import { getCharge } from './payments/charges.js';
import { attemptPayment, finishProcessing } from './payments/charging.js';
import { getDetails, getSession, settleSession } from './checkout/checkout-sessions.js';
import { decideDispute, escalateDispute, getDispute, openDispute } from './payments/disputes.js';
import type { World } from './http/endpoint.js';
import { warnOfFraud } from './payments/fraud-warnings.js';
import { ApiError, invalidRequest } from './http/errors.js';
import { idOf } from './ids.js';
import { writeJson } from './http/page-url.js';
import { createIntent, getIntent } from './payments/payment-intents.js';
import { getMethod } from './cards/payment-methods.js';
import { failRefund, finishRefund, getRefund } from './payments/refunds.js';

/** An action of a bank or a card owner that a test or a person orders: `POST /lab/<resource>/<id>/<action>`. */
type Action = (world: World, id: string, fields: URLSearchParams) => object;

const actions: Readonly<Record<string, Action>> = {
  /**
   * The card's owner disputes a charge; `amount`, `reason`, and `inquiry=true` for a dispute that takes no money yet.
   */
  'charges/dispute': (world, id, fields) =>
    openDispute(world, getCharge(world, id), {
      amount: centsOf(fields),
      reason: fields.get('reason') ?? undefined,
      inquiry: fields.get('inquiry') === 'true',
    }),
  /** The card's bank warns that a charge is fraud, before the card's owner disputes it. */
  'charges/warn': (world, id) => warnOfFraud(world, getCharge(world, id)),
  'disputes/escalate': (world, id) => escalateDispute(world, getDispute(world, id)),
  'disputes/win': (world, id) => decideDispute(world, getDispute(world, id), true),
  'disputes/lose': (world, id) => decideDispute(world, getDispute(world, id), false),
  'refunds/fail': (world, id) => failRefund(world, getRefund(world, id)),
  'refunds/succeed': (world, id) => finishRefund(world, getRefund(world, id)),
  /** A payment that is processing succeeds, or fails with `outcome=decline`. */
  'payment_intents/finish': (world, id, fields) =>
    finishPayment(world, id, fields.get('outcome') !== 'decline'),
  'checkout_sessions/pay_again': payAgain,
  /** The bank has given the card a new expiry date. */
  'payment_methods/renew': renew,
};

export function createLabActions(world: World, baseUrl: () => string): Router {
  const router = new Router();
  router.post('/lab/:resource/:id/:action', async (ctx) => {
    const action = actions[`${ctx.params['resource'] ?? ''}/${ctx.params['action'] ?? ''}`];
    if (action === undefined) {
      throw invalidRequest(`Order one of ${Object.keys(actions).join(', ')}.`, { status: 404 });
    }
    const fields = await readFields(ctx);
    ctx.type = 'application/json';
    ctx.body = writeJson(
      world.transact(null, () => action(world, ctx.params['id'] ?? '', fields)),
      baseUrl(),
    );
  });
  return router;
}

async function readFields(ctx: RouterContext): Promise<URLSearchParams> {
  const text = await rawBody(ctx.req, { limit: '20kb', encoding: 'utf8' });
  if (!ctx.is('json')) return new URLSearchParams(text);
  const fields = Object.entries(JSON.parse(text) as Record<string, unknown>);
  return new URLSearchParams(fields.map(([name, value]): [string, string] => [name, String(value)]));
}

function centsOf(fields: URLSearchParams): number | undefined {
  const amount = fields.get('amount');
  if (amount === null) return undefined;
  if (!/^\d{1,8}$/.test(amount)) throw invalidRequest('Send the amount in whole cents.', { param: 'amount' });
  return Number(amount);
}

/** Applies the bank's decision on a payment that is processing, whose page follows it. */
export function finishPayment(world: World, id: string, succeeds: boolean): Stripe.PaymentIntent {
  const intent = getIntent(world, id);
  if (intent.status !== 'processing') throw invalidRequest(`${id} is ${intent.status}, not processing.`);
  const after = settled(world, intent, succeeds);
  const session = world.store.find(
    'checkout_sessions',
    world.store.find('intent_details', id)?.sessionId ?? '',
  );
  if (session !== undefined) settleSession(world, session, after);
  return after;
}

function settled(world: World, intent: Stripe.PaymentIntent, succeeds: boolean): Stripe.PaymentIntent {
  try {
    return finishProcessing(world, intent, succeeds);
  } catch (error) {
    // Caught inside the transaction, so that the failed charge and its events stay.
    if (error instanceof ApiError && error.isDecline) return getIntent(world, intent.id);
    throw error;
  }
}

/** Makes a second payment for a paid session, as two open tabs of one payer may. */
function payAgain(world: World, id: string): Stripe.PaymentIntent {
  const session = getSession(world, id);
  const details = getDetails(world, id);
  const visa = findTestMethod('pm_card_visa');
  if (visa === undefined) throw new Error('the list of test cards has lost its first one');
  const intent = createIntent(world, {
    amount: details.amountCents,
    currency: details.currency,
    customerId: details.customerId,
    description: details.description,
    metadata: details.metadata,
    receiptEmail: null,
    setupFutureUsage: null,
    sessionId: id,
    returnUrl: null,
  });
  const paid = attemptPayment(world, intent, createMethod(world, visa), false);
  world.emit('checkout.session.completed', session);
  return paid;
}

function renew(world: World, id: string): Stripe.PaymentMethod {
  const method = getMethod(world, id);
  if (method.card === undefined || idOf(method.customer) === null) {
    throw invalidRequest(`${id} is no customer’s card.`);
  }
  const renewed = world.store.put('payment_methods', {
    ...method,
    card: { ...method.card, exp_year: method.card.exp_year + 4 },
  });
  world.emit('payment_method.automatically_updated', renewed);
  return renewed;
}
