import nodemailer from 'nodemailer';
import { PeerError } from '../peer-error.js';
import { within } from '../within.js';

export interface Attachment {
  readonly filename: string;
  readonly contentType: string;
  readonly content: Buffer;
}

export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  /** The same as a page, sent as `multipart/alternative`; null or left out for a mail that is text alone. */
  readonly html?: string | null;
  /** Switches such mails off by one POST (RFC 8058); null or left out for those that are always sent. */
  readonly unsubscribeUrl?: string | null;
  readonly attachments?: readonly Attachment[];
  /** Stable over retries, so that a receiver can drop a second copy. */
  readonly messageId: string;
}

export interface MailTransport {
  /**
   * Sends a mail. @throws MailError when the server did not take the mail; it may be sent again with the same messageId
   */
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

/** A server that answers each step, but never the last one, would hold up the outbox for ever. */
const MAIL_LIMIT_MS = 15_000;

/**
 * Connections are kept from mail to mail, since each new one costs a handshake and a login. There are twice as many as
 * mails on their way, so that none waits for one that hangs.
 */
const KEPT = { pool: true, maxConnections: 4, maxMessages: 100 } as const;

/**
 * Makes a transport that sends mails through an SMTP server, with limits on each step and on the whole of a mail
 * (decision 72, "Deadlines of waits").
 */
export function createSmtpTransport(config: {
  readonly smtpUrl: string;
  readonly from: string;
  /** For one mail, from the look-up of the server to its last answer; default: 15 seconds. */
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
  const transport = nodemailer.createTransport({ ...KEPT, url: url.href }, { from: config.from });
  return {
    send: async ({ to, subject, text, html, unsubscribeUrl, attachments = [], messageId }) => {
      const message = {
        to,
        subject,
        text,
        messageId: `<${messageId}>`,
        ...(typeof html === 'string' && { html }),
        ...(attachments.length > 0 && { attachments: [...attachments] }),
        ...(typeof unsubscribeUrl === 'string' && { headers: unsubscribeHeaders(unsubscribeUrl) }),
      };
      await taken(limitMs, (signal) => transport.sendMail({ ...message, signal }));
    },
    close: () => transport.close(),
  };
}

/** The headers by which a mail program offers to switch such mails off (RFC 2369 3.2, RFC 8058 3.1). */
function unsubscribeHeaders(url: string): Record<string, string> {
  return { 'List-Unsubscribe': `<${url}>`, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' };
}

/**
 * Ends the wait for a mail, and the connection that it hangs on. A mail that is taken after all may come twice, under one
 * message id.
 */
async function taken<T>(limitMs: number, send: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const given = new AbortController();
  try {
    return await within(limitMs, send(given.signal), () => {
      given.abort();
      return new MailError(`the mail server did not take the mail within ${limitMs} ms`, true);
    });
  } catch (error) {
    throw mailErrorOf(error);
  }
}

/** The fields of nodemailer's failures (its own lib/errors). */
interface Told {
  readonly code?: string;
  readonly command?: string;
  readonly responseCode?: number;
}

/**
 * Sorts a failure. Only a lasting "no" (RFC 5321 4.2.1) to the recipient or the message concerns the mail. One to the
 * sender, the login or the connection, and each "not now", concerns all mails.
 */
function mailErrorOf(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof MailError) return error;
  const { code, command, responseCode = 500 } = error as Told;
  if (code === undefined) return error;
  const isOfMail = ['EENVELOPE', 'EMESSAGE'].includes(code) && command !== 'MAIL FROM' && responseCode >= 500;
  return new MailError(error.message, !isOfMail, { cause: error });
}
