import { Counter, type Registry } from 'prom-client';
import { MailError, type MailTransport } from '../mailer/smtp.js';
import { metricPrefix } from './registry.js';

/**
 * Counts the mails that this process gave to the mail server, by what came of it. A lasting "no" to one mail is no failure of
 * the server: one dead mailbox, tried again and again, says nothing of the other mails.
 */
export function countMails(registry: Registry, transport: MailTransport): MailTransport {
  const mails = new Counter({
    name: `${metricPrefix}mails_total`,
    help: 'Mails that this process gave to the mail server: sent, refused (this mail alone, for good), or failed.',
    labelNames: ['outcome'],
    registers: [registry],
  });
  for (const outcome of ['sent', 'refused', 'failed']) mails.inc({ outcome }, 0);
  return {
    async send(mail) {
      try {
        await transport.send(mail);
        mails.inc({ outcome: 'sent' });
      } catch (error) {
        mails.inc({ outcome: error instanceof MailError && !error.isOfPeer ? 'refused' : 'failed' });
        throw error;
      }
    },
    close: () => transport.close(),
  };
}
