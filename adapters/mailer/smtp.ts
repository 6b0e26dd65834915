import nodemailer from 'nodemailer';
import { PeerError } from '../peer-error.js';

export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  /** Stable over retries, so that a receiver can drop a second copy. */
  readonly messageId: string;
}

export interface MailTransport {
  /** @throws MailError when the server did not take the mail; it may be sent again with the same messageId */
  send(mail: Mail): Promise<void>;
  close(): void;
}

/** A mail that the server did not take. */
export class MailError extends PeerError {
  override readonly name = 'MailError';
  constructor(
    message: string,
    readonly isOfPeer: boolean,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** A server that answers each step, and never the last one, would hold up the outbox for ever. */
const MAIL_LIMIT_MS = 15_000;

/**
 * Sends mails through an SMTP server, with limits on each step and on the whole of a mail (decision 72, "Deadlines of
 * waits").
 */
export function createSmtpTransport(config: {
  readonly smtpUrl: string;
  readonly from: string;
  /** For one mail, from looking the server up to its last answer; 15 seconds unless told. */
  readonly limitMs?: number;
  readonly stepLimitsMs?: Readonly<Record<string, number>>;
}): MailTransport {
  const { limitMs = MAIL_LIMIT_MS } = config;
  const url = new URL(config.smtpUrl);
  const stepLimitsMs = {
    dnsTimeout: 5_000,
    connectionTimeout: 5_000,
    greetingTimeout: 5_000,
    socketTimeout: 10_000,
    ...config.stepLimitsMs,
  };
  for (const [step, ms] of Object.entries(stepLimitsMs)) url.searchParams.set(step, ms.toString());
  const transport = nodemailer.createTransport(url.href, { from: config.from });
  return {
    send: async ({ to, subject, text, messageId }) => {
      await within(limitMs, transport.sendMail({ to, subject, text, messageId: `<${messageId}>` }));
    },
    close: () => transport.close(),
  };
}

/** Nobody waits longer: a mail that is taken after all may come twice, under one message id. */
async function within<T>(limitMs: number, sending: Promise<T>): Promise<T> {
  const limit = { timer: undefined as NodeJS.Timeout | undefined };
  const late = new Promise<never>((_resolve, reject) => {
    limit.timer = setTimeout(
      () => reject(new MailError(`the mail server did not take the mail within ${limitMs} ms`, true)),
      limitMs,
    );
  });
  try {
    return await Promise.race([sending, late]);
  } catch (error) {
    throw mailErrorOf(error);
  } finally {
    clearTimeout(limit.timer);
    sending.catch(() => undefined);
  }
}

/** What nodemailer tells of a failure (its own lib/errors). */
interface Told {
  readonly code?: string;
  readonly command?: string;
  readonly responseCode?: number;
}

/**
 * Only a lasting "no" (RFC 5321 4.2.1) to the recipient or the message is about the mail; one to the sender, the login or
 * the connection, and each "not now", meets them all.
 */
function mailErrorOf(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof MailError) return error;
  const { code, command, responseCode = 500 } = error as Told;
  if (code === undefined) return error;
  const isOfMail = ['EENVELOPE', 'EMESSAGE'].includes(code) && command !== 'MAIL FROM' && responseCode >= 500;
  return new MailError(error.message, !isOfMail, { cause: error });
}
