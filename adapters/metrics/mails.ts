import { Counter, type Registry } from 'prom-client';
import type { MailTransport } from '../mailer/smtp.js';
import { metricPrefix } from './registry.js';

/** Counts the mails that this process gave to the mail server, by what came of it. */
export function countMails(registry: Registry, transport: MailTransport): MailTransport {
  const mails = new Counter({
    name: `${metricPrefix}mails_total`,
    help: 'Mails that this process gave to the mail server: sent, or failed.',
    labelNames: ['outcome'],
    registers: [registry],
  });
  for (const outcome of ['sent', 'failed']) mails.inc({ outcome }, 0);
  return {
    async send(mail) {
      try {
        await transport.send(mail);
        mails.inc({ outcome: 'sent' });
      } catch (error) {
        mails.inc({ outcome: 'failed' });
        throw error;
      }
    },
    close: () => transport.close(),
  };
}
