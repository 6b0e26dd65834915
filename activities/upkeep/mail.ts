import { sleep } from '@temporalio/activity';
import { deliverDueMails, type MailDelivery } from '../../adapters/postgres/upkeep/outbox-delivery.js';
import { clearStuck } from '../../adapters/postgres/upkeep/stuck-items.js';
import { refuseWhenRestored } from '../ask-first.js';
import type { ActivityDeps } from '../deps.js';
import { noteStuck } from '../each-item.js';
import { ONE_CALL_MS, withHeartbeat } from '../heartbeat.js';

const LOOK_EVERY_MS = 500;

/** Sends the mails that transactions left in the outbox (decision 36, "The mail outbox"). */
export function createMailActivities(deps: ActivityDeps) {
  return {
    /** Delivers due mails for `forMs` and returns; its workflow starts it again. */
    async deliverMails(forMs: number): Promise<void> {
      await withHeartbeat(
        async (tell) => {
          const end = performance.now() + forMs;
          let sent = 0;
          while (performance.now() < end) {
            await refuseWhenRestored(deps);
            const { due, sent: now } = await deliverDueMails(deps.db, deliveryOf(deps));
            sent += now;
            tell({ sent });
            // The pause, however short, lets a worker that is being shut down let go here.
            await sleep(due === 0 ? LOOK_EVERY_MS : 1);
          }
        },
        { stalledAfterMs: ONE_CALL_MS },
      );
    },
  };
}

export function deliveryOf(deps: ActivityDeps): MailDelivery {
  return {
    send: (mail) =>
      deps.mail.send({
        to: mail.recipient,
        subject: mail.subject,
        text: mail.body,
        messageId: `outbox-${mail.id}@${deps.settings.deployment}.gpu-rental`,
      }),
    failed: async ({ id }, error) =>
      (await noteStuck(deps, { duty: 'mail', item: String(id), error })).nextTryMs,
    recovered: ({ id }) => clearStuck(deps.db, 'mail', String(id)),
  };
}
