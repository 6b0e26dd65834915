import { Paged } from '../pages.js';
import type { Event, EventPage } from '../schema.js';
import { followEvents, type StreamItem, type StreamOptions } from '../stream.js';
import type { CallOptions, Transport } from '../transport.js';
import { Noun } from './noun.js';
import type { QueryOf } from './query.js';

/** What happens to the account, numbered without a gap. */
export class Events extends Noun {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    super(transport);
    this.#transport = transport;
  }

  /**
   * The events after a number, oldest first, up to the newest one.
   * @throws ApiError `resync`: what comes after it is not kept any more
   */
  list(
    query: Omit<QueryOf<'/v1/events'>, 'before'> = {},
    options?: CallOptions,
  ): Paged<Event, EventPage, number> {
    return new Paged(
      async (cursor) => {
        const from = cursor ?? query.after;
        const asked = from === undefined ? query : { ...query, after: from };
        const page = await this.call('read', options, (api, init) =>
          api.GET('/v1/events', { ...init, params: { query: asked } }),
        );
        return { page, next: page.lastSeq === (from ?? 0) ? undefined : page.lastSeq };
      },
      ({ events }) => events,
    );
  }

  /** The events before a number, newest first; without one from the newest on. */
  newestFirst(
    query: Omit<QueryOf<'/v1/events'>, 'after'> = {},
    options?: CallOptions,
  ): Paged<Event, EventPage, number> {
    return new Paged(
      async (cursor) => {
        const before = cursor ?? query.before ?? Number.MAX_SAFE_INTEGER;
        const page = await this.call('read', options, (api, init) =>
          api.GET('/v1/events', { ...init, params: { query: { ...query, before } } }),
        );
        // The feed is numbered from 1: below that there is nothing.
        return { page, next: page.lastSeq <= 1 || page.lastSeq === before ? undefined : page.lastSeq };
      },
      ({ events }) => events,
    );
  }

  /**
   * Events as they happen, with balance and meters, over lost connections and without a gap:
   * `for await (const item of gpu.events.stream({ after: 41 }))`. It ends with the loop or the signal.
   * @throws ApiError when the session or key has ended
   */
  stream(options: StreamOptions = {}): AsyncGenerator<StreamItem, never, undefined> {
    return followEvents(this.#transport, options);
  }
}
