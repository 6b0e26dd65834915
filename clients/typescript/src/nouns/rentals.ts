import { byCursor, type Paged } from '../pages.js';
import type {
  ChangeRental,
  Charges,
  CreateRental,
  EndpointToken,
  Meter,
  OpenedRental,
  Quote,
  NewRental,
  Rental,
  RentalPage,
  StoppedRental,
  Telemetry,
} from '../schema.js';
import type { CallOptions, Transport } from '../transport.js';
import { isApiError } from '../errors.js';
import type { Events } from './events.js';
import { newIdempotencyKey } from '../new-key.js';
import { createOrLookUp } from './look-up.js';
import { Noun } from './noun.js';
import type { QueryOf } from './query.js';
import { waitUntilReady, type WaitOptions } from './wait-until-ready.js';

/** What a call takes that may be sent again under one Idempotency-Key. */
export interface KeyedOptions extends CallOptions {
  /**
   * Your own key, kept over a restart of your program: within a day, the same key gets the same answer. Default: a new
   * one for each call, kept over its retries.
   */
  readonly idempotencyKey?: string | undefined;
}

/** What a rental will cost. A quote holds for a minute, and is taken by `rentals.create({ quoteId })`. */
export class Quotes extends Noun {
  create(body: NewRental, options?: CallOptions): Promise<Quote> {
    return this.call('read', options, (api, init) => api.POST('/v1/quotes', { ...init, body }));
  }
}

/** Machines: from the create to the last cent. */
export class Rentals extends Noun {
  readonly #events: Events;

  constructor(transport: Transport, events: Events) {
    super(transport);
    this.#events = events;
  }

  /**
   * Rents a machine, or takes a quote. It is sent again under its Idempotency-Key alone, and where the service knows
   * the rental's id but not its outcome, that rental is looked up and no other one is made.
   * @throws ApiError: with an outcome that stayed unknown, `details` names the rental's id
   */
  async create(body: CreateRental, options?: KeyedOptions): Promise<OpenedRental> {
    const header = { 'Idempotency-Key': options?.idempotencyKey ?? newIdempotencyKey() };
    return createOrLookUp(
      options?.signal,
      this.endOf(options),
      () =>
        this.call('keyed', options, (api, init) =>
          api.POST('/v1/rentals', { ...init, body, params: { header } }),
        ),
      async (id, rest) => openedOf(await this.get(id, rest)),
    );
  }

  get(id: string, options?: CallOptions): Promise<Rental> {
    return this.call('read', options, (api, init) =>
      api.GET('/v1/rentals/{id}', { ...init, params: { path: { id } } }),
    );
  }

  /** Newest first. */
  list(query: QueryOf<'/v1/rentals'> = {}, options?: CallOptions): Paged<Rental, RentalPage> {
    return byCursor(
      (cursor) =>
        this.call('read', options, (api, init) =>
          api.GET('/v1/rentals', { ...init, params: { query: { ...query, ...cursor } } }),
        ),
      ({ rentals }) => rentals,
    );
  }

  /** Changes what is sent: words or limits; null takes a text or a limit away. */
  change(id: string, body: ChangeRental, options?: KeyedOptions): Promise<Rental> {
    const header = { 'Idempotency-Key': options?.idempotencyKey ?? newIdempotencyKey() };
    return this.call('keyed', options, (api, init) =>
      api.PATCH('/v1/rentals/{id}', { ...init, body, params: { path: { id }, header } }),
    );
  }

  /**
   * Ends it: billing ends with the request. Where an answer was lost and the repetition finds it stopped, the figures
   * of that stop are answered.
   */
  async stop(id: string, options?: CallOptions): Promise<StoppedRental> {
    let sent = 0;
    try {
      return await this.call('same', options, (api, init) => {
        sent += 1;
        return api.POST('/v1/rentals/{id}/stop', { ...init, params: { path: { id } } });
      });
    } catch (error) {
      if (sent > 1 && isApiError(error, 'already_stopped')) return { id, ...error.details };
      throw error;
    }
  }

  /**
   * Waits until its machine can be entered.
   * @returns the running rental
   * @throws RentalNotReadyError when it ended before, or the time is over
   */
  waitUntilReady(id: string, options: WaitOptions = {}): Promise<Rental> {
    const looks = {
      read: (rest: CallOptions) => this.get(id, rest),
      follow: (signal: AbortSignal) => this.#events.stream({ types: readyEvents, signal }),
    };
    return waitUntilReady(looks, id, options);
  }

  /** The token that opens an endpoint whose `auth` is `token`. */
  endpointToken(id: string, name: string, options?: CallOptions): Promise<EndpointToken> {
    return this.call('read', options, (api, init) =>
      api.GET('/v1/rentals/{id}/endpoints/{name}/token', { ...init, params: { path: { id, name } } }),
    );
  }

  meter(id: string, options?: CallOptions): Promise<Meter> {
    return this.call('read', options, (api, init) =>
      api.GET('/v1/rentals/{id}/meter', { ...init, params: { path: { id } } }),
    );
  }

  /** Keeps an idle machine running until then: its idle guard does not stop it before. */
  keepAlive(id: string, until: Date | string, options?: CallOptions): Promise<Rental> {
    const body = { until: typeof until === 'string' ? until : until.toISOString() };
    return this.call('same', options, (api, init) =>
      api.POST('/v1/rentals/{id}/keep-alive', { ...init, body, params: { path: { id } } }),
    );
  }

  /** How much its machine was used, where its provider tells it. */
  telemetry(
    id: string,
    query: QueryOf<'/v1/rentals/{id}/telemetry'> = {},
    options?: CallOptions,
  ): Promise<Telemetry> {
    return this.call('read', options, (api, init) =>
      api.GET('/v1/rentals/{id}/telemetry', { ...init, params: { path: { id }, query } }),
    );
  }

  /** What it cost, by hours or days. */
  charges(
    id: string,
    query: QueryOf<'/v1/rentals/{id}/charges'> = {},
    options?: CallOptions,
  ): Promise<Charges> {
    return this.call('read', options, (api, init) =>
      api.GET('/v1/rentals/{id}/charges', { ...init, params: { path: { id }, query } }),
    );
  }
}

const readyEvents = [
  'rental.machine_found',
  'rental.ssh_answered',
  'rental.running',
  'rental.stopping',
  'rental.failed',
] as const;

function openedOf({ id, status, host, port, pricePerHourCents, startedAt, warnings }: Rental): OpenedRental {
  return { id, status, host, port, pricePerHourCents, startedAt, warnings };
}
