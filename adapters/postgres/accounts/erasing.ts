import { mailboxOf } from '../../../domain/accounts/mailbox.js';
import { erasures, type Erasure } from '../../../domain/accounts/erasure.js';
import type { UserId } from '../../../domain/ids.js';
import { markOfCard, markOfMailbox } from '../../closed-marks.js';
import type { Database, Transaction } from '../database.js';

/** Marks of this account that must outlive it, so that a key is needed. */
export async function leavesMarks(db: Database | Transaction, userId: UserId): Promise<boolean> {
  const { rows } = await db.raw<{ rows: unknown[] }>(
    `select 1 from users u
      where u.id = :userId
        and (u.blocked_at is not null
             or exists (select 1 from charge_marks m where m.user_id = u.id and m.lifted_at is null))`,
    { userId },
  );
  return rows.length > 0;
}

/**
 * Erases the person of an account that is being closed, in one transaction (decision 180, "What closing erases"). What
 * must be recognized later becomes a number that nobody can read. It may run again: a late event brings words back.
 * @param installationKey in base64; empty: cards are forgotten
 * @throws Error when the account leaves marks and there is no key
 */
export async function eraseAccount(db: Database, userId: UserId, installationKey: string): Promise<void> {
  await db.transaction((trx) => eraseWithin(trx, userId, installationKey));
}

/** The same within a transaction. */
export async function eraseWithin(trx: Transaction, userId: UserId, installationKey: string): Promise<void> {
  const user = await trx('users').where({ id: userId }).forUpdate().first();
  if (!user) throw new Error(`no user ${userId}`);
  await trx.raw(`select set_config('gpu_rental.erasing', 'on', true)`);
  await keepMarks(trx, user, installationKey);
  await trx.raw('select erase_notes(?)', [userId]);
  const person = {
    userId,
    email: user.email,
    mailbox: mailboxOf(user.email),
    customerId: user.processor_customer_id,
  };
  for (const erasure of erasures) await trx.raw(statementOf(erasure), person);
  await trx('account_closings')
    .where({ user_id: userId })
    .update({ erased_at: trx.raw('coalesce(erased_at, clock_ms())') });
}

/** Writes the statement of one erasure; its values are those that `whose` may name. */
export function statementOf({ table, whose, becomes }: Erasure): string {
  if (becomes === undefined) return `delete from ${table} t where ${whose}`;
  const columns = Object.entries(becomes).map(([column, value]) => `${column} = ${value}`);
  return `update ${table} t set ${columns.join(', ')} where ${whose}`;
}

type Person = { readonly id: UserId; readonly email: string };

/** Keeps a block, the marks against automatic charges, and which cards paid. */
async function keepMarks(
  trx: Transaction,
  { id: userId, email }: Person,
  installationKey: string,
): Promise<void> {
  const isMarked = await leavesMarks(trx, userId);
  if (isMarked && !(await trx('closed_mailboxes').where({ user_id: userId }).first('user_id'))) {
    await trx.raw(
      `insert into closed_mailboxes (hmac, user_id, blocked, charges_held)
       select :hmac, u.id, u.blocked_at is not null,
              exists (select 1 from charge_marks m where m.user_id = u.id and m.lifted_at is null)
         from users u where u.id = :userId
       on conflict do nothing`,
      { hmac: markOfMailbox(installationKey, email), userId },
    );
  }
  if (installationKey === '') {
    await trx('account_ties').where({ user_id: userId, kind: 'card' }).delete();
    return;
  }
  await hashCards(trx, userId, installationKey);
}

async function hashCards(trx: Transaction, userId: UserId, installationKey: string): Promise<void> {
  const ties = await trx('account_ties')
    .where({ user_id: userId, kind: 'card' })
    .whereNot('value', 'like', 'hmac:%')
    .select('value');
  for (const { value } of ties)
    await trx('account_ties')
      .where({ user_id: userId, kind: 'card', value })
      .update({ value: markOfCard(installationKey, value) });
  const marks = await trx('charge_marks')
    .where({ user_id: userId })
    .whereNotNull('fingerprint')
    .whereNot('fingerprint', 'like', 'hmac:%')
    .select('id', 'fingerprint');
  for (const { id, fingerprint } of marks)
    await trx('charge_marks')
      .where({ id })
      .update({ fingerprint: markOfCard(installationKey, fingerprint ?? '') });
}
