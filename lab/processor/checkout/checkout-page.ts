import Router, { type RouterContext } from '@koa/router';
import rawBody from 'raw-body';
import type Stripe from 'stripe';
import { alertOf, cardFields, methodOfForm } from '../cards/card-form.js';
import { attemptPayment } from '../payments/charging.js';
import { completeSession, expireSession, getDetails } from './checkout-sessions.js';
import type { World } from '../http/endpoint.js';
import { ApiError } from '../http/errors.js';
import { dollars, escapeHtml, htmlPage } from '../http/html.js';
import { idOf } from '../ids.js';
import { createIntent } from '../payments/payment-intents.js';
import type { CheckoutDetails } from '../tables.js';

/** The outcome of a form on a page. */
export type PageOutcome =
  | { readonly redirect: string }
  | { readonly status: number; readonly title: string; readonly body: string };

/**
 * The hosted payment page of a Checkout Session. It is a plain form, so that a browser and `curl -d cardNumber=…` both
 * pay.
 */
export function createCheckoutPages(world: World): Router {
  const router = new Router();
  router.get('/c/pay/:id', (ctx) => show(ctx, sessionPage(world, ctx.params['id'] ?? '', null, 200)));
  router.post('/c/pay/:id', async (ctx) => {
    const form = await readPageForm(ctx);
    show(ctx, payPage(world, ctx.params['id'] ?? '', form));
  });
  router.post('/c/pay/:id/cancel', (ctx) => {
    const session = world.store.find('checkout_sessions', ctx.params['id'] ?? '');
    const back = session?.cancel_url;
    // Going back leaves the session open, as at the processor: the payer may return until it expires.
    show(ctx, typeof back === 'string' ? { redirect: fillIn(back, session?.id ?? '') } : notFound());
  });
  return router;
}

/** Writes an outcome; 303 makes a browser follow with GET after any method. */
export function show(ctx: RouterContext, outcome: PageOutcome): void {
  if ('redirect' in outcome) {
    ctx.status = 303;
    ctx.set('location', outcome.redirect);
    ctx.body = '';
    return;
  }
  ctx.status = outcome.status;
  ctx.type = 'html';
  ctx.set('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'");
  ctx.set('cache-control', 'no-store');
  ctx.body = htmlPage(outcome.title, outcome.body);
}

export async function readPageForm(ctx: RouterContext): Promise<URLSearchParams> {
  return new URLSearchParams(await rawBody(ctx.req, { limit: '20kb', encoding: 'utf8' }));
}

export function notFound(): PageOutcome {
  return {
    status: 404,
    title: 'Nothing here',
    body: '<p>This page does not exist. Go back to the shop and begin again.</p>',
  };
}

/** The address to which the page sends a payer after the payment. */
export function successUrl(world: World, sessionId: string): string {
  return fillIn(getDetails(world, sessionId).successUrl, sessionId);
}

/** The address to which the payer goes back; the processor fills in this one placeholder. */
function fillIn(url: string, sessionId: string): string {
  return url.replaceAll('{CHECKOUT_SESSION_ID}', sessionId);
}

/** A payer sends the form of a page. */
export function payPage(world: World, sessionId: string, form: URLSearchParams): PageOutcome {
  try {
    return world.transact(null, () => {
      const session = world.store.find('checkout_sessions', sessionId);
      if (session === undefined || !isOpen(world, session)) return sessionPage(world, sessionId, null, 409);
      const details = getDetails(world, sessionId);
      const method = methodOfForm(world, form, details.email);
      world.store.put('checkout_details', { ...details, saveTicked: details.offersSave && form.has('save') });
      return attempt(world, session, method);
    });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return sessionPage(world, sessionId, error.message, error.status);
  }
}

function attempt(world: World, session: Stripe.Checkout.Session, method: Stripe.PaymentMethod): PageOutcome {
  const { session: withIntent, intent } = intentOf(world, session);
  try {
    const paid = attemptPayment(world, intent, method, false);
    if (paid.status === 'requires_action') return { redirect: `/c/authenticate/${paid.id}` };
    const complete = completeSession(world, withIntent, paid);
    return { redirect: successUrl(world, complete.id) };
  } catch (error) {
    // Caught inside the transaction, so that the failed charge and its events stay.
    if (!(error instanceof ApiError) || !error.isDecline) throw error;
    return sessionPage(world, session.id, error.message, error.status);
  }
}

/** The session's payment; the payer's first attempt begins it. */
function intentOf(
  world: World,
  session: Stripe.Checkout.Session,
): { session: Stripe.Checkout.Session; intent: Stripe.PaymentIntent } {
  const present = world.store.find('payment_intents', idOf(session.payment_intent) ?? '');
  if (present !== undefined) return { session, intent: present };
  const details = getDetails(world, session.id);
  const intent = createIntent(world, {
    amount: details.amountCents,
    currency: details.currency,
    customerId: details.customerId,
    description: details.description,
    metadata: details.metadata,
    receiptEmail: null,
    setupFutureUsage: details.setupFutureUsage,
    sessionId: session.id,
    returnUrl: null,
  });
  return {
    session: world.store.put('checkout_sessions', { ...session, payment_intent: intent.id }),
    intent,
  };
}

function sessionPage(world: World, id: string, message: string | null, status: number): PageOutcome {
  const session = world.store.find('checkout_sessions', id);
  if (session === undefined) return notFound();
  const details = getDetails(world, id);
  if (session.status === 'complete') {
    const back = escapeHtml(fillIn(details.successUrl, id));
    return { status, title: 'Already paid', body: `<p>This is paid. <a href="${back}">Go back</a>.</p>` };
  }
  if (!isOpen(world, session)) {
    return {
      status: 410,
      title: 'Expired',
      body: '<p>This payment page has expired and nothing was charged. Go back to the shop and begin again.</p>',
    };
  }
  const shown = message ?? lastFailure(world, session);
  return { status, title: `Pay ${dollars(details.amountCents)}`, body: paymentForm(details, shown) };
}

function isOpen(world: World, session: Stripe.Checkout.Session): boolean {
  return session.status === 'open' && session.expires_at > world.now();
}

/** The reason of the last failed attempt, for a payer who comes back from their bank. */
function lastFailure(world: World, session: Stripe.Checkout.Session): string | null {
  const intent = world.store.find('payment_intents', idOf(session.payment_intent) ?? '');
  return intent?.last_payment_error?.message ?? null;
}

function paymentForm(details: CheckoutDetails, message: string | null): string {
  const save = details.offersSave
    ? '<label><input type="checkbox" name="save" value="on"> Keep this card for my next payments</label>'
    : '';
  return `${alertOf(message)}
${details.email === null ? '' : `<p>${escapeHtml(details.email)}</p>`}
<form method="post" action="/c/pay/${details.id}">
${cardFields}
${save}
<button type="submit">Pay</button>
</form>
<form method="post" action="/c/pay/${details.id}/cancel"><button type="submit">Cancel and go back</button></form>`;
}

/** Expires every session whose time is over, as the processor does by itself. */
export function expireSessions(world: World): void {
  const due = world.store
    .list('checkout_sessions')
    .filter((session) => session.status === 'open' && session.expires_at <= world.now());
  if (due.length === 0) return;
  world.transact(null, () => due.forEach((session) => expireSession(world, session)));
}
