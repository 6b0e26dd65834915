import { invoicesQuery } from '../../../api/invoices/describe.js';
import type { Invoice } from '../../../adapters/postgres/invoices/invoice-reads.js';
import type { ApiRouter } from '../../../api/context.js';
import { isPayable, presentInvoice } from '../../../api/invoices/routes.js';
import { joi } from '../../../api/http/fields.js';
import { readBody, readQuery } from '../../../api/http/validation.js';
import type { Account } from '../account.js';
import { issueInvoice } from '../invoices.js';
import { refusalByCode } from '../refuse.js';
import { signedIn } from '../signed-in.js';
import type { World } from '../world.js';

const issueSchema = joi.object<{ amountCents: number; description: string }>({
  amountCents: joi.number().integer().min(50).max(10_000_000).required(),
  description: joi.text().maxChars(500).default('What is owed'),
});

/** Invoices. A declined auto-topup makes one; POST /mock/invoices, which the service does not have, makes a debt. */
export function invoiceRoutes(router: ApiRouter, world: World): void {
  router.get(
    '/v1/billing/invoices',
    signedIn(world, (ctx, account) => {
      const { invoices } = account;
      const { status, limit, before } = readQuery(ctx, invoicesQuery);
      if (before !== undefined) getInvoice(account, before);
      const wanted = invoices
        .filter(({ row }) => status === undefined || row.status === status)
        .filter(({ row }) => before === undefined || row.id < before);
      ctx.body = { data: wanted.toReversed().slice(0, limit).map(presentInvoice) };
    }),
  );
  router.get(
    '/v1/billing/invoices/:id',
    signedIn(world, (ctx, account) => {
      ctx.body = presentInvoice(getInvoice(account, ctx.params['id']));
    }),
  );
  router.get(
    '/v1/billing/invoices/:id/pay-url',
    signedIn(world, (ctx, account) => {
      const { row } = getInvoice(account, ctx.params['id']);
      ctx.body = { url: isPayable(row) ? row.hosted_invoice_url : null };
    }),
  );
  router.post(
    '/mock/invoices',
    signedIn(world, (ctx, account) => {
      const { amountCents, description } = readBody(ctx, issueSchema);
      ctx.body = presentInvoice(issueInvoice(world, account, { reason: 'manual', amountCents, description }));
    }),
  );
}

function getInvoice({ invoices }: Account, id: string | undefined): Invoice {
  const invoice = invoices.find(({ row }) => row.id === id);
  if (!invoice) throw refusalByCode('invoice_not_found');
  return invoice;
}
