import { accountLimits } from '../../../domain/accounts/limits.js';
import { operationLimits } from '../../../domain/operations/limits.js';
import type { Database, Transaction } from '../database.js';
import { isNotWaiting } from './stuck-items.js';
import type { MailOutboxRow } from '../rows/tables.js';

export interface MailDelivery {
  send(mail: MailOutboxRow & { body: string }): Promise<void>;
  /**
   * Counts a failure.
   * @returns after how long the mail is tried again, in milliseconds
   */
  failed(mail: MailOutboxRow, error: unknown): Promise<number>;
  /** Called when a mail that had failed before was sent, or is given up. */
  recovered(mail: MailOutboxRow): Promise<void>;
  /** Called when a mail without a code is given up, once that is certain but for its commit. */
  gaveUp(mail: MailOutboxRow): void;
}

/** Which mails: those that carry a code, or also all others, after them. */
export type DueMails = 'codes' | 'all';

/**
 * Takes the next due mail, sends it and marks it. A mail with a code goes before all others: its reader waits at a
 * screen, and the limits of codes keep them few (decision 188, "Codes before bulk"). A code that is valid no longer is given
 * up: after an outage its reader has asked for another. So is any other mail that nobody took for long. It holds the mail's row, so that two senders never take the same
 * one. Each transaction sends one mail: it must not last longer than the mail server takes for one, and a failing mail keeps
 * no other back (decision 36, "The mail outbox", and decision 69, "Items that fail"). A failed mail is tried again
 * later, ever more rarely.
 * @returns how many were due, and how many of them were sent
 */
export async function deliverDueMails(
  db: Database,
  delivery: MailDelivery,
  which: DueMails = 'all',
): Promise<{ due: number; sent: number }> {
  return db.transaction(async (trx) => {
    const mail = (await takeCode(trx)) ?? (which === 'all' ? await takeOther(trx) : undefined);
    if (!mail) return { due: 0, sent: 0 };
    const recovered = (): Promise<void> => (mail.tries > 0 ? delivery.recovered(mail) : Promise.resolve());
    if (mail.hasLapsed === true) {
      await trx('mail_outbox').where({ id: mail.id }).delete();
      await recovered();
      if (!mail.wipe_after_sending) delivery.gaveUp(mail);
      return { due: 1, sent: 0 };
    }
    try {
      await delivery.send({ ...mail, body: mail.body ?? '' });
    } catch (error) {
      const waitMs = await delivery.failed(mail, error);
      await trx('mail_outbox')
        .where({ id: mail.id })
        .update({
          tries: mail.tries + 1,
          last_error: error instanceof Error ? error.message : String(error),
          next_try_at: trx.raw(`clock_ms() + ? * interval '1 millisecond'`, [waitMs]),
        });
      return { due: 1, sent: 0 };
    }
    // The database wipes the HTML part with the text.
    await trx('mail_outbox')
      .where({ id: mail.id })
      .update({ sent_at: trx.raw('clock_ms()'), ...(mail.wipe_after_sending ? { body: null } : {}) });
    await recovered();
    return { due: 1, sent: 1 };
  });
}

type DueMail = MailOutboxRow & { readonly hasLapsed?: boolean };

/** The newest code first: it is the one that its reader still waits for. */
function takeCode(trx: Transaction): Promise<DueMail | undefined> {
  return due(trx)
    .where({ wipe_after_sending: true })
    .orderBy('id', 'desc')
    .first<DueMail>('mail_outbox.*', hasLapsed(trx, accountLimits.codeValidMs));
}

function takeOther(trx: Transaction): Promise<DueMail | undefined> {
  return due(trx)
    .where({ wipe_after_sending: false })
    .orderBy(['next_try_at', 'id'])
    .first<DueMail>('mail_outbox.*', hasLapsed(trx, operationLimits.mailGivenUpMs));
}

function hasLapsed(trx: Transaction, afterMs: number) {
  return trx.raw(`created_at < clock_ms() - ? * interval '1 millisecond' as "hasLapsed"`, [afterMs]);
}

function due(trx: Transaction) {
  return trx('mail_outbox')
    .whereNull('sent_at')
    .whereNotNull('body')
    .whereRaw(isNotWaiting('mail', 'mail_outbox.id::text'))
    .forUpdate()
    .skipLocked();
}
