import type { ApiContext, ApiRouter } from '../../../api/context.js';
import type { Refusal } from '../../../domain/refusal.js';
import { isPayable } from '../../../domain/payments/invoices.js';
import { noSuchRoute } from '../../../api/http/not-found.js';
import { dollars, escapeHtml, htmlPage } from '../../processor/http/html.js';
import type { Account } from '../account.js';
import { payInvoice } from '../invoices.js';
import { payPage } from '../topups.js';
import type { World } from '../world.js';

/**
 * The pages that a payment processor would host, and, without a dashboard, the page to which they return.
 * @param dashboardUrl the address to which browsers return after a payment
 */
export function pageRoutes(router: ApiRouter, world: World, dashboardUrl: string): void {
  checkoutPages(router, world, dashboardUrl);
  invoicePages(router, world);
  // The card saves itself (routes/payments.ts), so there is nothing to ask: the page leads straight back.
  router.get('/mock/setup/:id', (ctx) => {
    const back = new URLSearchParams({ setup_intent: ctx.params['id'] ?? '', redirect_status: 'succeeded' });
    ctx.set('Cache-Control', 'no-store');
    ctx.status = 303;
    ctx.redirect(`${dashboardUrl}/app/billing?${back.toString()}`);
  });
  router.get('/mock/receipts/:id', (ctx) => {
    show(ctx, 'Receipt', `<p>Charge <code>${escapeHtml(ctx.params['id'] ?? '')}</code> was paid.</p>`);
  });
  router.get('/app/billing', (ctx) => {
    const isPaid = ctx.query['session'] === 'success';
    show(
      ctx,
      isPaid ? 'Paid' : 'Not paid',
      isPaid ? '<p>The wallet has been credited.</p>' : '<p>You were not charged.</p>',
    );
  });
}

/**
 * The fake page of a checkout leads straight to success (spec: the development mock backend). Parameters ask for other
 * outcomes: `?outcome=cancel`, `?outcome=decline`, and `?saveCard=true` as a payer who ticks the consent.
 */
function checkoutPages(router: ApiRouter, world: World, dashboardUrl: string): void {
  router.get('/mock/checkout/:sessionId', (ctx) => {
    const sessionId = ctx.params['sessionId'] ?? '';
    if (!world.pages.has(sessionId)) throw nothingHere(ctx);
    const { outcome, saveCard } = ctx.query;
    if (outcome === 'decline') {
      const again = `<p>Your card was declined.</p><p><a href="/mock/checkout/${escapeHtml(sessionId)}">Pay with another card</a></p>`;
      show(ctx, 'Declined', again);
      ctx.status = 402;
      return;
    }
    const isCancelled = outcome === 'cancel';
    if (!isCancelled) payPage(world, sessionId, saveCard === 'true');
    ctx.set('Cache-Control', 'no-store');
    ctx.status = 303;
    ctx.redirect(`${dashboardUrl}/app/billing?session=${isCancelled ? 'cancel' : 'success'}`);
  });
}

function invoicePages(router: ApiRouter, world: World): void {
  router.get('/mock/invoices/:id', (ctx) => {
    const { row, lineItems } = getInvoice(ctx, world).invoice;
    const lines = lineItems
      .map((line) => `<tr><td>${escapeHtml(line.description)}</td><td>${dollars(line.amountCents)}</td></tr>`)
      .join('');
    const form = `<form method="post" action="/mock/invoices/${row.id}/pay"><button>Pay ${dollars(row.amount_cents)}</button></form>`;
    show(ctx, `Invoice: ${row.status}`, `<table>${lines}</table>${isPayable(row) ? form : ''}`);
  });
  router.post('/mock/invoices/:id/pay', (ctx) => {
    const { account, invoice } = getInvoice(ctx, world);
    payInvoice(world, account, invoice);
    ctx.status = 303;
    ctx.redirect(`/mock/invoices/${invoice.row.id}`);
  });
  router.get('/mock/invoices/:id/pdf', (ctx) => {
    const { row } = getInvoice(ctx, world).invoice;
    show(
      ctx,
      `Invoice ${row.id}`,
      `<p>${dollars(row.amount_cents)}, ${row.status}. The mock prints no PDF.</p>`,
    );
  });
}

/** Anyone with the address may see and pay it, as at a processor. */
function getInvoice(
  ctx: ApiContext,
  world: World,
): { account: Account; invoice: Account['invoices'][number] } {
  for (const account of world.accounts.all()) {
    const invoice = account.invoices.find(({ row }) => row.id === ctx.params['id']);
    if (invoice) return { account, invoice };
  }
  throw nothingHere(ctx);
}

/** Allows the page's own style and forms and nothing else; the API's answers allow not even these. */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'";

function show(ctx: ApiContext, title: string, body: string): void {
  ctx.set('Content-Security-Policy', POLICY);
  // Without a referrer a browser names no origin with a form, and changes of such are refused.
  ctx.set('Referrer-Policy', 'same-origin');
  ctx.type = 'text/html; charset=utf-8';
  ctx.body = htmlPage(title, body);
}

function nothingHere(ctx: ApiContext): Refusal {
  return noSuchRoute(ctx.path);
}
