import Router from '@koa/router';
import type Stripe from 'stripe';
import { alertOf, cardFields, methodOfForm } from './card-form.js';
import { notFound, readPageForm, show, type PageOutcome } from '../checkout/checkout-page.js';
import type { World } from '../http/endpoint.js';
import { returnAddress } from '../http/return-address.js';
import { ApiError } from '../http/errors.js';
import { escapeHtml } from '../http/html.js';
import { idOf } from '../ids.js';
import { attemptSetup, isOpen } from './setup-intents.js';

/**
 * A page that saves a card, as a shop's own page does with the processor's form. A browser reaches it with the
 * SetupIntent's client_secret, and so does `curl -d client_secret=… -d cardNumber=…`. With a return_url in the address it
 * leads back to there.
 */
export function createSetupPages(world: World): Router {
  const router = new Router();
  router.get('/setup/:id', (ctx) => {
    const secret = ctx.URL.searchParams.get('client_secret');
    show(ctx, setupPage(findSetup(world, ctx.params['id'] ?? '', secret), null, 200));
  });
  router.post('/setup/:id', async (ctx) => {
    const form = await readPageForm(ctx);
    // A form that was opened with the secret in its address may be posted to that same address.
    const secret = form.get('client_secret') ?? ctx.URL.searchParams.get('client_secret');
    show(
      ctx,
      saveByPage(world, ctx.params['id'] ?? '', secret, form, ctx.URL.searchParams.get('return_url')),
    );
  });
  return router;
}

/** Finds the setup of an id for a caller who knows its secret. */
function findSetup(world: World, id: string, secret: string | null): Stripe.SetupIntent | undefined {
  const setup = world.store.find('setup_intents', id);
  return setup?.client_secret === secret ? setup : undefined;
}

/** A browser sends the form that saves a card. */
export function saveByPage(
  world: World,
  id: string,
  secret: string | null,
  form: URLSearchParams,
  returnUrl: string | null,
): PageOutcome {
  try {
    return world.transact(null, () => {
      const setup = findSetup(world, id, secret);
      if (setup === undefined || !isOpen(setup)) return setupPage(setup, null, 409);
      if (returnUrl !== null) world.store.put('intent_details', { id, sessionId: null, returnUrl });
      const customer = world.store.find('customers', idOf(setup.customer) ?? '');
      return attempt(world, setup, methodOfForm(world, form, customer?.email ?? null));
    });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return setupPage(findSetup(world, id, secret), error.message, error.status);
  }
}

function attempt(world: World, setup: Stripe.SetupIntent, method: Stripe.PaymentMethod): PageOutcome {
  try {
    const after = attemptSetup(world, setup, method);
    if (after.status === 'requires_action') return { redirect: `/c/authenticate/${after.id}` };
    const back = returnAddress(after, world.store.find('intent_details', setup.id)?.returnUrl ?? null, true);
    return back === undefined ? setupPage(after, null, 200) : { redirect: back };
  } catch (error) {
    // Caught inside the transaction, so that the failed setup and its events stay.
    if (!(error instanceof ApiError) || !error.isDecline) throw error;
    return setupPage(world.store.find('setup_intents', setup.id), error.message, error.status);
  }
}

function setupPage(
  setup: Stripe.SetupIntent | undefined,
  message: string | null,
  status: number,
): PageOutcome {
  if (setup === undefined) return notFound();
  if (setup.status === 'succeeded') {
    return {
      status,
      title: 'Card saved',
      body: '<p>Your card is saved for later payments. You can close this page.</p>',
    };
  }
  if (!isOpen(setup)) {
    return {
      status,
      title: 'Nothing to save',
      body: '<p>This page takes no card any more. Go back to the shop and begin again.</p>',
    };
  }
  return {
    status,
    title: 'Save a card',
    body: `${alertOf(message ?? setup.last_setup_error?.message ?? null)}
<form method="post">
<input type="hidden" name="client_secret" value="${escapeHtml(setup.client_secret ?? '')}">
${cardFields}
<button type="submit">Save this card</button>
</form>`,
  };
}
