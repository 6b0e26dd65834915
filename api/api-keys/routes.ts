import * as declared from './describe.js';
import { serve, type Handler } from '../http/serve.js';
import { insertAuditEvent } from '../../adapters/postgres/accounts/audit-events.js';
import { refuseWhenClosing } from '../../adapters/postgres/accounts/closings.js';
import { insertApiKey } from '../../adapters/postgres/accounts/api-keys.js';
import {
  changeApiKey,
  findApiKeyOf,
  listApiKeys,
  lockApiKey,
  revokeApiKey,
} from '../../adapters/postgres/accounts/api-key-list.js';
import { readClock } from '../../adapters/postgres/clock.js';
import { countKeys, setCap, stopMachinesOf } from '../../adapters/postgres/spending/caps.js';
import { recordEvent } from '../../adapters/postgres/events/outbox.js';
import { noteForUser } from '../../adapters/postgres/notices/user-notices.js';
import type { ApiKeyRow } from '../../adapters/postgres/rows/tables.js';
import { newId } from '../../adapters/ids.js';
import type { Database, Transaction } from '../../adapters/postgres/database.js';
import { listSshKeys } from '../../adapters/postgres/accounts/ssh-keys.js';
import { lockWebhooksOfKey } from '../../adapters/postgres/webhooks/endpoints.js';
import { widens } from '../../domain/accounts/address-ranges.js';
import { isId, type ApiKeyId, type UserId } from '../../domain/ids.js';
import { removingKey } from '../accounts/ssh-keys.js';
import { removing } from '../webhooks/routes.js';
import { auditEvent } from '../accounts/audit-event.js';
import { refuseWhenNotFresh } from '../accounts/fresh-proof.js';
import { sessionOf, type ApiContext, type ApiDeps, type ApiRouter } from '../context.js';
import { changedFields } from '../http/changed-fields.js';
import { isIdKey, pageOf, readCursor } from '../http/cursor.js';
import { readBody, readQuery } from '../http/validation.js';
import { presentApiKey } from './present.js';
import {
  apiKeyChangeSchema,
  apiKeySchema,
  apiKeysQuery,
  isRaised,
  noSuchApiKey,
  refuseExpiry,
  revokeQuery,
  tooManyApiKeys,
} from './request.js';

/** The keys with which programs call the API (decision 108, "API keys"). No key may ask for any of it. */
export function apiKeyRoutes(router: ApiRouter, deps: ApiDeps): void {
  serve(router, deps, declared.listApiKeys, list(deps));
  serve(router, deps, declared.createApiKey, add(deps));
  serve(router, deps, declared.showApiKey, show(deps));
  serve(router, deps, declared.changeApiKey, change(deps));
  serve(router, deps, declared.revokeApiKey, revoke(deps));
}

function list(deps: ApiDeps): Handler<typeof declared.listApiKeys> {
  return async (ctx) => {
    const { cursor, pageSize } = readQuery(ctx, apiKeysQuery);
    const [before] = readCursor(cursor, isIdKey('key')) ?? [];
    const { userId } = sessionOf(ctx);
    const rows = await listApiKeys(deps.db, userId, before, pageSize + 1);
    const { page, nextCursor } = pageOf(rows, pageSize, (row) => [row.id]);
    return { apiKeys: (await countKeys(deps.db, userId, page)).map(presentApiKey), nextCursor };
  };
}

function show(deps: ApiDeps): Handler<typeof declared.showApiKey> {
  return async (ctx) => {
    const row = await findApiKeyOf(deps.db, sessionOf(ctx).userId, keyIdIn(ctx));
    if (!row) throw noSuchApiKey();
    return showCounted(deps.db, row);
  };
}

/** Makes a key. Whoever finds a session that was left open makes none: it would outlive the session. */
function add(deps: ApiDeps): Handler<typeof declared.createApiKey> {
  return async (ctx) => {
    const {
      name,
      scopes,
      ends = 'all',
      expiresAt,
      allowedCidrs = null,
      spendCapCents = null,
    } = readBody(ctx, apiKeySchema);
    refuseWhenNotFresh(ctx);
    const { userId } = sessionOf(ctx);
    const made = await deps.db.transaction(async (trx) => {
      refuseExpiry(expiresAt, await readClock(trx));
      const asked = { name, scopes, ends, allowedCidrs, expiresAt: expiresAt ?? null, spendCapCents };
      const added = await insertApiKey(trx, { id: newId('key'), userId, ...asked });
      if (!added) throw tooManyApiKeys();
      // Under the lock of its user's keys: a closing that has begun meanwhile waits, and revokes it.
      await refuseWhenClosing(trx, userId);
      const { id: keyId, hint } = added.row;
      const details = { scopes, ends, spendCapCents };
      await insertAuditEvent(
        trx,
        auditEvent(ctx, { userId, kind: 'api_key_created', entityId: keyId, details }),
      );
      await noteForUser(trx, {
        ...{ userId, kind: 'api_key_created', cause: { kind: 'api_key_created', keyId } },
        facts: { keyId, name, scopes, hint },
      });
      return added;
    });
    return { ...presentApiKey(made.row), key: made.token };
  };
}

function change(deps: ApiDeps): Handler<typeof declared.changeApiKey> {
  return async (ctx) => {
    const asked = readBody(ctx, apiKeyChangeSchema);
    const { userId } = sessionOf(ctx);
    return await deps.db.transaction(async (trx) => {
      const before = await lockApiKey(trx, userId, keyIdIn(ctx));
      if (!before) throw noSuchApiKey();
      const { spendCapCents: cap, allowedCidrs } = asked;
      const isWider = allowedCidrs !== undefined && widens(before.allowed_cidrs, allowedCidrs);
      const isLooser = isWider || (cap !== undefined && isRaised(before.spend_cap_cents, cap));
      if (isLooser) refuseWhenNotFresh(ctx);
      const spendCapCents = cap === undefined ? undefined : await setCap(trx, before, cap);
      const row = await changeApiKey(trx, before.id, { ...asked, spendCapCents });
      const changed = changedFields(Object.keys(asked), presentApiKey(before), presentApiKey(row));
      if (changed.length > 0) {
        const details = { keyId: row.id, changed };
        await insertAuditEvent(trx, auditEvent(ctx, { userId, kind: 'api_key_changed', details }));
        await recordEvent(trx, { type: 'api_key.changed', userId, entityId: row.id, data: { changed } });
      }
      if (isLooser) await noteWidened(trx, row);
      return showCounted(trx, row);
    });
  };
}

/** Notes for its owner that a key may do more: somebody else may be signed in. */
async function noteWidened(trx: Transaction, row: ApiKeyRow): Promise<void> {
  const { id: keyId, name, hint, spend_cap_cents: spendCapCents, allowed_cidrs: allowedCidrs } = row;
  await noteForUser(trx, {
    ...{ userId: row.user_id, kind: 'api_key_widened' },
    cause: { kind: 'api_key_widened', changeId: newId('chg') },
    facts: { keyId, name, hint, spendCapCents, allowedCidrs },
  });
}

async function showCounted(db: Database | Transaction, row: ApiKeyRow) {
  const [counted = row] = await countKeys(db, row.user_id, [row]);
  return presentApiKey(counted);
}

/**
 * Revokes a key for good, and then asks for the end of its machines. One that was revoked before stays as it is, and its
 * machines can still be stopped.
 */
function revoke(deps: ApiDeps): Handler<typeof declared.revokeApiKey> {
  return async (ctx) => {
    const { stopMachines, removeMade } = readQuery(ctx, revokeQuery);
    const { userId } = sessionOf(ctx);
    const id = keyIdIn(ctx);
    await deps.db.transaction(async (trx) => {
      const revoked = await revokeApiKey(trx, userId, id);
      if (!revoked) throw noSuchApiKey();
      // The row comes first: an opening that saw the key alive has committed its rental by now, and none comes later.
      const stopped = stopMachines ? await stopMachinesOf(trx, { id, user_id: userId }) : [];
      for (const rentalId of stopped) {
        await insertAuditEvent(trx, auditEvent(ctx, { userId, kind: 'rental_stopped', entityId: rentalId }));
      }
      if (removeMade) await removeMadeBy(trx, ctx, userId, id);
      if (revoked === 'before') return;
      await insertAuditEvent(trx, auditEvent(ctx, { userId, kind: 'api_key_revoked', entityId: id }));
    });
    return { ok: true };
  };
}

/** Removes what a key with the scope `setup` has made, which makes nothing any more. */
async function removeMadeBy(trx: Transaction, ctx: ApiContext, userId: UserId, id: ApiKeyId): Promise<void> {
  for (const hook of await lockWebhooksOfKey(trx, userId, id)) await removing(trx, ctx, hook);
  const keys = await listSshKeys(trx, userId);
  for (const key of keys) if (key.api_key_id === id) await removingKey(trx, ctx, userId, key.id);
}

/** The id in the path. @throws Refusal key_not_found for a text that is no key's id */
function keyIdIn(ctx: ApiContext): ApiKeyId {
  const id = ctx.params['id'] ?? '';
  if (!isId('key', id)) throw noSuchApiKey();
  return id;
}
