import type { SshKeyId, UserId } from '../../domain/ids.js';
import type { Database, Transaction } from './database.js';
import type { SshKeyRow } from './tables.js';

/** All keys of a user, oldest first. */
export async function listSshKeys(db: Database, userId: UserId): Promise<SshKeyRow[]> {
  return db('ssh_keys').where({ user_id: userId }).orderBy(['created_at', 'id']);
}

/** Keeps a key; undefined when the user has one with this fingerprint already. */
export async function insertSshKey(
  db: Database | Transaction,
  key: { id: SshKeyId; userId: UserId; name: string; publicKey: string; fingerprint: string },
): Promise<SshKeyRow | undefined> {
  const [row] = await db('ssh_keys')
    .insert({
      id: key.id,
      user_id: key.userId,
      name: key.name,
      public_key: key.publicKey,
      fingerprint: key.fingerprint,
    })
    .onConflict(['user_id', 'fingerprint'])
    .ignore()
    .returning('*');
  return row;
}

/** Removes a user's key; false when the user has no such key. Machines that run keep it. */
export async function deleteSshKey(
  db: Database | Transaction,
  userId: UserId,
  id: SshKeyId,
): Promise<boolean> {
  return (await db('ssh_keys').where({ user_id: userId, id }).delete()) > 0;
}
