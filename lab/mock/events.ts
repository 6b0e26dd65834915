import { randomInt, randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { EventPage, EventSelection, ReadEvent } from '../../adapters/postgres/events/event-reads.js';
import { newId } from '../../adapters/ids.js';
import { EventHub } from '../../api/events/hub.js';
import type { CloseReason } from '../../api/events/messages.js';
import type { StreamStart } from '../../api/events/service.js';
import { EventStream } from '../../api/events/stream.js';
import type { EventData, EventType } from '../../domain/events/events.js';
import { streamLimits } from '../../domain/events/stream-limits.js';
import type { ApiKeyId, RentalId, UserId } from '../../domain/ids.js';
import { isFinal } from '../../domain/rentals/rental.js';
import type { Account } from './account.js';
import { readBurn } from './burn.js';

/** The events that the mock never tells, because nothing here gives cause for them (decision 61, "The mock"). */
export const untoldEvents = [
  'rental.script_fetched',
  'rental.ports_closed',
  'topup.reversed',
  'topup.reinstated',
  'webhook.switched_off',
  'feed.resync',
] as const satisfies readonly EventType[];

type ToldEvent = Exclude<EventType, (typeof untoldEvents)[number]>;

/** What happened in the mock, by user, and the live streams of it (decision 100, "Feed and stream"). */
export class MockEvents {
  readonly #feeds = new Map<UserId, ReadEvent[]>();
  /** The API keys that opened rentals, by rental. */
  readonly #keys = new Map<string, ApiKeyId>();
  readonly #now: () => Date;
  readonly #hub = new EventHub(
    (userId, after, limit) => Promise.resolve(this.read(userId, { after, limit })),
    { end: () => undefined, failure: () => undefined },
  );
  #no = 0;

  constructor(now: () => Date) {
    this.#now = now;
  }

  /** Makes known which API key opened a rental, before anything is told of it. */
  isOfKey(rentalId: RentalId, key: ApiKeyId): void {
    this.#keys.set(rentalId, key);
  }

  /** The number of the newest event of a user; 0: there is none. */
  headOf(userId: UserId): number {
    return this.#feeds.get(userId)?.length ?? 0;
  }

  /** Makes something known to have happened. */
  tell<T extends ToldEvent>(userId: UserId, type: T, entityId: string, data: EventData[T]): ReadEvent {
    const feed = this.#feeds.get(userId) ?? [];
    this.#feeds.set(userId, feed);
    this.#no += 1;
    const event: ReadEvent = {
      ...{ no: this.#no, id: newId('evt'), user_id: userId, seq: feed.length + 1 },
      ...{ type, entity_id: entityId, data: { ...data }, at: this.#now() },
      api_key_id: this.#keys.get(entityId) ?? null,
    };
    feed.push(event);
    this.#hub.tell([event]);
    return event;
  }

  /** Reads a page, as the service does. Nothing is ever pruned here. */
  read(userId: UserId, { after = 0, before, types, limit, onlyOf }: EventSelection): EventPage {
    const feed = this.#feeds.get(userId) ?? [];
    const isBackward = before !== undefined;
    const looked = isBackward ? feed.slice(0, Math.max(0, before - 1)).toReversed() : feed.slice(after);
    const wanted = looked
      .filter(({ type }) => types?.includes(type) ?? true)
      .filter(
        ({ api_key_id: key, type }) => onlyOf === undefined || key === onlyOf || type === 'feed.resync',
      );
    const events = wanted.slice(0, limit);
    const isFull = events.length === limit;
    const end = isBackward ? Math.min(1, feed.length, before) : Math.max(after, feed.length);
    const lookedAtSeq = isFull ? (events.at(-1)?.seq ?? 0) : end;
    return { firstSeq: 1, lastSeq: feed.length, events, lookedAtSeq };
  }

  /** Opens a stream, as the service does. */
  open({ after, ...request }: StreamStart, response: ServerResponse, begin: () => void): void {
    const stream = new EventStream({ ...request, id: randomUUID() }, response, randomInt);
    response.once('close', () => {
      stream.left();
      this.#hub.leave(stream, stream.endedBy ?? 'client_left');
    });
    const others = this.#hub.streamsOf(request.userId);
    const surplus = others.slice(0, Math.max(0, others.length - streamLimits.ofUser + 1));
    for (const oldest of surplus) this.#hub.close(oldest, 'too_many_streams');
    this.#hub.join(stream);
    begin();
    stream.begin(after, this.read(request.userId, { limit: 1 }));
    void this.#hub.catchUp(stream);
  }

  /** Ends the streams of a session that has ended, or has another token. */
  endSession(userId: UserId, tokenHash: Buffer, reason: CloseReason = 'session_ended'): void {
    for (const stream of this.#hub.streamsOf(userId)) {
      const { holder } = stream;
      if (holder.kind === 'session' && holder.tokenHash.equals(tokenHash)) this.#hub.close(stream, reason);
    }
  }

  /** Ends the streams of an API key that was revoked, or has expired. */
  endKeys(hasEnded: (keyId: ApiKeyId) => boolean): void {
    for (const stream of this.#hub.streams()) {
      const { holder } = stream;
      if (holder.kind === 'key' && hasEnded(holder.keyId)) this.#hub.close(stream, 'key_ended');
    }
  }

  /** Tells connected users their balance and meters, and sends the comments that are due. Once a second. */
  tick(accounts: Iterable<Account>): void {
    this.#hub.comment();
    const connected = new Set(this.#hub.userIds());
    const seen = [...accounts].filter(({ user }) => connected.has(user.id));
    const metered = new Set(this.#hub.metered());
    this.#hub.tellStates({
      readAt: this.#now(),
      balances: seen.map((account) => ({
        userId: account.user.id,
        availableCents: account.wallet.availableCents,
        reservedCents: account.wallet.reservedCents,
        burnPerHourCents: readBurn(account).burnPerHourCents,
        ledgerSeq: account.wallet.entries.length,
      })),
      meters: seen.flatMap(({ user, rentals }) =>
        rentals
          .filter(({ row }) => metered.has(row.id) || (row.running_at !== null && !isFinal(row.status)))
          .map(({ row }) => ({
            userId: user.id,
            rentalId: row.id,
            apiKeyId: row.api_key_id,
            status: row.status,
            pricePerHourCents: row.price_per_hour_cents,
            chargedCents: row.charged_cents - row.refunded_cents,
            holdCents: row.hold_cents,
            runningAt: row.running_at,
            endedAt: row.ended_at,
          })),
      ),
    });
  }
}
