import { noticeMail, type Told } from '../../../domain/mails/notices.js';
import type { UserId } from '../../../domain/ids.js';
import { isOptional, type ToldKind } from '../../../domain/notices/kinds.js';
import { noticeLimits } from '../../../domain/notices/limits.js';
import { endKinds } from '../../../domain/notices/notices.js';
import { readClock } from '../clock.js';
import type { Database } from '../database.js';
import { addressOf, insertMail } from '../upkeep/outbox.js';
import { isNotWaiting } from '../upkeep/stuck-items.js';
import { listSwitchedOff } from './notice-settings.js';
import { makeUnsubscribeUrl } from './unsubscribe-links.js';

/** Notices of one kind to one user, which one mail tells. */
export interface DueNotices {
  readonly userId: UserId;
  readonly kind: ToldKind;
}

/** Names what is told together, for what is known of failures. */
export function keyOfDue({ userId, kind }: DueNotices): string {
  return `${userId}:${kind}`;
}

/** One look takes this many; the rest waits for the next. */
const DUE_AT_ONCE = 100;

/**
 * Lists whom to tell what now, the longest waiting first. What happens together is told together: a mail waits until
 * nothing of its kind has happened for a moment, and no other machine of its user is just ending for the same reason;
 * but never longer than `longestMs`. What a key sets up is told once in `setupEveryMs`.
 */
export async function listDueNotices(
  db: Database,
  { quietMs, longestMs }: { readonly quietMs: number; readonly longestMs: number } = noticeLimits,
): Promise<DueNotices[]> {
  const reasons = Object.entries(endKinds).filter(([, reason]) => reason !== null);
  const { rows } = await db.raw<{ rows: DueNotices[] }>(
    `select user_id as "userId", kind from (
       select user_id, kind, min(noted_at) as first_at, max(noted_at) as last_at
         from user_notices where told_at is null group by user_id, kind
     ) n cross join (select clock_ms() as at) clock
      -- An instant that lies ahead is of a clock that was set back since: it says nothing.
      where (first_at <= clock.at - :longestMs * interval '1 millisecond' or last_at > clock.at
             or last_at <= clock.at - :quietMs * interval '1 millisecond' and not exists (
               select 1 from rentals r
                where r.user_id = n.user_id and r.closed_at is null and r.settled_at is null and r.status = 'stopping'
                  and r.stop_reason = :reasons::jsonb ->> n.kind))
        and not (kind = 'setup_acted' and exists (
              select 1 from user_notices t
               where t.user_id = n.user_id and t.kind = n.kind
                 and t.told_at > clock.at - :setupEveryMs * interval '1 millisecond' and t.told_at <= clock.at))
        and ${isNotWaiting('notice', `user_id || ':' || kind`)}
      order by kind = 'statement', first_at limit :atOnce`,
    {
      quietMs,
      longestMs,
      setupEveryMs: noticeLimits.setupEveryMs,
      reasons: JSON.stringify(Object.fromEntries(reasons)),
      atOnce: DUE_AT_ONCE,
    },
  );
  return rows;
}

/**
 * Puts one mail into the outbox for all that a user was not told yet of one kind, unless they have switched it off. The
 * notices are marked in the same transaction, under their locks: each is told once, whoever else is telling them.
 * @param publicUrl where browsers reach the API, without a slash at the end
 */
export async function mailNotices(
  db: Database,
  { userId, kind }: DueNotices,
  publicUrl: string,
): Promise<void> {
  const link = isOptional(kind)
    ? await makeUnsubscribeUrl(db, publicUrl, { userId, kind }, (await readClock(db)).getTime())
    : null;
  await db.transaction(async (trx) => {
    const notices = await trx('user_notices')
      .where({ user_id: userId, kind })
      .whereNull('told_at')
      .orderBy('id')
      .forUpdate();
    const [oldest] = notices;
    if (oldest === undefined) return;
    const isMailed = !(await listSwitchedOff(trx, userId)).has(kind);
    if (isMailed) {
      const told = { kind, all: notices.map(({ facts }) => facts) } as unknown as Told;
      await insertMail(trx, {
        cause: { kind: 'notice', noticeId: oldest.id },
        recipient: await addressOf(trx, userId),
        message: noticeMail(told, link),
        wipeAfterSending: false,
        unsubscribeUrl: link,
      });
    }
    await trx('user_notices')
      .whereIn(
        'id',
        notices.map(({ id }) => id),
      )
      .update({ told_at: trx.raw('clock_ms()'), is_mailed: isMailed });
  });
}
