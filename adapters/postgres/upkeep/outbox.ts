import { causeOf, type MailCause } from '../../../domain/causes.js';
import type { Database, Transaction } from '../database.js';

export interface Mail {
  /** What it is sent for, unique: a retry never mails twice (decision 36). */
  readonly cause: MailCause;
  readonly recipient: string;
  readonly subject: string;
  readonly body: string;
  /** True for a text that carries a code: it is wiped as soon as it is sent. */
  readonly wipeAfterSending: boolean;
}

/** Puts a mail into the outbox, unless one with its cause is there already. */
export async function insertMail(db: Database | Transaction, mail: Mail): Promise<void> {
  await db('mail_outbox')
    .insert({
      cause: causeOf(mail.cause),
      recipient: mail.recipient,
      subject: mail.subject,
      body: mail.body,
      wipe_after_sending: mail.wipeAfterSending,
    })
    .onConflict('cause')
    .ignore();
}
