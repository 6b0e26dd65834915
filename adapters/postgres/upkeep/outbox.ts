import { isClosedAddress } from '../../../domain/accounts/closing.js';
import { causeOf, type MailCause } from '../../../domain/causes.js';
import type { UserId } from '../../../domain/ids.js';
import type { Message } from '../../../domain/mails/message.js';
import type { Database, Transaction } from '../database.js';

/**
 * The cause of a mail to operators. It is not its reader's own, whoever has their address: the view kept_mails leaves it
 * out, which a test holds against this.
 */
export type OperatorMailCause = Extract<
  MailCause,
  { kind: 'operator_notice' } | { kind: 'reconcile' } | { kind: 'charges_held'; userId: null }
>;

interface Mail<Cause extends MailCause> {
  /** The cause of the mail, unique: a retry never mails twice (decision 36, "The mail outbox"). */
  readonly cause: Cause;
  readonly recipient: string;
  readonly message: Message;
  /** True for a text that carries a code: it is wiped as soon as it is sent. */
  readonly wipeAfterSending: boolean;
  /** Switches such mails off without signing in; left out for those that are always sent. */
  readonly unsubscribeUrl?: string | null;
}

type UserMailCause = Exclude<MailCause, OperatorMailCause>;

/** Puts a mail to a user into the outbox, unless one with its cause is there already. A closed account gets none. */
export async function insertMail(db: Database | Transaction, mail: Mail<UserMailCause>): Promise<void> {
  await insert(db, mail);
}

/** Puts a mail to operators into the outbox, unless one with its cause is there already. Its text carries no code. */
export async function mailOperators(
  db: Database | Transaction,
  recipient: string,
  cause: OperatorMailCause,
  message: Message,
): Promise<void> {
  await insert(db, { cause, recipient, message, wipeAfterSending: false });
}

async function insert(db: Database | Transaction, mail: Mail<MailCause>): Promise<void> {
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
  trx: Transaction,
  userId: UserId,
  cause: UserMailCause,
  message: Message,
): Promise<void> {
  const recipient = await addressOf(trx, userId);
  await insertMail(trx, { cause, recipient, message, wipeAfterSending: false });
}

/**
 * Reads a user's present address for a mail of the same transaction, and keeps the user's row until its end: whoever
 * erases the person waits, and finds the mail.
 */
export async function addressOf(trx: Transaction, userId: UserId): Promise<string> {
  const user = await trx('users').where({ id: userId }).forKeyShare().first('email');
  if (!user) throw new Error(`no user ${userId}`);
  return user.email;
}
