import Router from '@koa/router';
import type Stripe from 'stripe';
import { finishAuthentication } from '../payments/charging.js';
import { completeSession } from '../checkout/checkout-sessions.js';
import { notFound, readPageForm, show, successUrl, type PageOutcome } from '../checkout/checkout-page.js';
import type { World } from '../http/endpoint.js';
import { ApiError } from '../http/errors.js';
import { dollars, escapeHtml } from '../http/html.js';
import { returnAddress } from '../http/return-address.js';
import { finishSetupAuthentication } from './setup-intents.js';

type Waiting = Stripe.PaymentIntent | Stripe.SetupIntent;

/** The page on which a bank asks the card's owner to approve a payment or the saving of the card. */
export function createAuthenticationPages(world: World): Router {
  const router = new Router();
  router.get('/c/authenticate/:id', (ctx) => show(ctx, ask(world, ctx.params['id'] ?? '')));
  router.post('/c/authenticate/:id', async (ctx) => {
    const form = await readPageForm(ctx);
    const approved = form.get('outcome') === 'approve';
    show(
      ctx,
      world.transact(null, () => answerBank(world, ctx.params['id'] ?? '', approved)),
    );
  });
  return router;
}

function find(world: World, id: string): Waiting | undefined {
  return world.store.find('payment_intents', id) ?? world.store.find('setup_intents', id);
}

function ask(world: World, id: string): PageOutcome {
  const intent = find(world, id);
  if (intent === undefined) return notFound();
  if (intent.status !== 'requires_action') return nothingToDo();
  const what =
    intent.object === 'payment_intent'
      ? `a payment of ${dollars(intent.amount)}`
      : 'that your card is kept for later payments';
  return {
    status: 200,
    title: 'Your bank asks',
    body: `<p>Do you approve ${escapeHtml(what)}?</p>
<form method="post" action="/c/authenticate/${intent.id}">
<button name="outcome" value="approve">Approve</button> <button name="outcome" value="refuse">Refuse</button>
</form>`,
  };
}

function nothingToDo(): PageOutcome {
  return {
    status: 409,
    title: 'Nothing to approve',
    body: '<p>The bank is not asking for anything here. Go back to the shop to see how your payment stands.</p>',
  };
}

/** The card's owner approves or refuses what their bank asks. Only within a transaction. */
export function answerBank(world: World, id: string, approved: boolean): PageOutcome {
  const intent = find(world, id);
  if (intent === undefined) return notFound();
  if (intent.status !== 'requires_action') return nothingToDo();
  const details = world.store.find('intent_details', id);
  const session = world.store.find('checkout_sessions', details?.sessionId ?? '');
  const succeeded = settle(world, intent, session, approved);
  if (session === undefined) return goBack(intent, details?.returnUrl ?? null, succeeded);
  return { redirect: succeeded ? successUrl(world, session.id) : `/c/pay/${session.id}` };
}

/** Continues the payment or setup that waited for the bank. @returns whether it succeeded */
function settle(
  world: World,
  intent: Waiting,
  session: Stripe.Checkout.Session | undefined,
  approved: boolean,
): boolean {
  try {
    if (intent.object === 'setup_intent') {
      finishSetupAuthentication(world, intent, approved);
      return true;
    }
    const paid = finishAuthentication(world, intent, approved);
    if (session !== undefined) completeSession(world, session, paid);
    return true;
  } catch (error) {
    // Caught inside the transaction, so that the failed charge and its events stay.
    if (error instanceof ApiError && error.isDecline) return false;
    throw error;
  }
}

function goBack(intent: Waiting, returnUrl: string | null, succeeded: boolean): PageOutcome {
  const redirect = returnAddress(intent, returnUrl, succeeded);
  if (redirect !== undefined) return { redirect };
  return { status: 200, title: 'Done', body: '<p>Your answer was kept. You can close this page.</p>' };
}
