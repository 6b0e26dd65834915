import { accountLimits } from '../../../domain/accounts/limits.js';
import type { PasskeyId, UserId } from '../../../domain/ids.js';
import type { MadePasskey, ShownPasskey } from '../../identity/passkeys.js';
import type { Database, Transaction } from '../database.js';
import { recordEvent } from '../events/outbox.js';
import { lockBy } from '../locks.js';
import type { PasskeyRow } from '../rows/tables.js';

/** Lists all passkeys of a user, oldest first. */
export async function listPasskeys(db: Database | Transaction, userId: UserId): Promise<PasskeyRow[]> {
  return db('passkeys').where({ user_id: userId }).orderBy(['created_at', 'id']);
}

/**
 * Keeps a passkey, and tells it, unless somebody has it already, or the user has the most that one may have (decision
 * 178, "Sign-in by passkey").
 * @returns the row, or why there is none
 */
export async function insertPasskey(
  trx: Transaction,
  owner: { readonly id: PasskeyId; readonly userId: UserId; readonly name: string },
  made: MadePasskey,
): Promise<PasskeyRow | 'known' | 'too many'> {
  await lockBy(trx, 'passkeysOfUser', owner.userId);
  const has = await listPasskeys(trx, owner.userId);
  if (has.length >= accountLimits.maxPasskeys) return 'too many';
  const [row] = await trx('passkeys')
    .insert({
      id: owner.id,
      user_id: owner.userId,
      name: owner.name,
      credential_id: made.credentialId,
      public_key: made.publicKey,
      counter: made.counter,
      transports: [...made.transports],
      backup_eligible: made.backupEligible,
      backed_up: made.backedUp,
    })
    .onConflict('credential_id')
    .ignore()
    .returning('*');
  if (!row) return 'known';
  await recordEvent(trx, { type: 'passkey.added', userId: owner.userId, entityId: owner.id, data: {} });
  return row;
}

/** Names a user's passkey anew. @returns undefined when they have no such one */
export async function renamePasskey(
  db: Database,
  userId: UserId,
  id: PasskeyId,
  name: string,
): Promise<PasskeyRow | undefined> {
  const [row] = await db('passkeys').where({ user_id: userId, id }).update({ name }).returning('*');
  return row;
}

/** Removes a user's passkey, and tells it. Its sessions go on. @returns undefined when they have no such one */
export async function deletePasskey(
  trx: Transaction,
  userId: UserId,
  id: PasskeyId,
): Promise<PasskeyRow | undefined> {
  const [removed] = await trx('passkeys').where({ user_id: userId, id }).delete().returning('*');
  if (removed) await recordEvent(trx, { type: 'passkey.removed', userId, entityId: id, data: {} });
  return removed;
}

/** A passkey, and the address of its user. */
export type OwnedPasskey = PasskeyRow & { readonly email: string };

/**
 * Finds the passkey of a credential that may be used, and locks it, so that its counter goes on by one use after the
 * other.
 */
export async function lockPasskey(trx: Transaction, credentialId: Buffer): Promise<OwnedPasskey | undefined> {
  const { rows } = await trx.raw<{ rows: OwnedPasskey[] }>(
    `select p.*, u.email from passkeys p join users u on u.id = p.user_id
      where p.credential_id = :credentialId and p.suspended_at is null for update of p`,
    { credentialId },
  );
  return rows[0];
}

/** Notes that a passkey was used. */
export async function usePasskey(
  trx: Transaction,
  id: PasskeyId,
  { counter, backedUp }: ShownPasskey,
): Promise<void> {
  await trx('passkeys')
    .where({ id })
    .update({ counter, backed_up: backedUp, last_used_at: trx.raw('clock_ms()') });
}

/**
 * Lets all passkeys rest until their owners sign in by another way: their database was restored, and may have forgotten
 * that some were removed (decision 67, "Restored databases").
 */
export async function suspendPasskeys(trx: Transaction): Promise<void> {
  await trx('passkeys')
    .whereNull('suspended_at')
    .update({ suspended_at: trx.raw('clock_ms()') });
}

/** Lets a user's passkeys work again: somebody has just shown that they are this user. */
export async function wakePasskeys(trx: Transaction, userId: UserId): Promise<void> {
  await trx('passkeys')
    .where({ user_id: userId })
    .whereNotNull('suspended_at')
    .update({ suspended_at: null });
}
