import type { NewRental, Quote } from '@gpu-rental/client';
import {
  hashKey,
  keepPreviousData,
  queryOptions,
  type QueryClient,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { useRef } from 'react';
import { makeQuote, takeQuote } from '../../data/rentals.js';
import { holdQuote, type HeldQuote } from './quote-state.js';
import { isOutcomeUnknown, isRefused, quoteOfRefusal } from '../../data/outcome.js';

/** A create that was sent: its retries carry the same quote and the same key. */
interface Attempt {
  readonly quoteId: string;
  readonly key: string;
}

/** What was asked for last: its failure is told for as long as the choices are those. */
interface Asked {
  readonly quoteId: string;
  readonly choices: string;
}

/** A quote is asked for anew when the same choices come back later than this. */
const FRESH_MS = 45_000;

const quoteKey = (request: NewRental) => ['quote', request] as const;

const quotingOf = (queryClient: QueryClient, request: NewRental) =>
  queryOptions({
    queryKey: quoteKey(request),
    queryFn: async ({ signal }): Promise<HeldQuote> => {
      const before = queryClient.getQueryData<HeldQuote>(quoteKey(request));
      return holdQuote(await makeQuote(request, signal), before, Date.now());
    },
    staleTime: FRESH_MS,
    gcTime: FRESH_MS,
  });

/**
 * Quotes what the choices would cost, and rents what was quoted.
 * @param isComplete whether all that is to be sent is known by now
 * @param onRented is told the new rental's id
 */
export function useRenting(request: NewRental, isComplete: boolean, onRented: (rentalId: string) => void) {
  const queryClient = useQueryClient();
  const attempt = useRef<Attempt>(undefined);
  const choices = hashKey([request]);
  const quoting = quotingOf(queryClient, request);
  const quote = useQuery({
    ...quoting,
    enabled: isComplete,
    placeholderData: keepPreviousData,
    // A price is never exchanged behind somebody's back: they ask for a new one.
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });
  const renting = useMutation({
    mutationFn: ({ quoteId }: Asked) => {
      const sent = attempt.current;
      attempt.current = sent?.quoteId === quoteId ? sent : { quoteId, key: crypto.randomUUID() };
      return takeQuote(quoteId, attempt.current.key);
    },
    onSuccess: async ({ id }) => {
      await queryClient.invalidateQueries({ queryKey: ['rentals'], refetchType: 'none' });
      await queryClient.invalidateQueries({ queryKey: ['balance'] });
      onRented(id);
    },
    onError: (error) => {
      if (isRefused(error)) attempt.current = undefined;
      const next = quoteOfRefusal(error);
      if (!next) return;
      queryClient.setQueryData<HeldQuote>(quoteKey(request), (before) => holdQuote(next, before, Date.now()));
    },
  });
  /** Somebody pressed while the price of their last choice was on its way: it is taken where it is the one they saw. */
  const early = useMutation({
    mutationFn: async (seen: Quote) => {
      const { quote: next } = await queryClient.query(quoting);
      if (isSamePrice(seen, next)) renting.mutate({ quoteId: next.quoteId, choices });
    },
  });
  const isStale = quote.isFetching || quote.isPlaceholderData;
  const isUnknown = renting.isError && isOutcomeUnknown(renting.error);
  return {
    held: quote.data,
    /** The quote on show is that of other choices, or a new one is under way. */
    isStale,
    quoteError: quote.error,
    renew: () => {
      renting.reset();
      void quote.refetch();
    },
    /** Rents by a quote; while the outcome of a create is not known, by the quote of that one. */
    rent: (seen: Quote) => {
      if (isUnknown) renting.mutate(renting.variables);
      else if (isStale) early.mutate(seen);
      else renting.mutate({ quoteId: seen.quoteId, choices });
    },
    isRenting: renting.isPending || renting.isSuccess || early.isPending,
    failure: isUnknown || renting.variables?.choices === choices ? renting.error : null,
    isUnknown,
    /** The create that failed can be sent again as it was; what was refused for good takes a new quote. */
    canRetry: renting.isError && !isRefused(renting.error),
  };
}

function isSamePrice(one: Quote, other: Quote): boolean {
  return (
    one.pricePerHourCents === other.pricePerHourCents &&
    one.holdCents === other.holdCents &&
    one.worstCaseCents === other.worstCaseCents
  );
}

export type Renting = ReturnType<typeof useRenting>;
