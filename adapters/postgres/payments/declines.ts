import { DAY } from '../../../domain/durations.js';
import type { TopupId, UserId } from '../../../domain/ids.js';
import { declineKinds } from '../../../domain/payments/declines.js';
import { isOlderSql } from '../clock.js';
import type { Database } from '../database.js';

/** SQL that holds for an event of a declined card. */
const isDecline = `e.kind in (${declineKinds.map((kind) => `'${kind}'`).join(', ')})`;
const userOfEvent = `(e.object #>> '{metadata,user_id}')`;

/** A page or a form on which cards were declined: the top-up of the page, or the processor's id of the setup. */
export type TriedPage = { readonly topupId: TopupId } | { readonly setupId: string };

/**
 * Says whether so many cards were declined on a page or in a form that it must end, or so many of its user's that their
 * pages end with the next decline (decision 128, "Trying of cards").
 * @returns the declines on it that end it; 0: it stays
 */
export async function countEndingDeclines(
  db: Database,
  page: TriedPage,
  limits: { readonly perPage: number; readonly perDay: number },
): Promise<number> {
  const [which, id] =
    'topupId' in page
      ? [`e.workflow_id = :id and e.kind = 'payment_intent.payment_failed'`, page.topupId]
      : [`e.object ->> 'id' = :id and e.kind = 'setup_intent.setup_failed'`, page.setupId];
  const { rows } = await db.raw<{ rows: { declines: number; userId: UserId | null }[] }>(
    `select count(*) as declines, min(${userOfEvent}) as "userId" from processor_events e where ${which}`,
    { id },
  );
  const { declines = 0, userId = null } = rows[0] ?? {};
  if (declines >= limits.perPage) return declines;
  if (declines === 0 || userId === null) return 0;
  return (await readDeclineWait(db, userId, limits.perDay)) > 0 ? declines : 0;
}

/**
 * Returns how long a user waits until fewer than so many cards of theirs were declined in 24 hours, in seconds; 0: they
 * need not wait.
 */
export async function readDeclineWait(db: Database, userId: UserId, perDay: number): Promise<number> {
  const { rows } = await db.raw<{ rows: { waitS: number }[] }>(
    `select ceil(extract(epoch from received_at + interval '1 day' - clock_ms()))::int as "waitS"
       from processor_events e
      where ${isDecline} and ${userOfEvent} = :userId and not ${isOlderSql('e.received_at', DAY)}
      order by e.received_at desc limit 1 offset :skip`,
    { userId, skip: perDay - 1 },
  );
  return Math.max(0, rows[0]?.waitS ?? 0);
}

/** A user some of whose cards were declined in the last 24 hours. */
export interface DeclinesOfUser {
  readonly userId: string;
  readonly declines: number;
  /** The pages, forms and invoices on which that was. */
  readonly pages: number;
  readonly lastAt: Date;
  /** The bank's word for the last one. */
  readonly lastCode: string | null;
}

/** Lists whose cards were declined in the last 24 hours, those with the most first. */
export async function listDeclines(db: Database, limit: number): Promise<DeclinesOfUser[]> {
  const { rows } = await db.raw<{ rows: DeclinesOfUser[] }>(
    `select ${userOfEvent} as "userId", count(*) as declines, count(distinct e.object ->> 'id') as pages,
            max(e.received_at) as "lastAt",
            (array_agg(coalesce(w.problem ->> 'decline_code', w.problem ->> 'code') order by e.received_at desc))[1]
              as "lastCode"
       from processor_events e,
            lateral (select coalesce(e.object -> 'last_payment_error', e.object -> 'last_setup_error') as problem) w
      where ${isDecline} and ${userOfEvent} is not null
        and e.received_at > (select clock_ms()) - interval '1 day'
      group by 1 order by declines desc, 1 limit :limit`,
    { limit },
  );
  return rows;
}

/** SQL for the number of cards that were declined within the last hour. */
export const declinesOfLastHour = `select count(*) from processor_events e
  where ${isDecline} and ${userOfEvent} is not null and e.received_at > now() - interval '1 hour'`;
