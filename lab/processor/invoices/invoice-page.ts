import Router, { type RouterContext } from '@koa/router';
import type Stripe from 'stripe';
import { alertOf, cardFields, methodOfForm } from '../cards/card-form.js';
import { notFound, readPageForm, show, type PageOutcome } from '../checkout/checkout-page.js';
import type { World } from '../http/endpoint.js';
import { ApiError } from '../http/errors.js';
import { dollars, escapeHtml } from '../http/html.js';
import { isPayable, payWith } from './invoice-payments.js';
import { pagePath, pageUrl } from '../http/page-url.js';
import { writePdf } from './pdf.js';

/** The hosted page of an invoice, payable by a browser and by `curl -d cardNumber=…`, and its document. */
export function createInvoicePages(world: World): Router {
  const router = new Router();
  router.get('/i/:id/:secret', (ctx) => show(ctx, invoicePage(findInvoice(world, ctx), null, 200)));
  router.post('/i/:id/:secret', async (ctx) => {
    const form = await readPageForm(ctx);
    const invoice = findInvoice(world, ctx);
    show(ctx, invoice === undefined ? notFound() : payInvoicePage(world, invoice, form));
  });
  router.get('/i/:id/:secret/pdf', (ctx) => {
    const invoice = findInvoice(world, ctx);
    if (invoice === undefined) {
      show(ctx, notFound());
      return;
    }
    ctx.type = 'application/pdf';
    ctx.body = writePdf(textOf(invoice));
  });
  return router;
}

function findInvoice(world: World, ctx: RouterContext): Stripe.Invoice | undefined {
  const { id = '', secret = '' } = ctx.params;
  const invoice = world.store.find('invoices', id);
  return invoice?.hosted_invoice_url === pageUrl(`/i/${id}/${secret}`) ? invoice : undefined;
}

/** A payer sends the form of an invoice's page. */
export function payInvoicePage(world: World, invoice: Stripe.Invoice, form: URLSearchParams): PageOutcome {
  if (!isPayable(invoice)) return invoicePage(invoice, null, 409);
  try {
    return world.transact(null, () => {
      const method = methodOfForm(world, form, invoice.customer_email);
      return attempt(world, invoice, method);
    });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return invoicePage(invoice, error.message, error.status);
  }
}

function attempt(world: World, invoice: Stripe.Invoice, method: Stripe.PaymentMethod): PageOutcome {
  try {
    const intent = payWith(world, invoice, method, false);
    if (intent.status === 'requires_action') return { redirect: `/c/authenticate/${intent.id}` };
    return invoicePage(world.store.find('invoices', invoice.id), null, 200);
  } catch (error) {
    // Caught inside the transaction, so that the failed charge and its events stay.
    if (!(error instanceof ApiError) || !error.isDecline) throw error;
    return invoicePage(invoice, error.message, error.status);
  }
}

function invoicePage(
  invoice: Stripe.Invoice | undefined,
  message: string | null,
  status: number,
): PageOutcome {
  if (invoice === undefined) return notFound();
  const title = `Invoice ${invoice.number ?? invoice.id}`;
  const lines = invoice.lines.data.map(
    (line) => `<tr><td>${escapeHtml(line.description ?? 'Item')}<td>${dollars(line.amount)}`,
  );
  const address = pagePath(invoice.hosted_invoice_url ?? '');
  const table = `<table>${lines.join('')}<tr><th>Total<td>${dollars(invoice.total)}</table>
<p><a href="${escapeHtml(address)}/pdf">Download as PDF</a></p>`;
  if (!isPayable(invoice)) {
    return { status, title, body: `${table}<p>This invoice is ${escapeHtml(String(invoice.status))}.</p>` };
  }
  return {
    status,
    title,
    body: `${table}${alertOf(message)}
<form method="post" action="${escapeHtml(address)}">
${cardFields}
<button type="submit">Pay ${dollars(invoice.amount_remaining)}</button>
</form>`,
  };
}

function textOf(invoice: Stripe.Invoice): string[] {
  return [
    `Invoice ${invoice.number ?? invoice.id}`,
    `To ${invoice.customer_email ?? 'the customer'}`,
    ...invoice.lines.data.map((line) => `${line.description ?? 'Item'}: ${dollars(line.amount)}`),
    `Total: ${dollars(invoice.total)}`,
    `Status: ${String(invoice.status)}`,
    'From the payment lab: no real money moves here.',
  ];
}
