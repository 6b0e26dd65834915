import {
  GpuRental,
  type ChangeRental,
  type Listing,
  type NewRental,
  type Rental,
  type RentalStatus,
} from '@gpu-rental/client';
import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query';
import { api, apiOrigin } from './client.js';

/** The orders in which the service lists rentals. */
export type RentalSort = NonNullable<NonNullable<Parameters<typeof api.rentals.list>[0]>['sort']>;

/** What the service searches rentals for. */
export interface RentalSought {
  /** `key:value`. */
  readonly label?: string;
  readonly search?: string;
}

/** What the service filters and sorts rentals by. */
export interface RentalFilter extends RentalSought {
  readonly status?: RentalStatus;
  /** Whether they still have a machine. */
  readonly live?: boolean;
  readonly sort?: RentalSort;
}

/** The states in which a rental still has a machine. */
export const liveStatuses = ['provisioning', 'running', 'stopping'] as const satisfies RentalStatus[];

/** Tells whether a rental still has a machine, or may have one. */
export const isLive = ({ status }: Pick<Rental, 'status'>): boolean =>
  liveStatuses.some((live) => live === status);

/** Tells whether a rental's machine is on its way, or can be entered. */
export const isUsed = ({ status }: Pick<Rental, 'status'>): boolean =>
  status === 'provisioning' || status === 'running';

/** Rentals, page by page. What was found before stands until the rest is found. */
export const rentalsQuery = (filter: RentalFilter = {}) =>
  infiniteQueryOptions({
    queryKey: ['rentals', 'pages', filter],
    queryFn: ({ pageParam, signal }) =>
      api.rentals.list({ ...filter, pageSize: 50 }, { signal }).page(pageParam),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
    placeholderData: keepPreviousData,
  });

/** What no event tells is asked for: this often, in milliseconds. */
export const WATCH_MS = 2_000;

/**
 * The rentals that still have a machine, all of them: they are few. A machine is taken down some time after its last event,
 * so while one stops they are watched; when one has left them, the lists of the others are read anew.
 */
export const liveRentals = (filter: RentalSought & { readonly sort?: RentalSort }) =>
  queryOptions({
    queryKey: ['rentals', 'live', filter],
    queryFn: async ({ client, queryKey, signal }) => {
      const found = await api.rentals.list({ ...filter, live: true, pageSize: 200 }, { signal }).toArray();
      const before = client.getQueryData<Rental[]>(queryKey) ?? [];
      if (before.some(({ id }) => !found.some((rental) => rental.id === id)))
        void client.invalidateQueries({
          predicate: ({ queryKey: [noun, kind] }) => noun === 'rentals' && kind !== 'live',
        });
      return found;
    },
    refetchInterval: ({ state }) => state.data?.some(({ status }) => status === 'stopping') && WATCH_MS,
    placeholderData: keepPreviousData,
  });

/** All rentals that still have a machine, newest first. */
export const liveRentalsQuery = liveRentals({});

/** How many rentals there are by status, over all of them. */
export const rentalCountsQuery = (sought: RentalSought) =>
  queryOptions({
    queryKey: ['rentals', 'counts', sought],
    queryFn: async ({ signal }) => {
      const page = await api.rentals.list({ ...sought, counts: true, pageSize: 1 }, { signal }).firstPage();
      return page.counts ?? null;
    },
    placeholderData: keepPreviousData,
  });

/** The rentals of some ids, by their ids; at most 100. Those that are nobody's are not among them. */
export const rentalsByIds = (ids: readonly string[]) =>
  queryOptions({
    queryKey: ['rentals', 'ids', ids],
    queryFn: async ({ signal }) => {
      const { rentals } = await api.rentals.list({ ids: [...ids], pageSize: 100 }, { signal }).firstPage();
      return new Map(rentals.map((rental) => [rental.id, rental]));
    },
    placeholderData: keepPreviousData,
  });

/** One rental. */
export const rentalQuery = (id: string) =>
  queryOptions({
    queryKey: ['rental', id],
    queryFn: ({ signal }) => api.rentals.get(id, { signal }),
  });

/** The token that opens an endpoint. It is kept nowhere. */
export const readEndpointToken = async (id: string, name: string): Promise<string> =>
  (await api.rentals.endpointToken(id, name)).token;

/** The meter of one rental, for where the stream has told nothing of it yet. */
export const meterQuery = (id: string) =>
  queryOptions({
    queryKey: ['rental', id, 'meter'],
    queryFn: ({ signal }) => api.rentals.meter(id, { signal }),
  });

export type ChargesInterval = 'hour' | 'day';

/** What a rental cost, by hours or days. */
export const chargesQuery = (id: string, interval: ChargesInterval) =>
  queryOptions({
    queryKey: ['charges', id, interval],
    queryFn: ({ signal }) => api.rentals.charges(id, { interval }, { signal }),
  });

/** Changes name, labels or limits; a retry of the same form sends the same key. */
export const changeRental = (id: string, change: ChangeRental, idempotencyKey: string): Promise<Rental> =>
  api.rentals.change(id, change, { idempotencyKey });

/** Ends a rental: billing ends with the request. */
export const stopRental = (id: string) => api.rentals.stop(id);

/** Asks what a rental would cost. The quote holds for a minute. */
export const makeQuote = (request: NewRental, signal: AbortSignal) => api.quotes.create(request, { signal });

/** What became of a wish to rent, by its key; undefined where the service knows nothing of it. */
export async function findRented(idempotencyKey: string, signal: AbortSignal): Promise<Rental | undefined> {
  const { rentals } = await api.rentals.list({ idempotencyKey }, { signal }).firstPage();
  return rentals[0];
}

/** How long a press waits to hear what was rented before. */
const LOOK_WITHIN_MS = 3_000;

/** When somebody rented such machines lately that still run; nothing where that can't be read now. */
export async function rentedBefore({
  family,
  gpuCount,
}: Pick<Listing, 'family' | 'gpuCount'>): Promise<string[]> {
  try {
    const { rentals } = await api.rentals.list({ pageSize: 20 }, { timeoutMs: LOOK_WITHIN_MS }).firstPage();
    return rentals
      .filter((rental) => isLive(rental) && rental.family === family && rental.gpuCount === gpuCount)
      .map(({ startedAt }) => startedAt);
  } catch {
    return [];
  }
}

/**
 * The client that rents. It sends nothing again by itself: the form tells at once what hinders, and sends again under
 * the same key when asked to.
 */
const renting = new GpuRental({ baseUrl: apiOrigin, retries: 0 });

/** Rents what was quoted. Nothing is bought twice by one quote, however often this is sent. */
export const takeQuote = (quoteId: string, idempotencyKey: string) =>
  renting.rentals.create({ quoteId }, { idempotencyKey });
