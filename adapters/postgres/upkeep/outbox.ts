import { isClosedAddress } from '../../../domain/accounts/closing.js';
import { causeOf, type MailCause } from '../../../domain/causes.js';
import type { UserId } from '../../../domain/ids.js';
import type { Message } from '../../../domain/mails/message.js';
import type { Database, Transaction } from '../database.js';

export interface Mail {
  /** The cause of the mail, unique: a retry never mails twice (decision 36, "The mail outbox"). */
  readonly cause: MailCause;
  readonly recipient: string;
  readonly message: Message;
  /** True for a text that carries a code: it is wiped as soon as it is sent. */
  readonly wipeAfterSending: boolean;
  /** Switches such mails off without signing in; left out for those that are always sent. */
  readonly unsubscribeUrl?: string | null;
}

/** Puts a mail into the outbox, unless one with its cause is there already. A closed account gets none. */
export async function insertMail(db: Database | Transaction, mail: Mail): Promise<void> {
  if (isClosedAddress(mail.recipient)) return;
  await db('mail_outbox')
    .insert({
      cause: causeOf(mail.cause),
      recipient: mail.recipient,
      subject: mail.message.subject,
      body: mail.message.text,
      html: mail.message.html,
      unsubscribe_url: mail.unsubscribeUrl ?? null,
      wipe_after_sending: mail.wipeAfterSending,
    })
    .onConflict('cause')
    .ignore();
}

/** Puts a mail to a user's present address into the outbox. Its text carries no code, and stays. */
export async function mailUser(
  db: Database | Transaction,
  userId: UserId,
  cause: MailCause,
  message: Message,
): Promise<void> {
  const recipient = await addressOf(db, userId);
  await insertMail(db, { cause, recipient, message, wipeAfterSending: false });
}

/**
 * Reads a user's present address for a mail of the same transaction, and keeps the user's row until its end: whoever
 * erases the person waits, and finds the mail.
 */
export async function addressOf(db: Database | Transaction, userId: UserId): Promise<string> {
  const user = await db('users').where({ id: userId }).forKeyShare().first('email');
  if (!user) throw new Error(`no user ${userId}`);
  return user.email;
}
