import { newId } from '../../../adapters/ids.js';
import type { WebhookDeliveryRow, WebhookRow } from '../../../adapters/postgres/rows/tables.js';
import { newWebhookSecret } from '../../../adapters/sealed-secrets.js';
import { refuseWhenNotFresh } from '../../../api/accounts/fresh-proof.js';
import { refuseSignInEvents, refuseUnlessMadeBy } from '../../../api/api-keys/setup.js';
import { keyIdOf, type ApiContext, type ApiRouter } from '../../../api/context.js';
import { isIdKey, numberOf, pageOf, readCursor } from '../../../api/http/cursor.js';
import { fieldRefusal, readBody, readQuery } from '../../../api/http/validation.js';
import * as declared from '../../../api/webhooks/describe.js';
import { presentDelivery, presentWebhook } from '../../../api/webhooks/present.js';
import { refuseSeq, refuseUnlessEnabled, refuseWhenTooOften } from '../../../api/webhooks/refuse.js';
import { changesOf } from '../../../api/webhooks/routes.js';
import {
  changeSchema,
  deliveriesQuery,
  redeliverSchema,
  tellsMoreOfSignIns,
  tooManyWebhooks,
  webhookSchema,
} from '../../../api/webhooks/request.js';
import { HOUR } from '../../../domain/durations.js';
import { webhookLimits } from '../../../domain/webhooks/limits.js';
import { readReceiverUrl } from '../../../domain/webhooks/receiver-url.js';
import { isChallengedBy } from '../../../domain/webhooks/webhook.js';
import type { Account, MockWebhook } from '../account.js';
import { refusalByCode } from '../refuse.js';
import { serveMock, type MockHandler } from '../serve.js';
import { note } from '../signed-in.js';
import type { World } from '../world.js';

/** Nobody listens there (RFC 863), so a webhook stays pending. */
const discardPort = '9';

/**
 * Webhooks, checked as the service does. The mock sends nothing: a receiver answers its challenge after a moment, and
 * takes what comes from then on at once. One at the port of discard never answers.
 */
export function webhookRoutes(router: ApiRouter, world: World): void {
  serveMock(router, world, declared.listWebhooks, (_ctx, { webhooks }) => ({
    webhooks: webhooks.map(({ row }) => presentWebhook(caughtUp(world, row))),
  }));
  serveMock(router, world, declared.addWebhook, add(world));
  serveMock(
    router,
    world,
    declared.getWebhook,
    withHook(world, ({ row }) => presentWebhook(row)),
  );
  serveMock(router, world, declared.changeWebhook, withHook(world, change(world)));
  serveMock(router, world, declared.removeWebhook, withHook(world, remove(world)));
  serveMock(router, world, declared.listWebhookDeliveries, withHook(world, showDeliveries));
  serveMock(router, world, declared.pingWebhook, withHook(world, ping(world)));
  serveMock(router, world, declared.redeliverWebhook, withHook(world, redeliver(world)));
  serveMock(
    router,
    world,
    declared.rotateWebhookSecret,
    withHook(world, ({ row }, ctx, account) => {
      refuseWhenNotFresh(ctx);
      refuseUnlessMadeBy(ctx, row);
      refuseSignInEvents(ctx, row.types);
      tellChange(world, ctx, account, row, ['secret']);
      const until = new Date(world.now().getTime() + webhookLimits.overlapMs);
      return {
        ...presentWebhook(row),
        secret: newWebhookSecret(),
        previousSecretValidUntil: until.toISOString(),
      };
    }),
  );
}

function withHook<Answer>(
  world: World,
  answer: (hook: MockWebhook, ctx: ApiContext, account: Account) => Answer | Promise<Answer>,
) {
  return async (ctx: ApiContext, account: Account): Promise<Answer> => {
    const hook = account.webhooks.find(({ row }) => row.id === ctx.params['id']);
    if (!hook) throw refusalByCode('webhook_not_found');
    caughtUp(world, hook.row);
    return answer(hook, ctx, account);
  };
}

/** Whoever is enabled has come to the head of the feed. */
function caughtUp(world: World, row: WebhookRow): WebhookRow {
  if (row.state === 'enabled') row.cursor_seq = world.events.headOf(row.user_id);
  return row;
}

function add(world: World): MockHandler<typeof declared.addWebhook> {
  return (ctx, account) => {
    const { types, description, url } = readBody(ctx, webhookSchema);
    refuseWhenNotFresh(ctx);
    refuseSignInEvents(ctx, types);
    const href = readUrl(url);
    if (account.webhooks.length >= webhookLimits.perUser) throw tooManyWebhooks();
    const hook: MockWebhook = {
      row: rowOf(world, account, { url: href, types, description, api_key_id: keyIdOf(ctx) ?? null }),
      deliveries: [],
    };
    account.webhooks.push(hook);
    note(world, ctx, account, 'webhook_created', hook.row.id);
    world.events.tell(account.user.id, 'webhook.created', hook.row.id, {});
    beginChallenge(world, hook);
    return { ...presentWebhook(hook.row), secret: newWebhookSecret() };
  };
}

function change(world: World) {
  return (hook: MockWebhook, ctx: ApiContext, account: Account) => {
    const body = readBody(ctx, changeSchema);
    refuseSignInEvents(ctx, hook.row.types, body.types);
    if (body.url !== undefined) refuseUnlessMadeBy(ctx, hook.row);
    if ([body.url !== undefined, tellsMoreOfSignIns(body.types, hook.row.types)].includes(true))
      refuseWhenNotFresh(ctx);
    const asked = body.url === undefined ? body : { ...body, url: readUrl(body.url) };
    const changed = changesOf(asked, hook.row);
    const isChallenged = isChallengedBy(hook.row, asked.url);
    Object.assign(hook.row, asked);
    if (isChallenged) {
      hook.row.state = 'pending';
      beginChallenge(world, hook);
    }
    if (changed.length > 0) tellChange(world, ctx, account, hook.row, changed);
    return presentWebhook(hook.row);
  };
}

function tellChange(
  world: World,
  ctx: ApiContext,
  account: Account,
  { id: webhookId }: WebhookRow,
  changed: readonly string[],
): void {
  note(world, ctx, account, 'webhook_changed', null, { webhookId, changed });
  world.events.tell(account.user.id, 'webhook.changed', webhookId, { changed });
}

function remove(world: World) {
  return ({ row }: MockWebhook, ctx: ApiContext, account: Account) => {
    refuseSignInEvents(ctx, row.types);
    removeHook(world, ctx, account, row);
    return { ok: true as const };
  };
}

/** Removes a webhook, and tells it. */
export function removeHook(world: World, ctx: ApiContext, account: Account, row: WebhookRow): void {
  account.webhooks = account.webhooks.filter((hook) => hook.row !== row);
  note(world, ctx, account, 'webhook_removed', row.id);
  world.events.tell(account.user.id, 'webhook.removed', row.id, {});
}

async function showDeliveries({ deliveries }: MockWebhook, ctx: ApiContext) {
  const { cursor, pageSize } = readQuery(ctx, deliveriesQuery);
  const before = await numberOf(readCursor(cursor, isIdKey('dlv')), (id) => {
    const found = deliveries.findIndex((row) => row.id === id);
    return Promise.resolve(found === -1 ? undefined : found);
  });
  const rows = deliveries.slice(0, before).toReversed();
  const { page, nextCursor } = pageOf(rows, pageSize, (row) => [row.id]);
  return { deliveries: page.map(presentDelivery), nextCursor };
}

function ping(world: World) {
  return (hook: MockWebhook, _ctx: ApiContext, { user }: Account) => {
    refuseUnlessEnabled(hook.row);
    const { id, seq, type } = world.events.tell(user.id, 'webhook.ping', hook.row.id, {});
    noteTaken(world, hook, { event_id: id, seq, type });
    return { ok: true as const };
  };
}

function redeliver(world: World) {
  return ({ row }: MockWebhook, ctx: ApiContext, account: Account) => {
    const { afterSeq } = readBody(ctx, redeliverSchema);
    refuseWhenTooOften(countRedelivery(account, world.now().getTime()));
    refuseUnlessEnabled(row);
    const { cursor_seq: last } = row;
    refuseSeq(afterSeq, { first: last - webhookLimits.redeliveredAtOnce, last });
    return { ok: true as const, afterSeq };
  };
}

/** Counts in hours that begin with a request, as the service does. */
function countRedelivery(account: Account, nowMs: number): { allowed: boolean; resetMs: number } {
  if (account.redeliveries.endsAtMs <= nowMs) account.redeliveries = { count: 0, endsAtMs: nowMs + HOUR };
  account.redeliveries.count += 1;
  const { count, endsAtMs } = account.redeliveries;
  return { allowed: count <= webhookLimits.redeliveriesPerHour, resetMs: endsAtMs - nowMs };
}

function beginChallenge(world: World, hook: MockWebhook): void {
  if (new URL(hook.row.url).port === discardPort) return;
  world.after(world.durations.cardMs, () => {
    if (hook.row.state !== 'pending') return;
    hook.row.state = 'enabled';
    noteTaken(world, hook, { event_id: null, seq: null, type: 'webhook.challenge' });
  });
}

function noteTaken(
  world: World,
  { row, deliveries }: MockWebhook,
  of: Pick<WebhookDeliveryRow, 'event_id' | 'seq' | 'type'>,
): void {
  row.last_success_at = world.now();
  deliveries.push({
    ...of,
    ...{ no: deliveries.length + 1, id: newId('dlv'), webhook_id: row.id, attempt: 1 },
    ...{ outcome: 'delivered', http_status: 200, fault: null, duration_ms: 5, at: world.now() },
  });
}

function readUrl(text: string): string {
  const read = readReceiverUrl(text, { allowPrivate: true, ownHosts: [] });
  if ('fault' in read) throw fieldRefusal('url', `url ${read.fault}`);
  return read.url.href;
}

function rowOf(
  world: World,
  { user }: Account,
  given: Pick<WebhookRow, 'url' | 'description' | 'api_key_id'> & {
    types: readonly WebhookRow['types'][number][];
  },
): WebhookRow {
  return {
    ...{ id: newId('wh'), user_id: user.id, ...given, types: [...given.types] },
    ...{ state: 'pending', switched_off_why: null, created_at: world.now(), enabled_at: null },
    ...{ switched_off_at: null, removed_at: null, round: 0, tries: 0, tried_since: null },
    cursor_seq: world.events.headOf(user.id),
    ...{ failures: 0, failing_since: null, last_success_at: null, line_at: null, retry_at: null },
    ...{ due_at: null, told_at: null },
  };
}
