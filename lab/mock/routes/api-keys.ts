import { createHash, randomInt } from 'node:crypto';
import type { ApiKeyRow } from '../../../adapters/postgres/rows/tables.js';
import { newId } from '../../../adapters/ids.js';
import { refuseWhenNotFresh } from '../../../api/accounts/fresh-proof.js';
import * as declared from '../../../api/api-keys/describe.js';
import { presentApiKey } from '../../../api/api-keys/present.js';
import { changedFields } from '../../../api/http/changed-fields.js';
import {
  apiKeyChangeSchema,
  apiKeySchema,
  apiKeysQuery,
  isRaised,
  noSuchApiKey,
  refuseExpiry,
  revokeQuery,
  tooManyApiKeys,
  type ApiKeyRequest,
} from '../../../api/api-keys/request.js';
import type { ApiContext, ApiRouter } from '../../../api/context.js';
import { isIdKey, pageOf, readCursor } from '../../../api/http/cursor.js';
import { readBody, readQuery } from '../../../api/http/validation.js';
import { widens } from '../../../domain/accounts/address-ranges.js';
import { writeApiKey } from '../../../domain/accounts/api-keys.js';
import { accountLimits } from '../../../domain/accounts/limits.js';
import type { ApiKeyId } from '../../../domain/ids.js';
import { refuseWhenClosing, type Account } from '../account.js';
import { stopRental } from '../rentals.js';
import { serveMock, type MockHandler } from '../serve.js';
import { note } from '../signed-in.js';
import { countKey, setCap } from '../spending.js';
import type { World } from '../world.js';
import { removeKey } from './ssh-keys.js';
import { removeHook } from './webhooks.js';

/** API keys: they work as the service's do (decision 108, "API keys"), but for a database that is restored. */
export function apiKeyRoutes(router: ApiRouter, world: World): void {
  serveMock(router, world, declared.listApiKeys, (ctx, account) => {
    const { cursor, pageSize } = readQuery(ctx, apiKeysQuery);
    const [before] = readCursor(cursor, isIdKey('key')) ?? [];
    const rows = account.apiKeys
      .map(({ row }) => countKey(account, row))
      .filter(({ id }) => before === undefined || id < before);
    const { page, nextCursor } = pageOf(rows.toReversed(), pageSize, (row) => [row.id]);
    return { apiKeys: page.map(presentApiKey), nextCursor };
  });
  serveMock(router, world, declared.createApiKey, add(world));
  serveMock(router, world, declared.showApiKey, (ctx, account) => presentApiKey(keyIn(ctx, account)));
  serveMock(router, world, declared.changeApiKey, change(world));
  serveMock(router, world, declared.revokeApiKey, revoke(world));
}

function add(world: World): MockHandler<typeof declared.createApiKey> {
  return (ctx, account) => {
    const asked = readBody(ctx, apiKeySchema);
    refuseWhenNotFresh(ctx);
    const now = world.now();
    refuseExpiry(asked.expiresAt, now);
    refuseWhenClosing(account);
    const live = account.apiKeys.filter(({ row }) => row.ended_at > now);
    if (live.length >= accountLimits.maxApiKeys) throw tooManyApiKeys();
    const token = writeApiKey(() => randomInt(62));
    const row = rowOf(account, asked, token, now);
    account.apiKeys.push({ token, row });
    note(world, ctx, account, 'api_key_created', row.id, { scopes: row.scopes });
    world.events.tell(account.user.id, 'api_key.created', row.id, {});
    return { ...presentApiKey(row), key: token };
  };
}

function rowOf(account: Account, asked: ApiKeyRequest, token: string, now: Date): ApiKeyRow {
  const expiresAt = asked.expiresAt ?? new Date(now.getTime() + accountLimits.apiKeyMs);
  return {
    id: newId('key'),
    user_id: account.user.id,
    name: asked.name,
    token_hash: createHash('sha256').update(token).digest(),
    hint: token.slice(-4),
    scopes: [...asked.scopes],
    ends: asked.ends ?? 'all',
    allowed_cidrs: asked.allowedCidrs ? [...asked.allowedCidrs] : null,
    expires_at: expiresAt,
    spend_cap_cents: asked.spendCapCents ?? null,
    spent_cents: 0,
    reserved_cents: 0,
    created_at: now,
    last_used_at: null,
    last_used_address: null,
    revoked_at: null,
    suspended_at: null,
    ended_at: expiresAt,
  };
}

function change(world: World): MockHandler<typeof declared.changeApiKey> {
  return (ctx, account) => {
    const asked = readBody(ctx, apiKeyChangeSchema);
    const { name, allowedCidrs, spendCapCents: cap } = asked;
    const row = keyIn(ctx, account);
    if (row.revoked_at) throw noSuchApiKey();
    const before = presentApiKey(row);
    if (allowedCidrs !== undefined && widens(row.allowed_cidrs, allowedCidrs)) refuseWhenNotFresh(ctx);
    if (cap !== undefined) {
      if (isRaised(row.spend_cap_cents, cap)) refuseWhenNotFresh(ctx);
      setCap(account, row, cap);
    }
    if (name !== undefined) row.name = name;
    if (allowedCidrs !== undefined) row.allowed_cidrs = allowedCidrs && [...allowedCidrs];
    const changed = changedFields(Object.keys(asked), before, presentApiKey(row));
    if (changed.length > 0) {
      note(world, ctx, account, 'api_key_changed', null, { keyId: row.id, changed });
      world.events.tell(account.user.id, 'api_key.changed', row.id, { changed });
    }
    return presentApiKey(row);
  };
}

function revoke(world: World): MockHandler<typeof declared.revokeApiKey> {
  return (ctx, account) => {
    const { stopMachines, removeMade } = readQuery(ctx, revokeQuery);
    const row = keyIn(ctx, account);
    const isRevokedNow = revokeKey(world, account, row);
    if (stopMachines) stopMachinesOf(world, ctx, account, row.id);
    if (removeMade) removeMadeBy(world, ctx, account, row.id);
    if (isRevokedNow) note(world, ctx, account, 'api_key_revoked', row.id);
    return { ok: true };
  };
}

function stopMachinesOf(world: World, ctx: ApiContext, account: Account, id: ApiKeyId): void {
  for (const { row } of account.rentals) {
    if (row.api_key_id !== id || row.settled_at !== null) continue;
    stopRental(world, account, row);
    note(world, ctx, account, 'rental_stopped', row.id);
  }
}

function removeMadeBy(world: World, ctx: ApiContext, account: Account, id: ApiKeyId): void {
  for (const { row } of account.webhooks) if (row.api_key_id === id) removeHook(world, ctx, account, row);
  for (const key of account.sshKeys) if (key.api_key_id === id) removeKey(world, ctx, account, key);
}

/** Revokes a key for good, and ends its streams. @returns whether that is done now */
export function revokeKey(world: World, { user }: Account, row: ApiKeyRow): boolean {
  if (row.revoked_at) return false;
  row.revoked_at = row.ended_at = world.now();
  world.events.tell(user.id, 'api_key.revoked', row.id, {});
  world.events.endKeys((keyId) => keyId === row.id);
  return true;
}

function keyIn(ctx: ApiContext, account: Account): ApiKeyRow {
  const found = account.apiKeys.find(({ row }) => row.id === ctx.params['id']);
  if (!found) throw noSuchApiKey();
  return countKey(account, found.row);
}
