import * as declared from './describe-ssh-keys.js';
import { serve, type Handler } from '../http/serve.js';
import { insertAuditEvent } from '../../adapters/postgres/accounts/audit-events.js';
import { noteForUser } from '../../adapters/postgres/notices/user-notices.js';
import { deleteSshKey, insertSshKey, listSshKeys } from '../../adapters/postgres/accounts/ssh-keys.js';
import type { SshKeyRow } from '../../adapters/postgres/rows/tables.js';
import { newId } from '../../adapters/ids.js';
import type { Transaction } from '../../adapters/postgres/database.js';
import { isId, type SshKeyId, type UserId } from '../../domain/ids.js';
import { accountLimits } from '../../domain/accounts/limits.js';
import { Refusal } from '../../domain/refusal.js';
import { auditEvent } from './audit-event.js';
import { refuseWhenNotFresh } from './fresh-proof.js';
import { noteSetup, refuseUnlessMadeBy, settingUp } from '../api-keys/setup.js';
import { callerOf, keyIdOf, type ApiContext, type ApiDeps, type ApiRouter } from '../context.js';
import { generateKeyPair, parsePublicKey } from './public-keys.js';
import { readBody } from '../http/validation.js';

/** The keys with which users enter their machines (decision 14, "SSH keys"). */
export function sshKeyRoutes(router: ApiRouter, deps: ApiDeps): void {
  serve(router, deps, declared.listSshKeys, listKeys(deps));
  serve(router, deps, declared.addSshKey, addKey(deps));
  serve(router, deps, declared.removeSshKey, removeKey(deps));
}

function listKeys(deps: ApiDeps): Handler<typeof declared.listSshKeys> {
  return async (ctx) => {
    const rows = await listSshKeys(deps.db, callerOf(ctx).userId);
    return { sshKeys: rows.map(presentKey) };
  };
}

function addKey(deps: ApiDeps): Handler<typeof declared.addSshKey> {
  return async (ctx) => {
    const { name, publicKey: given } = readBody(ctx, declared.keySchema);
    // It enters every machine that is rented from now on.
    refuseWhenNotFresh(ctx);
    const key = given === undefined ? generateKeyPair() : parsePublicKey(given);
    const { userId } = callerOf(ctx);
    const apiKeyId = keyIdOf(ctx);
    const { line: publicKey, fingerprint } = key;
    const row = await settingUp(ctx, deps.db, async (trx) => {
      const added = await insertSshKey(trx, {
        ...{ id: newId('key'), userId, name, publicKey, fingerprint, apiKeyId },
      });
      if (typeof added === 'object') {
        await insertAuditEvent(trx, auditEvent(ctx, { userId, kind: 'ssh_key_added', entityId: added.id }));
        if (apiKeyId === undefined) await noteAdded(trx, added);
        await noteSetup(trx, ctx, 'ssh_key_added', name);
      }
      return added;
    });
    if (row === 'known') throw new Refusal('duplicate_key', 'You already have this key.', { fingerprint });
    if (row === 'too many') throw tooManyKeys();
    return { ...presentKey(row), ...('privateKey' in key && { privateKey: key.privateKey }) };
  };
}

function noteAdded(
  trx: Transaction,
  { id: keyId, user_id: userId, name, fingerprint }: SshKeyRow,
): Promise<void> {
  const cause = { kind: 'ssh_key_added', keyId } as const;
  return noteForUser(trx, { userId, kind: 'ssh_key_added', cause, facts: { keyId, name, fingerprint } });
}

function removeKey(deps: ApiDeps): Handler<typeof declared.removeSshKey> {
  return async (ctx) => {
    const id = ctx.params['id'] ?? '';
    const { userId } = callerOf(ctx);
    const removed =
      isId('key', id) &&
      (await settingUp(ctx, deps.db, async (trx) => {
        const row = await removingKey(trx, ctx, userId, id);
        if (!row) return false;
        refuseUnlessMadeBy(ctx, row);
        await noteSetup(trx, ctx, 'ssh_key_removed', row.name);
        return true;
      }));
    if (!removed) throw new Refusal('key_not_found', 'You have no such key: GET /v1/ssh-keys lists yours.');
    return { ok: true };
  };
}

/** Removes a key, and tells it. @returns undefined when the user has no such key */
export async function removingKey(
  trx: Transaction,
  ctx: ApiContext,
  userId: UserId,
  id: SshKeyId,
): Promise<SshKeyRow | undefined> {
  const row = await deleteSshKey(trx, userId, id);
  if (row) await insertAuditEvent(trx, auditEvent(ctx, { userId, kind: 'ssh_key_removed', entityId: id }));
  return row;
}

/** The refusal of a key beyond the number that a user may have (decision 14, "SSH keys"). */
export function tooManyKeys(): Refusal {
  const { maxSshKeys: maxKeys } = accountLimits;
  return new Refusal(
    'too_many_keys',
    `You have ${maxKeys} keys, the most you can have. Remove one that you no longer use: DELETE /v1/ssh-keys/:id.`,
    { maxKeys },
  );
}

/** A key on read. */
export function presentKey(row: SshKeyRow) {
  return {
    id: row.id,
    name: row.name,
    fingerprint: row.fingerprint,
    publicKey: row.public_key,
    byKey: row.api_key_id !== null,
    createdAt: row.created_at.toISOString(),
  };
}
