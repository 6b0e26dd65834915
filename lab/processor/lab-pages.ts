import Router from '@koa/router';
import rawBody from 'raw-body';
import { testCards } from './cards/cards.js';
import { notFound, show } from './checkout/checkout-page.js';
import type { World } from './http/endpoint.js';
import { dollars, escapeHtml } from './http/html.js';
import { idOf } from './ids.js';
import { isPayable } from './invoices/invoice-payments.js';
import { pagePath, writeJson } from './http/page-url.js';
import { isOpen } from './cards/setup-intents.js';
import type { RequestLog } from './api-server.js';

/** The pages and endpoints that are not the processor's own: receipts, the overview, and the tests' controls. */
export function createLabPages(world: World, log: RequestLog, baseUrl: () => string): Router {
  const router = new Router();
  router.get('/', (ctx) => show(ctx, { status: 200, title: 'Payment processor', body: overview(world) }));
  router.get('/receipts/:id', (ctx) => {
    const charge = world.store.find('charges', ctx.params['id'] ?? '');
    if (charge?.paid !== true) {
      show(ctx, notFound());
      return;
    }
    const last4 = charge.payment_method_details?.card?.last4 ?? '';
    const body = `<table><tr><th>Amount<td>${dollars(charge.amount)}
<tr><th>Date<td>${new Date(charge.created * 1000).toISOString()}<tr><th>Card<td>•••• ${escapeHtml(last4)}
<tr><th>Payment<td>${escapeHtml(idOf(charge.payment_intent) ?? '')}<tr><th>Charge<td>${charge.id}</table>`;
    show(ctx, { status: 200, title: 'Receipt', body });
  });

  router.post('/lab/faults', async (ctx) => {
    const text = await rawBody(ctx.req, { limit: '20kb', encoding: 'utf8' });
    const order: unknown = ctx.is('json') ? JSON.parse(text) : Object.fromEntries(new URLSearchParams(text));
    ctx.body = world.faults.order(order);
  });
  router.get('/lab/faults', (ctx) => {
    ctx.body = world.faults.list();
  });
  router.delete('/lab/faults', (ctx) => {
    world.faults.clear();
    ctx.status = 204;
  });
  router.get('/lab/state', (ctx) => {
    ctx.type = 'application/json';
    ctx.body = writeJson(state(world, log), baseUrl());
  });
  return router;
}

function state({ store, faults }: World, log: RequestLog): object {
  return {
    customers: store.list('customers'),
    payment_methods: store.list('payment_methods'),
    setup_intents: store.list('setup_intents'),
    payment_intents: store.list('payment_intents'),
    charges: store.list('charges'),
    refunds: store.list('refunds'),
    disputes: store.list('disputes'),
    fraud_warnings: store.list('fraud_warnings'),
    invoices: store.list('invoices'),
    invoice_items: store.list('invoice_items'),
    invoice_payments: store.list('invoice_payments'),
    checkout_sessions: store.list('checkout_sessions'),
    events: store.list('events'),
    deliveries: store.list('deliveries'),
    idempotency_keys: store
      .list('idempotency_keys')
      .map(({ id, path, status }) => ({ key: id, path, status })),
    requests: log,
    faults: faults.list(),
  };
}

/** The number of rows of each kind in the overview, the newest first. */
const shownLimit = 20;

function overview({ store }: World): string {
  const open = store
    .list('checkout_sessions')
    .filter((session) => session.status === 'open')
    .slice(-shownLimit)
    .reverse()
    .map(
      (session) =>
        `<li><a href="/c/pay/${session.id}">${dollars(session.amount_total ?? 0)}</a>
${escapeHtml(session.customer_details?.email ?? '')}</li>`,
    );
  const setups = store
    .list('setup_intents')
    .filter((setup) => isOpen(setup) && setup.client_secret !== null)
    .slice(-shownLimit)
    .reverse()
    .map(
      (setup) =>
        `<li><a href="/setup/${setup.id}?client_secret=${encodeURIComponent(setup.client_secret ?? '')}">${setup.id}</a>`,
    );
  const invoices = store
    .list('invoices')
    .filter(isPayable)
    .slice(-shownLimit)
    .reverse()
    .map(
      (invoice) =>
        `<li><a href="${escapeHtml(pagePath(invoice.hosted_invoice_url ?? ''))}">${dollars(invoice.amount_remaining)}</a>
${escapeHtml(invoice.customer_email ?? '')}</li>`,
    );
  const cards = testCards.map((card) => {
    const what = card.authentication === 'never' ? '' : 'the bank asks first; ';
    return `<tr><td>${card.number}<td>${what}${escapeHtml(card.decline?.declineCode ?? 'pays')}`;
  });
  return `<h2>Payments that wait</h2><ul>${open.join('') || '<li>none: start a top-up in the service</li>'}</ul>
<h2>Cards to save</h2><ul>${setups.join('') || '<li>none: begin to save a card in the service</li>'}</ul>
<h2>Invoices to pay</h2><ul>${invoices.join('') || '<li>none</li>'}</ul>
<h2>Test cards</h2><table>${cards.join('')}</table>
<p class="note">Any date in the future, any three digits. Everything as JSON: <a href="/lab/state">/lab/state</a></p>`;
}
