import type { EventType } from '../../../domain/events/events.js';
import type { ApiKeyId, UserId, WebhookId } from '../../../domain/ids.js';
import { webhookLimits } from '../../../domain/webhooks/limits.js';
import { isChallengedBy } from '../../../domain/webhooks/webhook.js';
import type { Database, Transaction } from '../database.js';
import { lockBy } from '../locks.js';
import type { WebhookRow } from '../rows/tables.js';

/** Lists a user's endpoints, oldest first. */
export async function listWebhooks(db: Database | Transaction, userId: UserId): Promise<WebhookRow[]> {
  return db('webhooks')
    .where({ user_id: userId })
    .whereNot({ state: 'removed' })
    .orderBy(['created_at', 'id']);
}

/** Finds a user's endpoint; undefined for another user's, as for none (decision 5, "Foreign ids"). */
export async function findWebhook(
  db: Database | Transaction,
  userId: UserId,
  id: WebhookId,
): Promise<WebhookRow | undefined> {
  return db('webhooks').where({ id, user_id: userId }).whereNot({ state: 'removed' }).first();
}

/** Finds a user's endpoint and locks it, so that no try of its workflow is written meanwhile. */
export async function lockWebhook(
  trx: Transaction,
  userId: UserId,
  id: WebhookId,
): Promise<WebhookRow | undefined> {
  return trx('webhooks').where({ id, user_id: userId }).whereNot({ state: 'removed' }).forUpdate().first();
}

export interface NewWebhook {
  readonly id: WebhookId;
  readonly userId: UserId;
  readonly url: string;
  readonly types: readonly EventType[];
  readonly description: string;
  readonly sealedSecret: Buffer;
  /** The API key that makes it; absent for a session. */
  readonly apiKeyId?: ApiKeyId | undefined;
}

/** Keeps an endpoint with its secret, unless the user has as many as one may have. It gets events from now on. */
export async function insertWebhook(trx: Transaction, hook: NewWebhook): Promise<WebhookRow | 'too many'> {
  await lockBy(trx, 'webhooksOfUser', hook.userId);
  if ((await listWebhooks(trx, hook.userId)).length >= webhookLimits.perUser) return 'too many';
  const [row] = await trx('webhooks')
    .insert({
      id: hook.id,
      user_id: hook.userId,
      url: hook.url,
      types: [...hook.types],
      description: hook.description,
      api_key_id: hook.apiKeyId ?? null,
      cursor_seq: headOf(trx, hook.userId),
    })
    .returning('*');
  if (!row) throw new Error('the endpoint was not kept');
  await trx('webhook_secrets').insert({ webhook_id: hook.id, no: 1, sealed: hook.sealedSecret });
  return row;
}

/** Lists what a key has made, each locked. */
export async function lockWebhooksOfKey(
  trx: Transaction,
  userId: UserId,
  apiKeyId: ApiKeyId,
): Promise<WebhookRow[]> {
  return trx('webhooks')
    .where({ user_id: userId, api_key_id: apiKeyId })
    .whereNot({ state: 'removed' })
    .orderBy('id')
    .forUpdate();
}

/** What begins anew: its tries and pauses are forgotten, and what is under way for it is written down no more. */
function anew(trx: Transaction) {
  return {
    ...{ tries: 0, tried_since: null, failures: 0, failing_since: null, line_at: null, retry_at: null },
    round: trx.raw('round + 1'),
  };
}

export interface WebhookChange {
  readonly url?: string | undefined;
  readonly types?: readonly EventType[] | undefined;
  readonly description?: string | undefined;
}

/**
 * Changes an endpoint that the transaction has locked, and challenges it anew where its address asks for that. One that
 * was switched off goes on with the events from now on.
 */
export async function changeWebhook(
  trx: Transaction,
  hook: WebhookRow,
  { url, types, description }: WebhookChange,
): Promise<WebhookRow> {
  const isChallenged = isChallengedBy(hook, url);
  const [row] = await trx('webhooks')
    .where({ id: hook.id })
    .update({
      ...(url !== undefined && { url }),
      ...(types !== undefined && { types: [...types] }),
      ...(description !== undefined && { description }),
      ...(isChallenged && { ...anew(trx), state: 'pending', switched_off_at: null, switched_off_why: null }),
      ...(isChallenged && hook.state === 'switched_off' && { cursor_seq: headOf(trx, hook.user_id) }),
    })
    .returning('*');
  if (!row) throw new Error(`${hook.id} vanished`);
  return row;
}

/** The number of the newest event of a user. */
function headOf(trx: Transaction, userId: UserId) {
  return trx.raw('coalesce((select last_seq from event_feeds where user_id = ?), 0)', [userId]);
}

/** Removes an endpoint that the transaction has locked: its secrets at once, its row after a month. */
export async function removeWebhook(trx: Transaction, { id }: WebhookRow): Promise<void> {
  await trx('webhook_secrets').where({ webhook_id: id }).delete();
  await trx('webhook_retries').where({ webhook_id: id }).delete();
  await trx('webhooks')
    .where({ id })
    .update({
      ...anew(trx),
      ...{ state: 'removed', removed_at: trx.raw('clock_ms()'), due_at: null, told_at: null },
      ...{ switched_off_at: null, switched_off_why: null },
    });
}

/**
 * Gives an endpoint that the transaction has locked a new secret. The one before is valid for a day more, an older one
 * no longer.
 * @returns until when the one before is valid
 */
export async function rotateSecret(
  trx: Transaction,
  { id }: WebhookRow,
  sealedSecret: Buffer,
): Promise<Date> {
  await trx('webhook_secrets').where({ webhook_id: id }).whereNotNull('expires_at').delete();
  const [before] = await trx('webhook_secrets')
    .where({ webhook_id: id })
    .update({ expires_at: trx.raw(`clock_ms() + ? * interval '1 millisecond'`, [webhookLimits.overlapMs]) })
    .returning(['no', 'expires_at']);
  if (!before?.expires_at) throw new Error(`${id} has no secret`);
  await trx('webhook_secrets').insert({ webhook_id: id, no: before.no + 1, sealed: sealedSecret });
  return before.expires_at;
}

/** After which numbers of the feed an endpoint's events can be sent again. */
export interface ResentEvents {
  readonly first: number;
  readonly last: number;
}

/** Reads after which numbers at most so many events can be sent again. Numbers jump after a restore, so it counts them. */
export async function readResent(
  trx: Transaction,
  { user_id: userId, cursor_seq: last }: WebhookRow,
  limit: number,
): Promise<ResentEvents> {
  const [oldest] = await trx('events')
    .where({ user_id: userId })
    .where('seq', '<=', last)
    .orderBy('seq', 'desc')
    .offset(limit)
    .limit(1)
    .pluck<number[]>('seq');
  return { first: oldest ?? 0, last };
}

/**
 * Lets an endpoint that the transaction has locked get all events after this number again, in their order.
 * @param afterSeq no later than it has come: it gets the others anyhow
 */
export async function redeliverAfter(trx: Transaction, hook: WebhookRow, afterSeq: number): Promise<void> {
  await trx('webhook_retries').where({ webhook_id: hook.id }).where('seq', '>', afterSeq).delete();
  await trx('webhooks')
    .where({ id: hook.id })
    .update({
      ...anew(trx),
      cursor_seq: afterSeq,
      due_at: trx.raw('clock_ms()'),
      told_at: null,
    });
}
