import type { ServerResponse } from 'node:http';
import type { EventPage, FeedRange, ReadEvent } from '../../adapters/postgres/events/event-reads.js';
import type { EventType } from '../../domain/events/events.js';
import { streamLimits } from '../../domain/events/stream-limits.js';
import type { ApiKeyId, UserId } from '../../domain/ids.js';
import type { Holder } from '../../adapters/postgres/accounts/holders.js';
import { messages, type CloseReason } from './messages.js';

/** Why a stream has ended; for the metrics. */
export type EndReason = CloseReason | 'client_left' | 'slow_reader';

/** What makes a stream. */
export interface StreamRequest {
  readonly id: string;
  readonly userId: UserId;
  readonly holder: Holder;
  /** The events that the client wants; undefined: all. */
  readonly types: readonly EventType[] | undefined;
  /** The key with a cap that asks: it hears of the rentals that it opened alone. undefined for all others. */
  readonly onlyOf?: ApiKeyId | undefined;
}

/** Tells whether what a client asked for lies outside of what is kept. */
export function isOutOfRange(after: number, { firstSeq, lastSeq }: FeedRange): boolean {
  return after > lastSeq || after + 1 < firstSeq;
}

/** Picks a random whole number from `min` to `max`. */
export type Pick = (min: number, max: number) => number;

/**
 * One open stream (decision 100, "Feed and stream"). It knows up to which number its client was told, and tells each
 * number once, in order: it skips what it has told, and asks to be caught up where a number is missing.
 */
export class EventStream {
  readonly id: string;
  readonly userId: UserId;
  readonly holder: Holder;
  readonly onlyOf: ApiKeyId | undefined;
  /** Whether the hub's events go to the client at once. */
  isLive = false;
  /** Whether the client was told the balance and meters once. */
  knowsState = false;
  endedBy: EndReason | undefined;
  readonly #response: ServerResponse;
  readonly #pick: Pick;
  readonly #types: ReadonlySet<EventType> | undefined;
  #cursor = 0;
  #hasBegun = false;
  /** The newest number that the hub has told of. */
  #heardSeq = 0;
  #pending = '';
  /** The client's id, as far as the messages that wait or have left move it. */
  #idTold = 0;

  constructor(request: StreamRequest, response: ServerResponse, pick: Pick) {
    this.id = request.id;
    this.userId = request.userId;
    this.holder = request.holder;
    this.onlyOf = request.onlyOf;
    this.#types = request.types && new Set(request.types);
    this.#response = response;
    this.#pick = pick;
  }

  /** Up to which number the client was told. */
  get cursor(): number {
    return this.#cursor;
  }

  /**
   * Sends the first message: `ready`, or `resync` where what the client asked for is not there.
   * @param after the client knows everything up to this number; undefined: it wants what comes from now on
   */
  begin(after: number | undefined, range: FeedRange): void {
    this.#hasBegun = true;
    const { retryMinMs, retryMaxMs } = streamLimits;
    // If this process dies, its clients do not come back all at once.
    this.#write(messages.retry(this.#pick(retryMinMs, retryMaxMs)));
    const from = after ?? range.lastSeq;
    if (isOutOfRange(from, range)) {
      this.resync(range);
      return;
    }
    this.#moveTo(from);
    this.#write(messages.ready(from, range));
  }

  /** Tells the client that what comes next for it is not there, and goes on from the newest number. */
  resync(range: FeedRange): void {
    this.#moveTo(range.lastSeq);
    this.#write(messages.resync(range));
  }

  /** Sends the events of a page that begins at the cursor. */
  sendPage({ events, lookedAtSeq }: EventPage): void {
    for (const event of events) if (event.seq > this.#cursor) this.#add(event);
    this.#cursor = Math.max(this.#cursor, lookedAtSeq);
    this.flush();
  }

  /** Goes live, if the hub has told of nothing beyond the cursor meanwhile. @returns whether it did */
  goLive(): boolean {
    this.isLive = this.#heardSeq <= this.#cursor;
    return this.isLive;
  }

  /** Forgets what the hub has told. @returns whether it was live, and must be caught up now */
  forget(): boolean {
    const wasLive = this.isLive;
    this.isLive = false;
    this.#heardSeq = 0;
    return wasLive;
  }

  /**
   * Takes an event of the hub; `flush` sends it.
   * @returns false when a number before it is missing: the stream must be caught up
   */
  hear(event: ReadEvent, text: () => string): boolean {
    this.#heardSeq = Math.max(this.#heardSeq, event.seq);
    if (!this.isLive || event.seq <= this.#cursor) return true;
    if (event.seq !== this.#cursor + 1 && event.type !== 'feed.resync') {
      this.isLive = false;
      return false;
    }
    this.#add(event, text);
    return true;
  }

  /** Sends what was taken. A client that has not read what was sent before is cut. */
  flush(): void {
    const seen = this.#cursor > this.#idTold ? messages.seen(this.#cursor) : '';
    this.#idTold = this.#cursor;
    const text = this.#pending + seen;
    this.#pending = '';
    if (text !== '') this.#write(text);
  }

  /** Sends a message without an id. */
  tell(text: string): void {
    this.#write(text);
  }

  /** Resolves when the client has read what was sent. One that does not read for long is cut. */
  async drained(): Promise<void> {
    const response = this.#response;
    if (!response.writableNeedDrain || this.endedBy !== undefined) return;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        response.off('drain', done).off('close', done);
        resolve();
      };
      const timer = setTimeout(() => {
        this.cut();
        done();
      }, streamLimits.drainMs);
      response.once('drain', done).once('close', done);
    });
  }

  /** Ends the stream with a word of why, and of when to come back. */
  close(reason: CloseReason): void {
    if (this.endedBy !== undefined) return;
    if (!this.#hasBegun) {
      this.#end(reason);
      return;
    }
    const { retryMinMs, retryMaxMs, crowdedRetryMinMs, crowdedRetryMaxMs } = streamLimits;
    const retryMs =
      reason === 'too_many_streams'
        ? this.#pick(crowdedRetryMinMs, crowdedRetryMaxMs)
        : this.#pick(retryMinMs, retryMaxMs);
    this.flush();
    this.#write(messages.retry(retryMs) + messages.closed(reason));
    this.#end(reason);
    // One that does not read even this would keep its connection for good.
    const { socket } = this.#response;
    socket?.setTimeout(streamLimits.drainMs, () => socket.destroy());
    this.#response.end();
  }

  /** Ends a connection whose client does not read. */
  cut(): void {
    this.#end('slow_reader');
    this.#response.destroy();
  }

  /** Takes note that the client has gone. */
  left(): void {
    this.#end('client_left');
  }

  #end(reason: EndReason): void {
    this.endedBy ??= reason;
    this.isLive = false;
  }

  #moveTo(seq: number): void {
    this.#cursor = seq;
    this.#idTold = seq;
  }

  #add(event: ReadEvent, text: () => string = () => messages.event(event)): void {
    this.#cursor = event.seq;
    if (this.#types?.has(event.type) === false || !this.#mayHear(event)) return;
    this.#pending += text();
    this.#idTold = event.seq;
  }

  #mayHear({ type, api_key_id: key }: ReadEvent): boolean {
    return this.onlyOf === undefined || key === this.onlyOf || type === 'feed.resync';
  }

  #write(text: string): void {
    // Nothing may go out before the first message, with which the headers leave.
    if (!this.#hasBegun || this.endedBy !== undefined) return;
    this.#response.write(text);
    if (this.#response.writableLength > streamLimits.unsentMaxBytes) this.cut();
  }
}
