import type { ApiRouter } from '../../../api/context.js';
import * as declared from '../../../api/topups/describe-receipts.js';
import { readDetails, sendReceipt } from '../../../api/topups/receipts.js';
import { receiptOf } from '../receipts.js';
import { registerMock, serveMock } from '../serve.js';
import { note } from '../signed-in.js';
import type { World } from '../world.js';

/** Receipts, and whom they are made out to. */
export function receiptRoutes(router: ApiRouter, world: World): void {
  serveMock(router, world, declared.showBillingDetails, (_ctx, account) => account.billingDetails);
  serveMock(router, world, declared.putBillingDetails, (ctx, account) => {
    account.billingDetails = readDetails(ctx);
    note(world, ctx, account, 'billing_details_changed');
    return account.billingDetails;
  });
  registerMock(router, world, declared.downloadReceipt, (ctx, account) =>
    sendReceipt(ctx, receiptOf(account, ctx.params['id'])),
  );
}
