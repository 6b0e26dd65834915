import pLimit from 'p-limit';
import type { Database } from '../../adapters/postgres/database.js';
import {
  countLiveStreams,
  deleteOpenStreams,
  deleteStreamHost,
  insertOpenStream,
  listOpenStreams,
  sayHostLives,
  type OpenStream,
  type WrittenStream,
} from '../../adapters/postgres/events/open-streams.js';
import type { CloseReason } from './messages.js';
import type { EventStream } from './stream.js';

/**
 * What all API processes know of open streams: a table of rows, so that the eleventh stream of a user ends the oldest
 * one wherever it is held, and a session or key that ends takes its streams along (decision 100, "Feed and stream"). Each
 * process looks once a second what has become of its own rows. A database that is away ends nothing.
 */
export class StreamRegistry {
  readonly #db: Database;
  readonly #watchDb: Database;
  readonly #hostId: string;
  /** The streams of this process, and whether each one's row is known to be committed. */
  readonly #known = new Map<string, { readonly stream: EventStream; isWritten: boolean }>();
  #isHostWritten = false;

  /**
   * @param at.db for single streams
   * @param at.watchDb for the looks, which wait for no request
   * @param at.hostId a new UUID for each start of the process
   */
  constructor(at: { readonly db: Database; readonly watchDb: Database; readonly hostId: string }) {
    this.#db = at.db;
    this.#watchDb = at.watchDb;
    this.#hostId = at.hostId;
  }

  /** Writes a stream down. @returns false when its session or key has ended */
  async open(stream: EventStream): Promise<boolean> {
    // Nobody looks while there are no streams, so the process was not told of since.
    if (!this.#isHostWritten || this.#known.size === 0) await sayHostLives(this.#db, this.#hostId);
    this.#isHostWritten = true;
    const entry = { stream, isWritten: false };
    this.#known.set(stream.id, entry);
    try {
      entry.isWritten = await insertOpenStream(this.#db, this.#hostId, rowOf(stream));
      return entry.isWritten;
    } finally {
      if (!entry.isWritten) this.#known.delete(stream.id);
    }
  }

  /** Forgets a stream that has ended, and removes its row; the next look removes what can't be removed now. */
  ended(stream: EventStream): void {
    if (!this.#known.delete(stream.id)) return;
    deleteOpenStreams(this.#db, [stream.id]).catch(() => undefined);
  }

  /**
   * Ends those whose session or key has ended or has another token, or whose place newer ones have taken.
   * @param close ends one
   */
  async look(close: (stream: EventStream, reason: CloseReason) => void): Promise<void> {
    await sayHostLives(this.#watchDb, this.#hostId);
    this.#isHostWritten = true;
    const written = [...this.#known.values()].filter(({ isWritten }) => isWritten);
    if ((await countLiveStreams(this.#watchDb, this.#hostId)) === written.length) return;
    const rows = await listOpenStreams(this.#watchDb, this.#hostId);
    const byId = new Map(rows.map((row) => [row.id, row]));
    const atOnce = pLimit(REWRITTEN_AT_ONCE);
    await Promise.all(
      written.map(({ stream }) =>
        atOnce(async () => {
          if (!this.#known.has(stream.id)) return;
          const row = byId.get(stream.id);
          const reason = row ? reasonOf(stream, row) : await this.#rewrite(stream);
          if (reason !== undefined) close(stream, reason);
        }),
      ),
    );
    const left = rows.filter(({ id }) => !this.#known.has(id));
    await deleteOpenStreams(
      this.#watchDb,
      left.map(({ id }) => id),
    );
  }

  /** A row that is gone went with its session, or with a database that was set back: then it is written again. */
  async #rewrite(stream: EventStream): Promise<CloseReason | undefined> {
    return (await insertOpenStream(this.#db, this.#hostId, rowOf(stream))) ? undefined : endOf(stream);
  }

  /** Removes all rows of this process. */
  async stop(): Promise<void> {
    this.#known.clear();
    if (this.#isHostWritten) await deleteStreamHost(this.#db, this.#hostId);
  }
}

const REWRITTEN_AT_ONCE = 4;

function rowOf({ id, userId, holder }: EventStream): OpenStream {
  return { id, userId, holder };
}

/** Why a stream ends with the session or key that holds it. */
function endOf({ holder }: EventStream): CloseReason {
  return holder.kind === 'key' ? 'key_ended' : 'session_ended';
}

function reasonOf(
  stream: EventStream,
  { isHeld, isCrowdedOut, isOutdated }: WrittenStream,
): CloseReason | undefined {
  if (!isHeld) return endOf(stream);
  if (isOutdated) return stream.holder.kind === 'key' ? 'key_changed' : 'session_renewed';
  return isCrowdedOut ? 'too_many_streams' : undefined;
}
