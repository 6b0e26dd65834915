import type { ApiRouter } from '../../../api/context.js';
import { readDetails, sendReceipt } from '../../../api/topups/receipts.js';
import { receiptOf } from '../receipts.js';
import { note, signedIn } from '../signed-in.js';
import type { World } from '../world.js';

/** Receipts, and whom they are made out to. */
export function receiptRoutes(router: ApiRouter, world: World): void {
  const path = '/v1/billing/details';
  router.get(
    path,
    signedIn(world, (ctx, account) => {
      ctx.body = account.billingDetails;
    }),
  );
  router.put(
    path,
    signedIn(world, (ctx, account) => {
      account.billingDetails = readDetails(ctx);
      note(world, ctx, account, 'billing_details_changed');
      ctx.body = account.billingDetails;
    }),
  );
  router.get(
    '/v1/billing/topups/:id/receipt',
    signedIn(world, (ctx, account) => sendReceipt(ctx, receiptOf(account, ctx.params['id']))),
  );
}
