import { markOfCard, markOfMailbox } from '../../closed-marks.js';
import type { UserId } from '../../../domain/ids.js';
import type { Database, Transaction } from '../database.js';

/**
 * Lets what stood against a closed account go on in a new one of the same mailbox (decision 180, "What closing erases").
 * @param email in lower case
 * @param installationKey in base64; empty: no closed account has left anything
 */
export async function carryMailboxMarks(
  trx: Transaction,
  userId: UserId,
  email: string,
  installationKey: string,
): Promise<void> {
  if (installationKey === '') return;
  await trx.raw('select carry_marks(:userId, :mark)', {
    userId,
    mark: markOfMailbox(installationKey, email),
  });
}

/**
 * Lets what stood against the cards of closed accounts go on in an account that has one of these cards: the mark against
 * automatic charges, and the one bound for machines that nobody is billed for. It may be called again.
 * @param installationKey as above
 */
export async function carryCardMarks(
  db: Database | Transaction,
  userId: UserId,
  installationKey: string | undefined,
): Promise<void> {
  if (!installationKey) return;
  const ties = await db('account_ties')
    .where({ user_id: userId, kind: 'card' })
    .whereNot('value', 'like', 'hmac:%')
    .select('value');
  for (const { value: fingerprint } of ties) {
    const mark = markOfCard(installationKey, fingerprint);
    await db.raw(
      `with tied as (
         insert into account_ties (user_id, kind, value)
         select :userId, 'card', :mark
          where exists (select 1 from account_ties where kind = 'card' and value = :mark)
         on conflict do nothing
       )
       insert into charge_marks (id, kind, charge_id, user_id, fingerprint, marked_at)
       select m.id || ':' || :userId, m.kind, m.charge_id, :userId, :fingerprint, m.marked_at
         from charge_marks m where m.fingerprint = :mark and m.lifted_at is null
       on conflict do nothing`,
      { userId, mark, fingerprint },
    );
  }
}
