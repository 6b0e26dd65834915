import type { Listing } from '@gpu-rental/client';
import { queryOptions } from '@tanstack/react-query';
import { api } from './client.js';
import { Gate } from './gate.js';

/** What the service filters listings by. */
export interface ListingFilter {
  readonly familyId?: string;
  readonly gpuCount?: Listing['gpuCount'];
  readonly minVramGb?: number;
  readonly minVcpus?: number;
  readonly minMemoryGb?: number;
  readonly minDiskGb?: number;
  /** A country, or one of us, eu and apac. */
  readonly region?: string;
  readonly maxPricePerHourCents?: number;
}

const MINUTE = 60_000;

/** More are never shown at once: the cheapest come first. */
export const MAX_LISTINGS = 1_000;

/** The kinds of GPU with the lowest price of each. */
export const familiesQuery = queryOptions({
  queryKey: ['families'],
  queryFn: ({ signal }) => api.catalog.families({ signal }),
  staleTime: MINUTE,
});

/** The machines on offer that a filter leaves, cheapest first. */
export const listingsQuery = (filter: ListingFilter = {}) =>
  queryOptions({
    queryKey: ['listings', filter],
    queryFn: ({ signal }) =>
      api.catalog.listings({ ...filter, pageSize: 200 }, { signal }).toArray(MAX_LISTINGS),
    staleTime: MINUTE / 2,
  });

/** A history is some hundred KB of hours: few at a time leave room for what else is asked. */
const histories = new Gate(3);

/** The lowest price of a family by the hour. */
export const historyQuery = (familyId: string) =>
  queryOptions({
    queryKey: ['history', familyId],
    queryFn: ({ signal }) => histories.run(() => api.catalog.history(familyId, {}, { signal }), signal),
    staleTime: 10 * MINUTE,
  });

/** What may be installed on a machine. */
export const templatesQuery = queryOptions({
  queryKey: ['templates'],
  queryFn: ({ signal }) => api.catalog.templates({ signal }),
  staleTime: 60 * MINUTE,
});
