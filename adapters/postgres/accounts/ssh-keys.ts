import type { ApiKeyId, SshKeyId, UserId } from '../../../domain/ids.js';
import type { RentalRequest } from '../../../domain/rentals/request.js';
import { accountLimits } from '../../../domain/accounts/limits.js';
import type { Database, Transaction } from '../database.js';
import { recordEvent } from '../events/outbox.js';
import { lockBy } from '../locks.js';
import type { SshKeyRow } from '../rows/tables.js';

/** Lists all keys of a user, oldest first. */
export async function listSshKeys(db: Database | Transaction, userId: UserId): Promise<SshKeyRow[]> {
  return db('ssh_keys').where({ user_id: userId }).orderBy(['created_at', 'id']);
}

/** Returns the public keys that are named, of one user; a deleted key is left out. */
async function listPublicKeys(
  db: Database | Transaction,
  userId: UserId,
  ids: readonly SshKeyId[],
): Promise<string[]> {
  const rows = await db('ssh_keys').where({ user_id: userId }).whereIn('id', ids).select('public_key');
  return rows.map((row) => row.public_key);
}

/** Returns the public keys that enter a rental's machine: the stored ones that it names, and its own, each once. */
export async function listKeysOf(
  db: Database | Transaction,
  { userId, sshKeyIds }: Pick<RentalRequest, 'userId' | 'sshKeyIds'>,
  own: readonly string[] = [],
): Promise<string[]> {
  return [...new Set([...(await listPublicKeys(db, userId, sshKeyIds)), ...own])];
}

/**
 * Keeps a key, and tells it, unless the user already has one with this fingerprint, or has the most that a user may have (decision
 * 14, "SSH keys").
 * @returns the row, or why there is none
 */
export async function insertSshKey(
  trx: Transaction,
  key: {
    id: SshKeyId;
    userId: UserId;
    name: string;
    publicKey: string;
    fingerprint: string;
    apiKeyId?: ApiKeyId | undefined;
  },
): Promise<SshKeyRow | 'known' | 'too many'> {
  await lockBy(trx, 'sshKeysOfUser', key.userId);
  const has = await listSshKeys(trx, key.userId);
  if (has.some(({ fingerprint }) => fingerprint === key.fingerprint)) return 'known';
  if (has.length >= accountLimits.maxSshKeys) return 'too many';
  const [row] = await trx('ssh_keys')
    .insert({
      id: key.id,
      user_id: key.userId,
      name: key.name,
      public_key: key.publicKey,
      fingerprint: key.fingerprint,
      api_key_id: key.apiKeyId ?? null,
    })
    .returning('*');
  if (!row) throw new Error('the key was not kept');
  const { fingerprint } = row;
  await recordEvent(trx, {
    type: 'ssh_key.added',
    userId: key.userId,
    entityId: key.id,
    data: { fingerprint },
  });
  return row;
}

/** Removes a user's key, and tells it. Running machines keep it. Returns undefined when the user has no such key. */
export async function deleteSshKey(
  trx: Transaction,
  userId: UserId,
  id: SshKeyId,
): Promise<SshKeyRow | undefined> {
  const [removed] = await trx('ssh_keys').where({ user_id: userId, id }).delete().returning('*');
  if (!removed) return undefined;
  const { fingerprint } = removed;
  await recordEvent(trx, { type: 'ssh_key.removed', userId, entityId: id, data: { fingerprint } });
  return removed;
}
