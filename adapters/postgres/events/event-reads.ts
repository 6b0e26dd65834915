import type { EventType } from '../../../domain/events/events.js';
import type { ApiKeyId, UserId } from '../../../domain/ids.js';
import type { Database } from '../database.js';
import type { EventRow } from '../rows/tables.js';

/** An event as it is read: all but when it was numbered; and the API key that opened its rental, if one did. */
export type ReadEvent = Omit<EventRow, 'sequenced_at'> & { readonly api_key_id: ApiKeyId | null };

/** Of a rental alone: nothing else has the id of one. */
const keySql = '(select api_key_id from rentals where id = events.entity_id) as api_key_id';

/** Where a user's feed begins and ends, all from one moment. */
export interface FeedRange {
  /** The oldest number that is still kept; one beyond `lastSeq` when none is. */
  readonly firstSeq: number;
  /** The newest number; 0 before the first event. */
  readonly lastSeq: number;
}

export interface EventPage extends FeedRange {
  readonly events: readonly ReadEvent[];
  /** The last number that was looked at, whether or not its event passed the filter: the next page begins after it. */
  readonly lookedAtSeq: number;
}

/** What to read of a feed. */
export interface EventSelection {
  /** Events beyond this number; undefined: from the oldest that is kept. */
  readonly after?: number | undefined;
  /** Events below this number instead, newest first. */
  readonly before?: number | undefined;
  /** undefined: all. */
  readonly types?: readonly EventType[] | undefined;
  readonly limit: number;
  /** A key: only events of the rentals that it opened. */
  readonly onlyOf?: ApiKeyId | undefined;
}

/** The most events that one page looks at under a filter, so that none reads a whole month. */
const LOOKED_AT_MAX = 2_000;

interface PageRow extends ReadEvent {
  first_seq: number | null;
  last_seq: number;
  looked_at: number | null;
  is_more: boolean;
}

const forward = { where: 'seq > :after', order: 'seq', last: 'max' } as const;
const backward = { where: 'seq < :before', order: 'seq desc', last: 'min' } as const;

/** Reads a page of a user's feed, oldest first unless `before` asks for the newest, and its range, by one statement. */
export async function readEventPage(
  db: Database,
  userId: UserId,
  { after = 0, before, types, limit, onlyOf }: EventSelection,
): Promise<EventPage> {
  const way = before === undefined ? forward : backward;
  const look = types === undefined && onlyOf === undefined ? limit : LOOKED_AT_MAX;
  const { rows } = await db.raw<{ rows: PageRow[] }>(
    `with looked as (
       select no, id, user_id, seq, type, entity_id, data, at, ${keySql} from events
        where user_id = :userId and ${way.where} order by ${way.order} limit :look
     ), wanted as (
       select * from looked
        where (:types::text[] is null or type = any(:types::text[]))
          and (:onlyOf::text is null or api_key_id = :onlyOf or type = 'feed.resync')
        order by ${way.order} limit :limit
     )
     select f.*, w.* from (
       select (select min(seq) from events where user_id = :userId) as first_seq,
              coalesce((select last_seq from event_feeds where user_id = :userId), 0) as last_seq,
              (select ${way.last}(seq) from looked) as looked_at,
              (select count(*) from looked) = :look as is_more) f
     left join wanted w on true order by w.${way.order}`,
    {
      userId,
      after,
      before: before ?? null,
      types: types === undefined ? null : [...types],
      look,
      limit,
      onlyOf: onlyOf ?? null,
    },
  );
  const [head] = rows;
  if (!head) throw new Error('a page has no range');
  // The join makes one empty row of a page without events.
  const events = rows.filter(({ seq }) => (seq as number | null) !== null);
  return {
    firstSeq: head.first_seq ?? head.last_seq + 1,
    lastSeq: head.last_seq,
    events,
    lookedAtSeq: lookedAt(head, events, limit, { after, before }),
  };
}

/** A page that is not full has looked at the whole rest of the feed, or at as many events as it may. */
function lookedAt(
  head: PageRow,
  events: readonly ReadEvent[],
  limit: number,
  { after, before }: { readonly after: number; readonly before: number | undefined },
): number {
  const end = before === undefined ? head.last_seq : (head.first_seq ?? 0);
  const seq = events.length === limit ? events.at(-1)?.seq : head.is_more ? head.looked_at : end;
  return before === undefined ? Math.max(seq ?? 0, after) : Math.min(seq ?? 0, before);
}

/**
 * Reads what was numbered after a global number, of all users, in the order of commits (decision 99, "One feed of
 * events").
 */
export async function readEventsBeyond(db: Database, no: number, limit: number): Promise<ReadEvent[]> {
  return db('events')
    .where('no', '>', no)
    .orderBy('no')
    .limit(limit)
    .select('no', 'id', 'user_id', 'seq', 'type', 'entity_id', 'data', 'at', db.raw<ApiKeyId | null>(keySql));
}

/** Reads the newest global number; 0 without any event. */
export async function readNewestNo(db: Database): Promise<number> {
  const { rows } = await db.raw<{ rows: { no: number }[] }>(
    'select coalesce(max(no), 0)::bigint as no from events',
  );
  return rows[0]?.no ?? 0;
}
