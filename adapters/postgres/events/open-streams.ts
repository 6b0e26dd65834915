import type { UserId } from '../../../domain/ids.js';
import { streamLimits } from '../../../domain/events/stream-limits.js';
import { holderLives, type Holder } from '../accounts/holders.js';
import type { Database } from '../database.js';
import { lockStreamsOf } from '../locks.js';
import { sqlStateOf } from '../sql-state.js';

/** A stream as all API processes know of it. */
export interface OpenStream {
  readonly id: string;
  readonly userId: UserId;
  readonly holder: Holder;
}

/** Says that a process lives: its streams count as open for the next seconds. */
export async function sayHostLives(db: Database, hostId: string): Promise<void> {
  await db.raw(
    `insert into stream_hosts (id) values (:hostId)
     on conflict (id) do update set seen_at = excluded.seen_at
      where stream_hosts.seen_at < clock_ms() - :everyMs * interval '1 millisecond'`,
    { hostId, everyMs: streamLimits.hostSeenEveryMs },
  );
}

/**
 * Writes a stream of a process down, and marks the user's oldest ones beyond the limit, whichever process holds them
 * (decision 100, "Feed and stream"). Streams of processes that live no longer go first. The process that writes lives,
 * whenever it was last told of.
 * @returns false when its session or key is there no more: nothing was written
 */
export async function insertOpenStream(
  db: Database,
  hostId: string,
  { id, userId, holder }: OpenStream,
): Promise<boolean> {
  try {
    await db.transaction(async (trx) => {
      // Two at once would each count without the other.
      await lockStreamsOf(trx, userId);
      await trx.raw(
        `with surplus as (
           select o.no from open_streams o join stream_hosts h on h.id = o.host_id
            where o.user_id = :userId and not o.crowded_out
            order by h.id = :hostId or h.seen_at > clock_ms() - :livesMs * interval '1 millisecond' desc, o.no desc
           offset :others
         ), marked as (
           update open_streams set crowded_out = true where no in (select no from surplus)
         )
         insert into open_streams (id, host_id, user_id, token_hash, api_key_id)
         values (:id, :hostId, :userId, :tokenHash, :keyId)
         on conflict (id) do nothing`,
        {
          ...{ id, hostId, userId, tokenHash: null, keyId: null, ...holder },
          livesMs: streamLimits.hostLivesMs,
          others: streamLimits.ofUser - 1,
        },
      );
    });
    return true;
  } catch (error) {
    if (isHolderGone(error)) return false;
    throw error;
  }
}

function isHolderGone(error: unknown): boolean {
  return (
    sqlStateOf(error) === FOREIGN_KEY_VIOLATION &&
    holders.includes((error as { constraint?: string }).constraint ?? '')
  );
}

const FOREIGN_KEY_VIOLATION = '23503';
const holders = ['open_streams_token_hash_fkey', 'open_streams_api_key_id_fkey'];

/** Streams `o` with the session and the key that may hold them. */
const withHolders = `open_streams o left join sessions s on s.token_hash = o.token_hash
       left join api_keys k on k.id = o.api_key_id`;

/**
 * Counts the streams of a process that may go on: their session or key lives, the session has the same token, and no
 * newer ones have taken their place.
 */
export async function countLiveStreams(db: Database, hostId: string): Promise<number> {
  const { rows } = await db.raw<{ rows: { live: number }[] }>(
    `select count(*) as live from ${withHolders}
      where o.host_id = ? and not o.crowded_out and not o.outdated and ${holderLives}`,
    [hostId],
  );
  return rows[0]?.live ?? 0;
}

/** What a process is to do with a stream that is written down. */
export interface WrittenStream {
  readonly id: string;
  /** Whether its session or key lives. */
  readonly isHeld: boolean;
  readonly isCrowdedOut: boolean;
  /** Its session has another token now. */
  readonly isOutdated: boolean;
}

/** Lists the streams of a process that are written down. Those of sessions that were ended are not any more. */
export async function listOpenStreams(db: Database, hostId: string): Promise<WrittenStream[]> {
  const { rows } = await db.raw<{ rows: WrittenStream[] }>(
    `select o.id, coalesce(${holderLives}, false) as "isHeld", o.crowded_out as "isCrowdedOut",
            o.outdated as "isOutdated"
       from ${withHolders} where o.host_id = ?`,
    [hostId],
  );
  return rows;
}

/** Removes streams that have ended. */
export async function deleteOpenStreams(db: Database, ids: readonly string[]): Promise<void> {
  if (ids.length > 0)
    await db('open_streams')
      .whereIn('id', [...ids])
      .delete();
}

/** Removes a process that ends, with all of its streams. */
export async function deleteStreamHost(db: Database, hostId: string): Promise<void> {
  await db('stream_hosts').where({ id: hostId }).delete();
}
