import * as declared from '../../../api/invoices/describe.js';
import type { Invoice } from '../../../adapters/postgres/invoices/invoice-reads.js';
import type { ApiRouter } from '../../../api/context.js';
import { presentInvoice } from '../../../api/invoices/routes.js';
import { joi } from '../../../api/http/fields.js';
import { requireSession } from '../../../api/http/middleware/caller.js';
import { readBody, readQuery } from '../../../api/http/validation.js';
import { isPayable } from '../../../domain/payments/invoices.js';
import type { Account } from '../account.js';
import { giveUpInvoice, issueInvoice } from '../invoices.js';
import { refusalByCode } from '../refuse.js';
import { serveMock } from '../serve.js';
import { accountOf, cookieDeps } from '../signed-in.js';
import type { World } from '../world.js';

const issueSchema = joi.object<{ amountCents: number; description: string; givenUp: boolean }>({
  amountCents: joi.number().integer().min(50).max(10_000_000).required(),
  description: joi.text().maxChars(500).default('What is owed'),
  givenUp: joi.boolean().default(false),
});

/**
 * Invoices. A declined auto-topup makes one; POST /mock/invoices, which the service does not have, makes a debt, given up or
 * not.
 */
export function invoiceRoutes(router: ApiRouter, world: World): void {
  serveMock(router, world, declared.listInvoices, (ctx, account) => {
    const { invoices } = account;
    const { status, limit, before } = readQuery(ctx, declared.invoicesQuery);
    if (before !== undefined) getInvoice(account, before);
    const wanted = invoices
      .filter(({ row }) => status === undefined || row.status === status)
      .filter(({ row }) => before === undefined || row.id < before);
    return { data: wanted.toReversed().slice(0, limit).map(presentInvoice) };
  });
  serveMock(router, world, declared.showInvoice, (ctx, account) =>
    presentInvoice(getInvoice(account, ctx.params['id'])),
  );
  serveMock(router, world, declared.showPayUrl, (ctx, account) => {
    const { row } = getInvoice(account, ctx.params['id']);
    return { url: isPayable(row) ? row.hosted_invoice_url : null };
  });
  router.post('/mock/invoices', requireSession(cookieDeps), (ctx) => {
    const account = accountOf(world, ctx);
    const { amountCents, description, givenUp } = readBody(ctx, issueSchema);
    const invoice = issueInvoice(world, account, { reason: 'manual', amountCents, description });
    if (givenUp) giveUpInvoice(world, account, invoice);
    ctx.body = presentInvoice(invoice);
  });
}

function getInvoice({ invoices }: Account, id: string | undefined): Invoice {
  const invoice = invoices.find(({ row }) => row.id === id);
  if (!invoice) throw refusalByCode('invoice_not_found');
  return invoice;
}
