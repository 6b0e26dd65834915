import { exportAccount } from '../../../api/accounts/describe-export.js';
import { refuseUnlessAsked, sendArchive } from '../../../api/accounts/export.js';
import type { ApiRouter } from '../../../api/context.js';
import { asking } from '../../../api/http/ask.js';
import { receiptOf } from '../receipts.js';
import { registerMock } from '../serve.js';
import { note } from '../signed-in.js';
import type { World } from '../world.js';

/** The export of an account: what the mock’s own routes tell. It sends no mails, and knows no accounts elsewhere. */
export function exportRoutes(router: ApiRouter, world: World): void {
  const none = () => Promise.resolve([]);
  registerMock(router, world, exportAccount, (ctx, account) => {
    refuseUnlessAsked(ctx);
    note(world, ctx, account, 'account_exported');
    sendArchive(ctx, {
      ...{ ask: asking(router, ctx), mails: none, identities: none },
      receipt: (topupId) => Promise.resolve(receiptOf(account, topupId)),
    });
  });
}
