import { setTimeout as sleep } from 'node:timers/promises';
import type { LiveStates } from '../../adapters/postgres/events/live-states.js';
import type { EventPage, ReadEvent } from '../../adapters/postgres/events/event-reads.js';
import { streamLimits } from '../../domain/events/stream-limits.js';
import type { RentalId, UserId } from '../../domain/ids.js';
import { messages, type CloseReason } from './messages.js';
import { statesByUser, ToldStates } from './states.js';
import { isOutOfRange, type EndReason, type EventStream } from './stream.js';

/** Reads a page of a user's feed, beyond a number. */
export type ReadPage = (userId: UserId, after: number, limit: number) => Promise<EventPage>;

/** Hears what becomes of streams. */
export interface HubListener {
  /** A stream has ended. */
  readonly end: (stream: EventStream, reason: EndReason) => void;
  /** A page could not be read; it is tried again. */
  readonly failure: (error: unknown) => void;
}

/** What the hub knows of a user who is connected. */
interface Connected {
  readonly streams: Set<EventStream>;
  readonly told: ToldStates;
}

/**
 * The streams of one process, by user. It is told the new events of all users, and hands each to the streams of its
 * user (decision 100, "Feed and stream"). It asks nobody for them: the service reads the database for it (service.ts),
 * the mock tells it what happens in memory.
 */
export class EventHub {
  readonly #users = new Map<UserId, Connected>();
  /** Streams by the second in which they get their comment. */
  readonly #slots: Set<EventStream>[] = Array.from({ length: SLOTS }, () => new Set());
  readonly #readPage: ReadPage;
  readonly #on: HubListener;
  #joined = 0;
  #second = 0;
  #size = 0;

  constructor(readPage: ReadPage, on: HubListener) {
    this.#readPage = readPage;
    this.#on = on;
  }

  get size(): number {
    return this.#size;
  }

  userIds(): UserId[] {
    return [...this.#users.keys()];
  }

  *streams(): Iterable<EventStream> {
    for (const { streams } of this.#users.values()) yield* streams;
  }

  /** The streams of a user, oldest first. */
  streamsOf(userId: UserId): EventStream[] {
    return [...(this.#users.get(userId)?.streams ?? [])];
  }

  /** Takes a stream in: it hears of all that is told from now on. */
  join(stream: EventStream): void {
    const connected = this.#users.get(stream.userId) ?? { streams: new Set(), told: new ToldStates() };
    this.#users.set(stream.userId, connected);
    connected.streams.add(stream);
    this.#slots[this.#joined % SLOTS]?.add(stream);
    this.#joined += 1;
    this.#size += 1;
  }

  /** Lets a stream go that has ended. */
  leave(stream: EventStream, reason: EndReason): void {
    const connected = this.#users.get(stream.userId);
    if (connected?.streams.delete(stream) !== true) return;
    if (connected.streams.size === 0) this.#users.delete(stream.userId);
    for (const slot of this.#slots) slot.delete(stream);
    this.#size -= 1;
    this.#on.end(stream, reason);
  }

  /**
   * Brings a stream that has joined from its cursor to live: it sends the pages of its feed until nothing lies between
   * them and what the hub tells. A failed read is tried again for as long as the client stays.
   * @param first the page beyond the cursor, where it is read already
   */
  async catchUp(stream: EventStream, first?: EventPage): Promise<void> {
    let page = first;
    for (let failures = 0; stream.endedBy === undefined;) {
      try {
        page ??= await this.#readPage(stream.userId, stream.cursor, streamLimits.pageSize);
      } catch (error) {
        failures += 1;
        if (failures === 1) this.#on.failure(error);
        const pauseMs = Math.min(streamLimits.lookAgainMaxMs, streamLimits.lookEveryMs * failures);
        await sleep(pauseMs, undefined, { ref: false });
        continue;
      }
      failures = 0;
      if (isOutOfRange(stream.cursor, page)) stream.resync(page);
      else stream.sendPage(page);
      await stream.drained();
      if (stream.cursor >= page.lastSeq && stream.goLive()) return;
      page = undefined;
    }
  }

  /** Hands new events to the streams of their users. @param events in the order of commits */
  tell(events: readonly ReadEvent[]): void {
    const told = new Set<EventStream>();
    for (const event of events) {
      const connected = this.#users.get(event.user_id);
      if (!connected) continue;
      let text: string | undefined;
      const textOf = (): string => (text ??= messages.event(event));
      for (const stream of connected.streams) {
        if (!stream.hear(event, textOf)) void this.catchUp(stream);
        told.add(stream);
      }
    }
    for (const stream of told) stream.flush();
  }

  /** Catches all streams up anew: what was told may not be what is written any more. */
  startOver(): void {
    for (const stream of this.streams()) if (stream.forget()) void this.catchUp(stream);
  }

  /** Tells users what has changed of their balances and meters. */
  tellStates(states: LiveStates): void {
    for (const [userId, ofUser] of statesByUser(states)) {
      const connected = this.#users.get(userId);
      if (!connected) continue;
      const news = connected.told.take(ofUser);
      for (const stream of connected.streams) {
        if (!stream.isLive) continue;
        const text = stream.knowsState ? news.changed(stream.onlyOf) : news.whole(stream.onlyOf);
        stream.knowsState = true;
        if (text !== '') stream.tell(text);
      }
    }
  }

  /** The rentals that were not over when their users were told last. */
  metered(): RentalId[] {
    return [...this.#users.values()].flatMap(({ told }) => [...told.metered()]);
  }

  /** Sends the comments that are due in the next second of 15. */
  comment(): void {
    this.#second = (this.#second + 1) % SLOTS;
    for (const stream of this.#slots[this.#second] ?? []) stream.tell(messages.comment);
  }

  /** Ends a stream, and lets it go. */
  close(stream: EventStream, reason: CloseReason): void {
    stream.close(reason);
    this.leave(stream, reason);
  }
}

/** A stream gets its comment in one second of as many; the others get theirs in the others. */
const SLOTS = streamLimits.commentEveryMs / 1_000;
