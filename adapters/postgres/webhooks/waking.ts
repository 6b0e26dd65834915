import type { WebhookId } from '../../../domain/ids.js';
import { webhookLimits } from '../../../domain/webhooks/limits.js';
import { longestPausesMs } from '../../../domain/webhooks/webhook.js';
import type { Database } from '../database.js';

/** Events that one look takes in at most. */
const BATCH = 10_000;

/**
 * Tells whether events came since the last look, or an endpoint is due. It reads the ends of two indexes: `exists`
 * would read all events from the oldest on to find that none is newer.
 */
export async function isSomethingDue(db: Database): Promise<boolean> {
  const { rows } = await db.raw<{ rows: { due: boolean }[] }>(
    `select coalesce((select max(no) from events) > (select last_no from webhook_feed), false)
         or coalesce((select due_at from webhooks where due_at is not null and ${isUntold} order by due_at limit 1)
                     <= clock_ms(), false)
         or coalesce((select max(due_at) > ${longestFrom('retry')} from webhooks), false) as due`,
    { againMs: webhookLimits.toldAgainMs },
  );
  return rows[0]?.due === true;
}

/**
 * SQL that holds for a due endpoint whose workflow does not know yet, or does not look. An instant ahead is of a clock that
 * was set back since.
 */
const isUntold = `(told_at is null
  or told_at not between (select clock_ms()) - :againMs * interval '1 millisecond' and (select clock_ms()))`;

/** SQL of the instant after which no pause ends that begins now. */
export function longestFrom(pause: keyof typeof longestPausesMs): string {
  return `(select clock_ms()) + interval '${longestPausesMs[pause]} milliseconds'`;
}

/** SQL of the end of an endpoint's pause; null where no true clock has set it. */
export function pauseEnd(column: string): string {
  return `case when ${column} <= ${longestFrom('line')} then ${column} end`;
}

/**
 * Notes that endpoints are due whose users have new events, and moves on in the feed, in one transaction. Each row is
 * written even if it is due already: one whose workflow is about to find nothing left must not miss what came now
 * (scheduleWebhook locks the same row). An endpoint that pauses is due at the end of its pause. What is due later than any
 * pause ends is due now.
 */
export async function noteDueWebhooks(db: Database): Promise<void> {
  await db.transaction(async (trx) => {
    const feed = await trx('webhook_feed').forUpdate().skipLocked().first('last_no');
    if (!feed) return;
    await trx.raw(
      `update webhooks set due_at = clock_ms(), told_at = null where due_at > ${longestFrom('retry')}`,
    );
    const { rows } = await trx.raw<{ rows: { last: number | null; users: string[] | null }[] }>(
      `select max(no) as last, array_agg(distinct user_id) as users
         from (select no, user_id from events where no > :last order by no limit :batch) e`,
      { last: feed.last_no, batch: BATCH },
    );
    const { last = null, users = null } = rows[0] ?? {};
    if (last === null) return;
    const nextTry = `greatest(clock_ms(), ${pauseEnd('w.line_at')})`;
    await trx.raw(
      `with woken as (
         select id from webhooks where user_id = any (:users::text[]) and state in ('pending', 'enabled')
          order by id for update
       )
       update webhooks w set
         due_at = least(w.due_at, ${nextTry}), told_at = case when w.due_at <= ${nextTry} then w.told_at end
        from woken where w.id = woken.id`,
      { users },
    );
    await trx('webhook_feed').update({ last_no: last });
  });
}

export interface DueWebhook {
  readonly id: WebhookId;
  /** It was told before and has not looked since. */
  readonly isRepeated: boolean;
}

/**
 * Takes the endpoints whose workflows are to be told now, and notes that they are. The join tells of them as they were; the
 * keys have them read by the index.
 */
export async function takeDueWebhooks(db: Database, atMost: number): Promise<DueWebhook[]> {
  const { rows } = await db.raw<{ rows: DueWebhook[] }>(
    `with due as materialized (
       select id, told_at from webhooks where due_at <= (select clock_ms()) and ${isUntold}
        order by due_at limit :atMost for update skip locked
     )
     update webhooks w set told_at = clock_ms() from due
      where w.id = any (array(select id from due)) and w.id = due.id
     returning w.id, due.told_at is not null as "isRepeated"`,
    { againMs: webhookLimits.toldAgainMs, atMost },
  );
  return rows;
}

/** Notes that these were not told after all: Temporal is away. */
export async function untellWebhooks(db: Database, ids: readonly WebhookId[]): Promise<void> {
  if (ids.length === 0) return;
  await db('webhooks').whereIn('id', ids).whereNotNull('due_at').update({ told_at: null });
}
