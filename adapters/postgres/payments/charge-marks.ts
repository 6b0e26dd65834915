import type { UserId } from '../../../domain/ids.js';
import type { Database, Transaction } from '../database.js';
import type { ChargeMarkRow } from '../rows/tables.js';

/**
 * SQL that holds while a mark of a dispute or an early fraud warning stands against this user, or against this card,
 * whoever saved it (decision 79, "Charge marks"), or against a closed account of the same mailbox or card. An operator
 * lifts it.
 * @param userId and fingerprint: SQL expressions
 */
export function isMarked(userId: string, fingerprint: string): string {
  return `(exists (select 1 from charge_marks cm where cm.user_id = ${userId} and cm.lifted_at is null)
           or exists (select 1 from charge_marks cm where cm.fingerprint = ${fingerprint} and cm.lifted_at is null)
           or exists (select 1 from account_ties t join charge_marks cm on cm.fingerprint = t.value
                       where t.user_id = ${userId} and t.kind = 'card' and starts_with(t.value, 'hmac:')
                         and cm.lifted_at is null)
           or exists (select 1 from account_ties t join closed_marks k on k.value = t.value
                        join charge_marks cm on cm.user_id = k.user_id
                       where t.user_id = ${userId} and t.kind = 'mailbox' and cm.lifted_at is null))`;
}

/**
 * Tells whether a user may not be charged by this card while they are away.
 * @param pmId null: the one that they have saved
 */
export async function isHeld(
  db: Database | Transaction,
  userId: UserId,
  pmId: string | null = null,
): Promise<boolean> {
  const { rows } = await db.raw<{ rows: { held: boolean }[] }>(
    `select ${isMarked(
      'u.id',
      `(select c.fingerprint from saved_cards c
         where c.user_id = u.id and case when :pmId::text is null then c.removed_at is null else c.pm_id = :pmId end)`,
    )} as held from users u where u.id = :userId`,
    { userId, pmId },
  );
  return rows[0]?.held === true;
}

/**
 * Finds the mark that a dispute or an early fraud warning has left; undefined where it has left none.
 * @param id its own id
 */
export async function findMark(db: Database, id: string): Promise<ChargeMarkRow | undefined> {
  return db('charge_marks').where({ id }).first();
}

/**
 * Lists the marks that nobody has lifted, oldest first. With a user: those that hold the user, theirs, their card's, and
 * those of closed accounts that had the same mailbox or card.
 */
export async function listOpenMarks(db: Database, userId?: UserId): Promise<ChargeMarkRow[]> {
  const query = db('charge_marks').whereNull('lifted_at').orderBy('marked_at').orderBy('id').limit(1000);
  if (userId === undefined) return query;
  const cards = db('saved_cards').where({ user_id: userId }).whereNull('removed_at').select('fingerprint');
  const ties = db('account_ties').where({ user_id: userId });
  const closedCards = ties.clone().where({ kind: 'card' }).whereRaw(`starts_with(value, 'hmac:')`);
  const sameMailbox = db('closed_marks').whereIn(
    'value',
    ties.clone().where({ kind: 'mailbox' }).select('value'),
  );
  return query.andWhere((either) => {
    void either
      .where({ user_id: userId })
      .orWhereIn('fingerprint', cards)
      .orWhereIn('fingerprint', closedCards.select('value'))
      .orWhereIn('user_id', sameMailbox.select('user_id'));
  });
}
