import * as declared from './describe.js';
import { serve, type Handler } from '../http/serve.js';
import { newId } from '../../adapters/ids.js';
import { insertAuditEvent } from '../../adapters/postgres/accounts/audit-events.js';
import type { Transaction } from '../../adapters/postgres/database.js';
import { createExactCount } from '../../adapters/postgres/requests/request-counts.js';
import { recordEvent } from '../../adapters/postgres/events/outbox.js';
import type { WebhookRow } from '../../adapters/postgres/rows/tables.js';
import {
  changeWebhook,
  findWebhook,
  insertWebhook,
  listWebhooks,
  lockWebhook,
  readResent,
  redeliverAfter,
  removeWebhook,
  rotateSecret,
} from '../../adapters/postgres/webhooks/endpoints.js';
import { findDeliveryNo, listDeliveries } from '../../adapters/postgres/webhooks/deliveries.js';
import { newWebhookSecret, sealSecret } from '../../adapters/sealed-secrets.js';
import { HOUR } from '../../domain/durations.js';
import { isId } from '../../domain/ids.js';
import { Refusal } from '../../domain/refusal.js';
import { webhookLimits } from '../../domain/webhooks/limits.js';
import { isChallengedBy } from '../../domain/webhooks/webhook.js';
import { auditEvent } from '../accounts/audit-event.js';
import { refuseWhenNotFresh } from '../accounts/fresh-proof.js';
import { noteSetup, refuseSignInEvents, refuseUnlessMadeBy, settingUp } from '../api-keys/setup.js';
import { callerOf, keyIdOf, type ApiContext, type ApiDeps, type ApiRouter } from '../context.js';
import { changedFields } from '../http/changed-fields.js';
import { isIdKey, numberOf, pageOf, readCursor } from '../http/cursor.js';
import { readBody, readQuery } from '../http/validation.js';
import { presentDelivery, presentWebhook } from './present.js';
import {
  changeSchema,
  deliveriesQuery,
  redeliverSchema,
  tellsMoreOfSignIns,
  tooManyWebhooks,
  webhookSchema,
  type WebhookChangeRequest,
} from './request.js';
import { checkReceiver } from './receiver.js';
import { refuseSeq, refuseUnlessEnabled, refuseWhenTooOften } from './refuse.js';

/** Where users want their events delivered (decision 102, "Webhooks out"). */
export function webhookRoutes(router: ApiRouter, deps: ApiDeps): void {
  serve(router, deps, declared.listWebhooks, list(deps));
  serve(router, deps, declared.addWebhook, add(deps));
  serve(router, deps, declared.getWebhook, show(deps));
  serve(router, deps, declared.changeWebhook, change(deps));
  serve(router, deps, declared.removeWebhook, remove(deps));
  serve(router, deps, declared.listWebhookDeliveries, showDeliveries(deps));
  serve(router, deps, declared.pingWebhook, ping(deps));
  serve(router, deps, declared.redeliverWebhook, redeliver(deps));
  serve(router, deps, declared.rotateWebhookSecret, rotate(deps));
}

function list(deps: ApiDeps): Handler<typeof declared.listWebhooks> {
  return async (ctx) => {
    return { webhooks: (await listWebhooks(deps.db, callerOf(ctx).userId)).map(presentWebhook) };
  };
}

function show(deps: ApiDeps): Handler<typeof declared.getWebhook> {
  return async (ctx) => {
    return presentWebhook(await foundOf(ctx, (userId, id) => findWebhook(deps.db, userId, id)));
  };
}

function add(deps: ApiDeps): Handler<typeof declared.addWebhook> {
  return async (ctx) => {
    const { types, description, url: text } = readBody(ctx, webhookSchema);
    refuseWhenNotFresh(ctx);
    refuseSignInEvents(ctx, types);
    const publicKey = sealingKeyOf(deps);
    const url = await checkReceiver(ctx, deps, text);
    const { userId } = callerOf(ctx);
    const id = newId('wh');
    const secret = newWebhookSecret();
    const row = await settingUp(ctx, deps.db, async (trx) => {
      const sealedSecret = sealSecret(publicKey, secret, id);
      const apiKeyId = keyIdOf(ctx);
      const added = await insertWebhook(trx, { id, userId, url, types, description, sealedSecret, apiKeyId });
      if (added === 'too many') throw tooManyWebhooks();
      await insertAuditEvent(trx, auditEvent(ctx, { userId, kind: 'webhook_created', entityId: id }));
      await recordEvent(trx, { type: 'webhook.created', userId, entityId: id, data: {} });
      await noteSetup(trx, ctx, 'webhook_created', url);
      return added;
    });
    return { ...presentWebhook(row), secret };
  };
}

function change(deps: ApiDeps): Handler<typeof declared.changeWebhook> {
  return async (ctx) => {
    const body = readBody(ctx, changeSchema);
    if (body.url !== undefined) refuseWhenNotFresh(ctx);
    const asked = body.url === undefined ? body : { ...body, url: await checkReceiver(ctx, deps, body.url) };
    return await changing(ctx, deps, async (trx, hook) => {
      refuseSignInEvents(ctx, hook.types, body.types);
      // A receiver trusts what its secret signs: whoever may not have that may not move it.
      if (body.url !== undefined) refuseUnlessMadeBy(ctx, hook);
      if (tellsMoreOfSignIns(body.types, hook.types)) refuseWhenNotFresh(ctx);
      const changed = changesOf(asked, hook);
      const row = await changeWebhook(trx, hook, asked);
      if (changed.length > 0 || row.state !== hook.state) await tellChange(trx, ctx, hook, changed);
      return presentWebhook(row);
    });
  };
}

/** The fields that get another value; an address that is set again begins another challenge. */
export function changesOf(body: WebhookChangeRequest, hook: WebhookRow): string[] {
  const asked = (['url', 'types', 'description'] as const).filter((field) => body[field] !== undefined);
  const fields = changedFields(asked, hook, body);
  return isChallengedBy(hook, body.url) && hook.state !== 'enabled' ? [...fields, 'state'] : fields;
}

async function tellChange(
  trx: Transaction,
  ctx: ApiContext,
  { id, user_id: userId, url }: WebhookRow,
  changed: readonly string[],
): Promise<void> {
  const details = { webhookId: id, changed };
  await insertAuditEvent(trx, auditEvent(ctx, { userId, kind: 'webhook_changed', details }));
  await recordEvent(trx, { type: 'webhook.changed', userId, entityId: id, data: { changed } });
  await noteSetup(trx, ctx, 'webhook_changed', url);
}

function remove(deps: ApiDeps): Handler<typeof declared.removeWebhook> {
  return async (ctx) => {
    return await changing(ctx, deps, async (trx, hook) => {
      refuseSignInEvents(ctx, hook.types);
      await removing(trx, ctx, hook);
      await noteSetup(trx, ctx, 'webhook_removed', hook.url);
      return { ok: true };
    });
  };
}

/** Removes a webhook that the transaction has locked, and tells it. */
export async function removing(trx: Transaction, ctx: ApiContext, hook: WebhookRow): Promise<void> {
  const { id, user_id: userId } = hook;
  await removeWebhook(trx, hook);
  await insertAuditEvent(trx, auditEvent(ctx, { userId, kind: 'webhook_removed', entityId: id }));
  await recordEvent(trx, { type: 'webhook.removed', userId, entityId: id, data: {} });
}

function showDeliveries(deps: ApiDeps): Handler<typeof declared.listWebhookDeliveries> {
  return async (ctx) => {
    const { cursor, pageSize } = readQuery(ctx, deliveriesQuery);
    const hook = await foundOf(ctx, (userId, id) => findWebhook(deps.db, userId, id));
    const beforeNo = await numberOf(readCursor(cursor, isIdKey('dlv')), (id) =>
      findDeliveryNo(deps.db, hook.id, id),
    );
    const rows = await listDeliveries(deps.db, hook.id, beforeNo, pageSize + 1);
    const { page, nextCursor } = pageOf(rows, pageSize, (row) => [row.id]);
    return { deliveries: page.map(presentDelivery), nextCursor };
  };
}

function ping(deps: ApiDeps): Handler<typeof declared.pingWebhook> {
  return async (ctx) => {
    return await changing(ctx, deps, async (trx, hook) => {
      refuseUnlessEnabled(hook);
      const event = { userId: hook.user_id, entityId: hook.id, data: {} };
      await recordEvent(trx, { type: 'webhook.ping', ...event });
      return { ok: true };
    });
  };
}

function redeliver(deps: ApiDeps): Handler<typeof declared.redeliverWebhook> {
  const asked = createExactCount(deps.db, 'webhook-redeliver', webhookLimits.redeliveriesPerHour, HOUR);
  return async (ctx) => {
    const { afterSeq } = readBody(ctx, redeliverSchema);
    // What is refused for another reason counts too: the limit stands before the work.
    refuseWhenTooOften(await asked.count(callerOf(ctx).userId));
    return await changing(ctx, deps, async (trx, hook) => {
      refuseUnlessEnabled(hook);
      refuseSeq(afterSeq, await readResent(trx, hook, webhookLimits.redeliveredAtOnce));
      await redeliverAfter(trx, hook, afterSeq);
      return { ok: true, afterSeq };
    });
  };
}

function rotate(deps: ApiDeps): Handler<typeof declared.rotateWebhookSecret> {
  return async (ctx) => {
    refuseWhenNotFresh(ctx);
    const publicKey = sealingKeyOf(deps);
    const secret = newWebhookSecret();
    return await changing(ctx, deps, async (trx, hook) => {
      refuseUnlessMadeBy(ctx, hook);
      refuseSignInEvents(ctx, hook.types);
      const until = await rotateSecret(trx, hook, sealSecret(publicKey, secret, hook.id));
      await tellChange(trx, ctx, hook, ['secret']);
      return { ...presentWebhook(hook), secret, previousSecretValidUntil: until.toISOString() };
    });
  };
}

/** Does something with the caller's endpoint in one transaction, under its lock. */
async function changing<T>(
  ctx: ApiContext,
  deps: ApiDeps,
  work: (trx: Transaction, hook: WebhookRow) => Promise<T>,
): Promise<T> {
  return settingUp(ctx, deps.db, async (trx) =>
    work(trx, await foundOf(ctx, (userId, id) => lockWebhook(trx, userId, id))),
  );
}

async function foundOf(
  ctx: ApiContext,
  find: (userId: WebhookRow['user_id'], id: WebhookRow['id']) => Promise<WebhookRow | undefined>,
): Promise<WebhookRow> {
  const id = ctx.params['id'] ?? '';
  const hook = isId('wh', id) ? await find(callerOf(ctx).userId, id) : undefined;
  if (!hook)
    throw new Refusal('webhook_not_found', 'You have no such webhook: GET /v1/webhooks lists yours.');
  return hook;
}

function sealingKeyOf({ settings }: ApiDeps): string {
  const { publicKey } = settings.webhooks;
  if (publicKey !== '') return publicKey;
  throw new Refusal('webhooks_disabled', 'Webhooks are turned off here. Read GET /v1/events instead.');
}
