import * as declared from '../../../api/accounts/describe-ssh-keys.js';
import type { SshKeyRow } from '../../../adapters/postgres/rows/tables.js';
import { newId } from '../../../adapters/ids.js';
import { refuseWhenNotFresh } from '../../../api/accounts/fresh-proof.js';
import { refuseUnlessMadeBy } from '../../../api/api-keys/setup.js';
import { keyIdOf, type ApiContext, type ApiRouter } from '../../../api/context.js';
import { generateKeyPair, parsePublicKey } from '../../../api/accounts/public-keys.js';
import { presentKey, tooManyKeys } from '../../../api/accounts/ssh-keys.js';
import { readBody } from '../../../api/http/validation.js';
import { accountLimits } from '../../../domain/accounts/limits.js';
import type { Account } from '../account.js';
import { refusalByCode } from '../refuse.js';
import { serveMock, type MockHandler } from '../serve.js';
import { note } from '../signed-in.js';
import type { World } from '../world.js';

/** SSH keys, checked and generated as the service does (decision 14, "SSH keys"). */
export function sshKeyRoutes(router: ApiRouter, world: World): void {
  serveMock(router, world, declared.listSshKeys, (_ctx, { sshKeys }) => ({
    sshKeys: sshKeys.map(presentKey),
  }));
  serveMock(router, world, declared.addSshKey, addKey(world));
  serveMock(router, world, declared.removeSshKey, (ctx, account) => {
    const id = ctx.params['id'] ?? '';
    const removed = account.sshKeys.find((row) => row.id === id);
    if (!removed) throw refusalByCode('key_not_found');
    refuseUnlessMadeBy(ctx, removed);
    removeKey(world, ctx, account, removed);
    return { ok: true };
  });
}

/** Removes a key, and tells it. */
export function removeKey(world: World, ctx: ApiContext, account: Account, removed: SshKeyRow): void {
  const { id, fingerprint } = removed;
  account.sshKeys = account.sshKeys.filter((row) => row !== removed);
  note(world, ctx, account, 'ssh_key_removed', id);
  world.events.tell(account.user.id, 'ssh_key.removed', id, { fingerprint });
}

function addKey(world: World): MockHandler<typeof declared.addSshKey> {
  return (ctx, account) => {
    const { name, publicKey } = readBody(ctx, declared.keySchema);
    refuseWhenNotFresh(ctx);
    const key = publicKey === undefined ? generateKeyPair() : parsePublicKey(publicKey);
    const { fingerprint } = key;
    if (account.sshKeys.some((row) => row.fingerprint === fingerprint)) {
      throw refusalByCode('duplicate_key', { fingerprint });
    }
    if (account.sshKeys.length >= accountLimits.maxSshKeys) throw tooManyKeys();
    const row: SshKeyRow = {
      id: newId('key'),
      user_id: account.user.id,
      name,
      public_key: key.line,
      fingerprint,
      api_key_id: keyIdOf(ctx) ?? null,
      created_at: world.now(),
    };
    account.sshKeys.push(row);
    note(world, ctx, account, 'ssh_key_added', row.id);
    world.events.tell(account.user.id, 'ssh_key.added', row.id, { fingerprint });
    return { ...presentKey(row), ...('privateKey' in key && { privateKey: key.privateKey }) };
  };
}
