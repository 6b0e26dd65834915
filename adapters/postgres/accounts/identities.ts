import type { UserId } from '../../../domain/ids.js';
import type { Database, Transaction } from '../database.js';
import type { Identity } from './login-codes.js';
import type { IdentityRow, UserRow } from '../rows/tables.js';

/**
 * Finds the user whom an account at an identity provider signs in, whatever the account's address is by now (decision
 * 85, "Linked accounts"). They are not erased until the transaction ends.
 */
export async function findUserOfIdentity(
  trx: Transaction,
  { issuer, subject }: Identity,
): Promise<UserRow | undefined> {
  return trx('users as u')
    .join('identities as i', 'i.user_id', 'u.id')
    .where({ 'i.issuer': issuer, 'i.subject': subject })
    .forKeyShare('u')
    .first<UserRow | undefined>('u.*');
}

/**
 * Links an account at an identity provider to a user. A user has one account per issuer. The new one replaces the one
 * before, because whoever has confirmed the new one owns the mailbox now. An account that is linked to another user
 * stays theirs.
 */
export async function linkIdentity(
  trx: Transaction,
  userId: UserId,
  { issuer, subject }: Identity,
): Promise<void> {
  await trx.raw(
    `insert into identities (issuer, subject, user_id)
     select :issuer, :subject, :userId
      where not exists (select 1 from identities where issuer = :issuer and subject = :subject)
     on conflict (user_id, issuer) do update set subject = excluded.subject, linked_at = clock_ms()`,
    { issuer, subject, userId },
  );
}

/** Lists the accounts at identity providers that sign a user in. */
export async function listIdentities(
  db: Database,
  userId: UserId,
): Promise<Pick<IdentityRow, 'issuer' | 'subject' | 'linked_at'>[]> {
  return db('identities')
    .where({ user_id: userId })
    .orderBy('issuer')
    .select('issuer', 'subject', 'linked_at');
}
