import { causeOf, type NoticeCause } from '../../../domain/causes.js';
import type { Message } from '../../../domain/mails/message.js';
import type { Database, Transaction } from '../database.js';
import { mailOperators } from '../upkeep/outbox.js';
import type { OperatorNoticeRow } from '../rows/tables.js';

/** Something that a person has to look at, and that no alert of a figure tells. */
export interface OperatorNotice {
  /** The subject, unique: it is told once, however often it is noted. */
  readonly cause: NoticeCause;
  /** What happened, and where to look. */
  readonly message: Message;
}

/** One round tells this many; the rest wait for the next round. */
const TOLD_AT_ONCE = 50;

/** Notes it in the transaction that met it, so that it is told exactly when that transaction commits. */
export async function recordNotice(db: Database | Transaction, notice: OperatorNotice): Promise<void> {
  await db('operator_notices')
    .insert({
      cause: causeOf(notice.cause),
      subject: notice.message.subject,
      body: notice.message.text,
      html: notice.message.html,
    })
    .onConflict('cause')
    .ignore();
}

/**
 * Takes the notices that operators have not been told, and puts a mail for each into the outbox.
 * @param operatorEmail null: they are only returned, for the log
 */
export async function claimUntoldNotices(
  db: Database,
  operatorEmail: string | null,
): Promise<OperatorNoticeRow[]> {
  return db.transaction(async (trx) => {
    const { rows } = await trx.raw<{ rows: OperatorNoticeRow[] }>(
      `update operator_notices set told_at = clock_ms()
        where id in (select id from operator_notices where told_at is null order by id
                      for update skip locked limit :atOnce)
       returning *`,
      { atOnce: TOLD_AT_ONCE },
    );
    if (operatorEmail === null) return rows;
    for (const { id, subject, body, html } of rows) {
      const message = { subject, text: body, html };
      await mailOperators(trx, operatorEmail, { kind: 'operator_notice', noticeId: id }, message);
    }
    return rows;
  });
}

/** Lists the notices that operators got, or will get within a minute: the newest first. */
export async function listNotices(db: Database): Promise<OperatorNoticeRow[]> {
  return db('operator_notices').orderBy('id', 'desc').limit(200);
}
