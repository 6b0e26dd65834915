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

/** Reads a page of a user's feed, oldest first, and its range, by one statement. */
export async function readEventPage(
  db: Database,
  userId: UserId,
  { after = 0, types, limit, onlyOf }: EventSelection,
): Promise<EventPage> {
  const look = types === undefined && onlyOf === undefined ? limit : LOOKED_AT_MAX;
  const { rows } = await db.raw<{ rows: PageRow[] }>(
    `with looked as (
       select no, id, user_id, seq, type, entity_id, data, at, ${keySql} from events
        where user_id = :userId and seq > :after order by seq limit :look
     ), wanted as (
       select * from looked
        where (:types::text[] is null or type = any(:types::text[]))
          and (:onlyOf::text is null or api_key_id = :onlyOf or type = 'feed.resync')
        order by seq limit :limit
     )
     select f.*, w.* from (
       select (select min(seq) from events where user_id = :userId) as first_seq,
              coalesce((select last_seq from event_feeds where user_id = :userId), 0) as last_seq,
              (select max(seq) from looked) as looked_at,
              (select count(*) from looked) = :look as is_more) f
     left join wanted w on true order by w.seq`,
    { userId, after, types: types === undefined ? null : [...types], look, limit, onlyOf: onlyOf ?? null },
  );
  const [head] = rows;
  if (!head) throw new Error('a page has no range');
  // The join makes one empty row of a page without events.
  const events = rows.filter(({ seq }) => (seq as number | null) !== null);
  return {
    firstSeq: head.first_seq ?? head.last_seq + 1,
    lastSeq: head.last_seq,
    events,
    lookedAtSeq: Math.max(events.length === limit ? seqOfLast(events) : endOf(head), after),
  };
}

function seqOfLast(events: readonly ReadEvent[]): number {
  return events.at(-1)?.seq ?? 0;
}

/** A page that is not full has looked at the whole rest of the feed, or at as many events as it may. */
function endOf(head: PageRow): number {
  return head.is_more ? (head.looked_at ?? 0) : head.last_seq;
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
