import type { DeliveryId, WebhookId } from '../../../domain/ids.js';
import { webhookLimits } from '../../../domain/webhooks/limits.js';
import {
  judgeTry,
  wantedTypes,
  type Standing,
  type Tried,
  type Verdict,
} from '../../../domain/webhooks/webhook.js';
import { newId } from '../../ids.js';
import { insertAuditEvent } from '../accounts/audit-events.js';
import { readClock } from '../clock.js';
import type { Database, Transaction } from '../database.js';
import { recordEvent } from '../events/outbox.js';
import { noteForUser } from '../notices/user-notices.js';
import type { EventRow, WebhookDeliveryRow, WebhookRow } from '../rows/tables.js';
import { longestFrom, pauseEnd } from './waking.js';

/** An endpoint as its workflow finds it. */
export interface FoundWebhook extends WebhookRow {
  /** Operators have paused all delivering. */
  readonly is_paused: boolean;
  /** Nothing is tried before its `line_at`. */
  readonly is_pausing: boolean;
}

/**
 * Reads an endpoint, and notes that its workflow looks at it. Pauses that end later than any does are over. Undefined when
 * it is gone.
 */
export async function lookAtWebhookRow(db: Database, id: WebhookId): Promise<FoundWebhook | undefined> {
  const { rows } = await db.raw<{ rows: FoundWebhook[] }>(
    `with later as (
       update webhook_retries set next_try_at = clock_ms() where webhook_id = :id and seq = any (array(
         select seq from webhook_retries where webhook_id = :id and next_try_at > ${longestFrom('retry')}
          order by next_try_at desc limit :triesPerGo))
     )
     update webhooks set told_at = clock_ms(), line_at = ${pauseEnd('line_at')}, retry_at = ${pauseEnd('retry_at')}
      where id = :id
     returning *, coalesce(line_at > clock_ms(), false) as is_pausing, exists (select 1 from brakes where kind = 'webhooks') as is_paused`,
    { id, triesPerGo: webhookLimits.triesPerGo },
  );
  return rows[0];
}

/** The secrets that are valid now, sealed, the newest first. */
export async function listSealedSecrets(db: Database, id: WebhookId): Promise<Buffer[]> {
  const rows = await db('webhook_secrets')
    .where({ webhook_id: id })
    .whereRaw('(expires_at is null or expires_at > clock_ms())')
    .orderBy('no', 'desc')
    .select('sealed');
  return rows.map(({ sealed }) => sealed);
}

/** An event that is to be tried now, and what is known of its earlier tries. */
export interface DueEvent {
  readonly line: 'events' | 'retries';
  readonly event: EventRow;
  readonly tries: number;
  readonly triedSince: Date | null;
}

/** SQL on the alias `e` that holds for an event that an endpoint gets. */
function isWanted({ id, types }: WebhookRow): {
  sql: string;
  values: Record<string, string | readonly string[]>;
} {
  const { only, except } = wantedTypes(types);
  const byType =
    only === null
      ? 'e.type <> all (:except::text[])'
      : 'e.type = any (:only::text[]) and e.type <> all (:except::text[])';
  return {
    sql: `(${byType} or (e.type = 'webhook.ping' and e.entity_id = :id))`,
    values: { id, except, ...(only !== null && { only }) },
  };
}

/**
 * Finds the event that an endpoint is to get now: the next one of its line, else the one of its retry line that has
 * waited longest. An event of the retry line that is no longer kept is dropped.
 */
export async function findDueEvent(db: Database, hook: WebhookRow): Promise<DueEvent | undefined> {
  const wanted = isWanted(hook);
  const { rows } = await db.raw<{ rows: EventRow[] }>(
    `select e.* from events e
      where e.user_id = :userId and e.seq > :cursor and ${wanted.sql}
        and coalesce(:lineAt::timestamptz, '-infinity') <= (select clock_ms())
      order by e.seq limit 1`,
    { ...wanted.values, userId: hook.user_id, cursor: hook.cursor_seq, lineAt: hook.line_at },
  );
  const [event] = rows;
  if (event) return { line: 'events', event, tries: hook.tries, triedSince: hook.tried_since };
  const { rows: retries } = await db.raw<{ rows: (EventRow & { tries: number; first_tried_at: Date })[] }>(
    `select e.*, r.tries, r.first_tried_at from webhook_retries r
       join events e on e.user_id = :userId and e.seq = r.seq
      where r.webhook_id = :id and r.next_try_at <= (select clock_ms())
        and coalesce(:retryAt::timestamptz, '-infinity') <= (select clock_ms())
      order by r.next_try_at limit 1`,
    { id: hook.id, userId: hook.user_id, retryAt: hook.retry_at },
  );
  const [retry] = retries;
  if (!retry) {
    await dropUnkept(db, hook);
    return undefined;
  }
  const { tries, first_tried_at: triedSince, ...kept } = retry;
  return { line: 'retries', event: kept, tries, triedSince };
}

/** Drops events that are due in the retry line and no longer kept: they would be due for ever, and never found. */
async function dropUnkept(db: Database, { id, user_id: userId }: WebhookRow): Promise<void> {
  await db.raw(
    `delete from webhook_retries r where r.webhook_id = :id and r.next_try_at <= (select clock_ms())
        and not exists (select 1 from events e where e.user_id = :userId and e.seq = r.seq)`,
    { id, userId },
  );
}

/** What is written down of a try, beside what follows from it. */
export interface NotedTry {
  readonly event: Pick<EventRow, 'id' | 'seq'> | null;
  readonly type: string;
  readonly tried: Omit<Tried, 'at'>;
  readonly httpStatus: number | null;
  readonly fault: string | null;
  readonly durationMs: number;
}

/**
 * Writes a try down, with all that follows from it, in one transaction: the cursor, the retry line, the pauses, and the
 * end of an endpoint that is switched off. A try of something that was changed meanwhile is only written down.
 * @param hook as it was before the try
 * @returns what follows; undefined when the endpoint was changed meanwhile
 */
export async function noteTry(db: Database, hook: WebhookRow, noted: NotedTry): Promise<Verdict | undefined> {
  return db.transaction(async (trx) => {
    const now = await trx('webhooks').where({ id: hook.id }).forUpdate().first();
    if (!now) return undefined;
    const at = await readClock(trx);
    const standing = await standingOf(trx, now, noted);
    const verdict = judgeTry(standing ?? nothingTried, { ...noted.tried, at });
    await insertTry(trx, hook.id, noted, verdict, at);
    if (!standing || now.round !== hook.round || now.state !== hook.state) return undefined;
    if (verdict.next === 'switch_off') await switchOff(trx, now, verdict, at);
    else await goOn(trx, now, noted, verdict, at);
    return verdict;
  });
}

const nothingTried: Standing = { tries: 0, triedSince: null, failures: 0, failingSince: null };

/** @returns undefined for an event that is in the retry line no more */
async function standingOf(
  trx: Transaction,
  hook: WebhookRow,
  { event, tried: { line } }: NotedTry,
): Promise<Standing | undefined> {
  const { tries, tried_since: triedSince, failures, failing_since: failingSince } = hook;
  if (line !== 'retries') return { tries, triedSince, failures, failingSince };
  const retry = await trx('webhook_retries')
    .where({ webhook_id: hook.id, seq: event?.seq ?? 0 })
    .first('tries', 'first_tried_at');
  return retry && { tries: retry.tries, triedSince: retry.first_tried_at, failures, failingSince };
}

async function insertTry(
  trx: Transaction,
  id: WebhookId,
  { event, type, httpStatus, fault, durationMs }: NotedTry,
  { next, tries }: Verdict,
  at: Date,
): Promise<void> {
  const isLast = next === 'give_up' || next === 'switch_off';
  await trx('webhook_deliveries').insert({
    id: newId('dlv'),
    webhook_id: id,
    event_id: event?.id ?? null,
    seq: event?.seq ?? null,
    type,
    attempt: tries,
    outcome: next === 'done' ? 'delivered' : isLast ? 'given_up' : 'failed',
    http_status: httpStatus,
    fault,
    duration_ms: durationMs,
    at,
  });
}

async function goOn(
  trx: Transaction,
  hook: WebhookRow,
  noted: NotedTry,
  verdict: Verdict,
  at: Date,
): Promise<void> {
  const { next, failures, failingSince } = verdict;
  const { line } = noted.tried;
  await keepRetry(trx, hook.id, noted, verdict, at);
  await trx('webhooks')
    .where({ id: hook.id })
    .update({
      failures,
      failing_since: failingSince,
      ...(line !== 'retries' && lineStanding(verdict, noted.event?.seq)),
      ...(next === 'done'
        ? { last_success_at: at, line_at: null, retry_at: null }
        : { line_at: verdict.lineAt ?? hook.line_at, retry_at: verdict.retriesAt ?? hook.retry_at }),
      ...(line === 'challenge' && next === 'done' && { state: 'enabled', enabled_at: at }),
    });
}

/** Puts an event into the retry line, or changes or ends its stay there. */
async function keepRetry(
  trx: Transaction,
  id: WebhookId,
  { event, tried: { line } }: NotedTry,
  { next, tries, triedSince, eventAt }: Verdict,
  at: Date,
): Promise<void> {
  if (event === null) return;
  const key = { webhook_id: id, seq: event.seq };
  if (next === 'later') {
    const row = { tries, next_try_at: eventAt ?? at };
    await trx('webhook_retries')
      .insert({ ...key, ...row, first_tried_at: triedSince })
      .onConflict(['webhook_id', 'seq'])
      .merge(row);
  } else if (line === 'retries') {
    await trx('webhook_retries').where(key).delete();
  }
}

function lineStanding({ next, tries, triedSince }: Verdict, seq: number | undefined): Partial<WebhookRow> {
  if (next === 'again') return { tries, tried_since: triedSince };
  return { tries: 0, tried_since: null, ...(seq !== undefined && { cursor_seq: seq }) };
}

/** Switches an endpoint off, tells its user by a notice and by an event, and drops what it would have been sent. */
async function switchOff(trx: Transaction, hook: WebhookRow, verdict: Verdict, at: Date): Promise<void> {
  const { id, user_id: userId, url } = hook;
  const why = verdict.why ?? 'no_success';
  await trx('webhook_retries').where({ webhook_id: id }).delete();
  await trx('webhooks')
    .where({ id })
    .update({
      ...{ state: 'switched_off', switched_off_why: why, switched_off_at: at, due_at: null, told_at: null },
      ...{ tries: 0, tried_since: null, line_at: null, retry_at: null },
      ...{ failures: verdict.failures, failing_since: verdict.failingSince, round: hook.round + 1 },
    });
  await recordEvent(trx, { type: 'webhook.switched_off', userId, entityId: id, data: { reason: why } });
  await insertAuditEvent(trx, { userId, kind: 'webhook_switched_off', details: { webhookId: id, why } });
  const kind = 'webhook_switched_off';
  await noteForUser(trx, {
    userId,
    kind,
    cause: { kind, webhookId: id, at },
    facts: { webhookId: id, url, why },
  });
}

/** How an endpoint stands when its workflow has done what there was to do. */
export interface Scheduled {
  /** When there is something to do again, in milliseconds from now; null: nothing is known of. */
  readonly waitMs: number | null;
  readonly failures: number;
}

/**
 * Writes down when an endpoint has something to do next. What comes while this is decided is not lost: the row is locked
 * first, and the head of the feed is read after it (adapters/postgres/webhooks/waking.ts locks the same row).
 */
export async function scheduleWebhook(db: Database, id: WebhookId): Promise<Scheduled> {
  return db.transaction(async (trx) => {
    const hook = await trx('webhooks').where({ id }).forUpdate().first();
    if (!hook || (hook.state !== 'pending' && hook.state !== 'enabled')) return { waitMs: null, failures: 0 };
    const at = await readClock(trx);
    const { dueAt, cursor } =
      hook.state === 'pending'
        ? { dueAt: hook.line_at ?? at, cursor: hook.cursor_seq }
        : await nextOf(trx, hook, at);
    await trx('webhooks').where({ id }).update({ due_at: dueAt, told_at: dueAt, cursor_seq: cursor });
    const waitMs = dueAt === null ? null : Math.max(0, dueAt.getTime() - at.getTime());
    return { waitMs, failures: hook.failures };
  });
}

async function nextOf(
  trx: Transaction,
  hook: WebhookRow,
  at: Date,
): Promise<{ dueAt: Date | null; cursor: number }> {
  const wanted = isWanted(hook);
  const { rows } = await trx.raw<{ rows: { head: number | null; waits: boolean; nextRetry: Date | null }[] }>(
    `select (select last_seq from event_feeds where user_id = :userId) as head,
            exists (select 1 from events e where e.user_id = :userId and e.seq > :cursor and ${wanted.sql}) as waits,
            (select min(next_try_at) from webhook_retries where webhook_id = :id) as "nextRetry"`,
    { ...wanted.values, userId: hook.user_id, cursor: hook.cursor_seq },
  );
  const { head = null, waits = false, nextRetry = null } = rows[0] ?? {};
  const line = waits ? latest(at, hook.line_at) : null;
  const retry = nextRetry === null ? null : latest(nextRetry, hook.retry_at);
  const due = [line, retry].filter((instant) => instant !== null);
  return {
    dueAt: due.length === 0 ? null : new Date(Math.min(...due.map(Number))),
    // Nobody looks at events again that it does not get.
    cursor: waits ? hook.cursor_seq : Math.max(hook.cursor_seq, head ?? 0),
  };
}

function latest(one: Date, other: Date | null): Date {
  return other !== null && other > one ? other : one;
}

/** Lists the tries of an endpoint, newest first. @param beforeNo only tries before this number */
export async function listDeliveries(
  db: Database,
  id: WebhookId,
  beforeNo: number | undefined,
  limit: number,
): Promise<WebhookDeliveryRow[]> {
  const query = db('webhook_deliveries').where({ webhook_id: id }).orderBy('no', 'desc').limit(limit);
  if (beforeNo !== undefined) void query.andWhere('no', '<', beforeNo);
  return query;
}

/** Returns the number of a try; undefined for another endpoint's, as for none. */
export async function findDeliveryNo(
  db: Database,
  webhookId: WebhookId,
  id: DeliveryId,
): Promise<number | undefined> {
  return (await db('webhook_deliveries').where({ id, webhook_id: webhookId }).first('no'))?.no;
}
