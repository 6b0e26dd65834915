import type { AddressInfo, Server } from 'node:net';
import { simpleParser, type ParsedMail } from 'mailparser';
import { SMTPServer, type SMTPServerDataStream, type SMTPServerSession } from 'smtp-server';
import { ulid } from 'ulid';
import { openMailStore, type Mail, type MailStore } from './store.js';
import { createMailWeb } from './web.js';

export interface MailInboxOptions {
  /** 0 takes a free port. */
  readonly smtpPort: number;
  /** The address that takes mails; default: loopback. The page is on loopback always. */
  readonly smtpHost?: string;
  /** 0 takes a free port. */
  readonly httpPort: number;
  /** The folder that keeps the mails; null keeps them in memory. */
  readonly dataDir: string | null;
}

export interface MailInbox {
  /** smtp://host:port, for SMTP_URL. */
  readonly smtpUrl: string;
  /** The inbox's page and JSON. */
  readonly url: string;
  close(): Promise<void>;
}

const maxMailBytes = 1024 * 1024;
const maxRecipients = 50;

/**
 * Starts a mail server on loopback that takes every mail and delivers none: it shows them on a small page and as JSON
 * (web.ts). It keeps the last 1,000. It acknowledges a mail once it has kept it.
 * @throws Error (code EADDRINUSE) when a port is taken
 */
export async function startMailInbox(options: MailInboxOptions): Promise<MailInbox> {
  const store = await openMailStore(options.dataDir);
  const smtp = createSmtp(store);
  const web = createMailWeb(store);
  const smtpHost = options.smtpHost ?? '127.0.0.1';
  await listen(smtp.server, options.smtpPort, smtpHost);
  try {
    await listen(web, options.httpPort, '127.0.0.1');
  } catch (error) {
    await new Promise<void>((resolve) => smtp.close(resolve));
    throw error;
  }
  // Errors of one connection (a client that hangs up) must not end the process.
  smtp.on('error', (error) => process.stderr.write(`mail inbox: ${error.message}\n`));
  return {
    smtpUrl: `smtp://${smtpHost}:${portOf(smtp.server)}`,
    url: `http://127.0.0.1:${portOf(web)}`,
    async close() {
      await Promise.all([
        new Promise<void>((resolve) => smtp.close(resolve)),
        new Promise<void>((resolve) => {
          web.close(() => resolve());
          web.closeAllConnections();
        }),
      ]);
    },
  };
}

function createSmtp(store: MailStore): SMTPServer {
  return new SMTPServer({
    banner: 'GPU rental lab inbox',
    authOptional: true,
    disabledCommands: ['AUTH', 'STARTTLS'],
    disableReverseLookup: true,
    size: maxMailBytes,
    closeTimeout: 1000,
    onRcptTo(_address, session, callback) {
      const full = session.envelope.rcptTo.length >= maxRecipients;
      callback(full ? smtpError(452, `At most ${maxRecipients} recipients.`) : null);
    },
    onData(stream, session, callback) {
      receive(store, stream, session).then(
        () => callback(null),
        (error: unknown) => callback(error instanceof Error ? error : new Error(String(error))),
      );
    },
  });
}

async function receive(
  store: MailStore,
  stream: SMTPServerDataStream,
  session: SMTPServerSession,
): Promise<void> {
  const parsed = await simpleParser(stream);
  if (stream.sizeExceeded) throw smtpError(552, `A mail may have at most ${maxMailBytes} bytes.`);
  await store.add(toMail(parsed, session));
}

function toMail(parsed: ParsedMail, session: SMTPServerSession): Mail {
  const { mailFrom, rcptTo } = session.envelope;
  return {
    id: ulid(),
    receivedAt: new Date().toISOString(),
    from: parsed.from?.text ?? (mailFrom === false ? '' : mailFrom.address),
    to: rcptTo.map(({ address }) => address.toLowerCase()),
    subject: parsed.subject ?? '',
    text: parsed.text ?? '',
    html: parsed.html === false ? null : parsed.html,
    listUnsubscribe: headerOf(parsed, 'list-unsubscribe'),
    listUnsubscribePost: headerOf(parsed, 'list-unsubscribe-post'),
    attachments: parsed.attachments.map(({ filename, size }) => ({
      filename: filename ?? '(no name)',
      sizeBytes: size,
    })),
  };
}

/** A header as it was sent, unfolded. */
function headerOf({ headerLines }: ParsedMail, name: string): string | null {
  const line = headerLines.find(({ key }) => key === name)?.line;
  return line === undefined
    ? null
    : line
        .slice(name.length + 1)
        .replaceAll(/\r?\n/g, '')
        .trim();
}

function smtpError(responseCode: number, message: string): Error {
  return Object.assign(new Error(message), { responseCode });
}

async function listen(server: Server, port: number, host: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}
