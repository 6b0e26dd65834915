import { findReceipt } from '../../adapters/postgres/payments/receipts.js';
import { receiptPdf } from '../../adapters/receipts/receipt-pdf.js';
import {
  deliverDueMails,
  type DueMails,
  type MailDelivery,
} from '../../adapters/postgres/upkeep/outbox-delivery.js';
import { clearStuck } from '../../adapters/postgres/upkeep/stuck-items.js';
import { parseCause } from '../../domain/causes.js';
import { receiptFileName } from '../../domain/payments/receipt.js';
import { withSupport } from '../../domain/mails/message.js';
import { refuseWhenRestored } from '../ask-first.js';
import type { ActivityDeps } from '../deps.js';
import { eachPart, noteStuck } from '../each-item.js';
import { inLines, ONE_CALL_MS, type Tell } from '../heartbeat.js';
import { tellNotices } from './notices.js';

const LOOK_EVERY_MS = 500;
const NOTICES_EVERY_MS = 1_000;

/** Sends the mails that transactions left in the outbox (decision 36, "The mail outbox"). */
export function createMailActivities(deps: ActivityDeps) {
  return {
    /**
     * Delivers due mails for `forMs` and returns; its workflow starts it again. While notices are noted or a mail is on
     * its way, mails with a code go by a line of their own (decision 188, "Codes before bulk").
     */
    async deliverMails(forMs: number): Promise<void> {
      let sent = 0;
      let nextNotices = 0;
      let isBusy = false;
      const deliver = async (which: DueMails, tell: Tell): Promise<number> => {
        const { due, sent: now } = await deliverDueMails(deps.db, deliveryOf(deps), which);
        sent += now;
        tell({ sent });
        return due === 0 ? LOOK_EVERY_MS : 1;
      };
      const all = async (tell: Tell): Promise<number> => {
        isBusy = true;
        await refuseWhenRestored(deps);
        if (performance.now() >= nextNotices) {
          await eachPart(deps, 'notices', () => tellNotices(deps, tell));
          nextNotices = performance.now() + NOTICES_EVERY_MS;
        }
        const pauseMs = await deliver('all', tell);
        isBusy = pauseMs < LOOK_EVERY_MS;
        return pauseMs;
      };
      const codes = async (tell: Tell): Promise<number> => {
        tell({ sent });
        // The other line finds them as soon.
        if (!isBusy) return LOOK_EVERY_MS;
        await refuseWhenRestored(deps);
        return deliver('codes', tell);
      };
      await inLines(forMs, [all, codes], { stalledAfterMs: ONE_CALL_MS });
    },
  };
}

/** What a mail names for help; operators are support themselves. */
function contactFor(
  { settings }: ActivityDeps,
  { recipient }: { readonly recipient: string },
): string | null {
  return recipient === settings.operatorEmail ? null : (settings.supportContact ?? null);
}

/** The file of a receipt; it is written when its mail leaves, so that it waits in no row. */
async function attachmentsOf({ db, settings }: ActivityDeps, { cause }: { readonly cause: string }) {
  const parsed = parseCause(cause);
  const receipt = parsed?.kind === 'receipt' ? await findReceipt(db, parsed, settings.seller) : undefined;
  if (!receipt) return [];
  const content = await receiptPdf(receipt);
  return [{ filename: receiptFileName(receipt), contentType: 'application/pdf', content }];
}

export function deliveryOf(deps: ActivityDeps): MailDelivery {
  return {
    send: async (mail) =>
      deps.mail.send({
        to: mail.recipient,
        ...withSupport({ subject: mail.subject, text: mail.body, html: mail.html }, contactFor(deps, mail)),
        unsubscribeUrl: mail.unsubscribe_url,
        attachments: await attachmentsOf(deps, mail),
        messageId: `outbox-${mail.id}@${deps.settings.deployment}.gpu-rental`,
      }),
    failed: async ({ id }, error) =>
      (await noteStuck(deps, { duty: 'mail', item: String(id), error })).nextTryMs,
    recovered: ({ id }) => clearStuck(deps.db, 'mail', String(id)),
    gaveUp: ({ id, cause, last_error: lastError }) =>
      deps.log.error({ mail: id, cause, lastError }, 'gave up a mail: nobody took it for 40 days'),
  };
}
