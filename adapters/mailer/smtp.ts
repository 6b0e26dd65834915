import nodemailer from 'nodemailer';

export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  /** Stable over retries, so that a receiver can drop a second copy. */
  readonly messageId: string;
}

export interface MailTransport {
  /** @throws when the server did not take the mail; it may be sent again with the same messageId */
  send(mail: Mail): Promise<void>;
  close(): void;
}

/** Sends mails through an SMTP server, with limits on each step. */
export function createSmtpTransport(config: { smtpUrl: string; from: string }): MailTransport {
  const url = new URL(config.smtpUrl);
  const stepLimitsMs = { connectionTimeout: 5_000, greetingTimeout: 5_000, socketTimeout: 10_000 };
  for (const [step, ms] of Object.entries(stepLimitsMs)) url.searchParams.set(step, ms.toString());
  const transport = nodemailer.createTransport(url.href, { from: config.from });
  return {
    send: async ({ to, subject, text, messageId }) => {
      await transport.sendMail({ to, subject, text, messageId: `<${messageId}>` });
    },
    close: () => transport.close(),
  };
}
