import type { Database } from './database.js';
import type { MailOutboxRow } from './tables.js';

/**
 * Takes the next mail that is due, sends and marks it, holding its row so that two senders never take the same one:
 * one in a transaction, which must not last longer than one mail server takes. One that fails is tried again later,
 * ever more rarely, for a day.
 * @returns how many were due, and how many of them were sent
 */
export async function deliverDueMails(
  db: Database,
  send: (mail: MailOutboxRow & { body: string }) => Promise<void>,
): Promise<{ due: number; sent: number }> {
  return db.transaction(async (trx) => {
    const due = await trx('mail_outbox')
      .whereNull('sent_at')
      .whereNotNull('body')
      .where('next_try_at', '<=', trx.raw('clock_ms()'))
      .where('tries', '<', 30)
      .orderBy('id')
      .limit(1)
      .forUpdate()
      .skipLocked();
    let sent = 0;
    for (const mail of due) {
      try {
        await send({ ...mail, body: mail.body ?? '' });
        await trx('mail_outbox')
          .where({ id: mail.id })
          .update({ sent_at: trx.raw('clock_ms()'), ...(mail.wipe_after_sending ? { body: null } : {}) });
        sent += 1;
      } catch (error) {
        await trx('mail_outbox')
          .where({ id: mail.id })
          .update({
            tries: mail.tries + 1,
            last_error: error instanceof Error ? error.message : String(error),
            next_try_at: trx.raw(`clock_ms() + least(3600, 2 ^ ?) * interval '1 second'`, [mail.tries]),
          });
      }
    }
    return { due: due.length, sent };
  });
}
