import { newIdempotencyKey, type Listing, type NewRental, type Quote } from '@gpu-rental/client';
import {
  hashKey,
  keepPreviousData,
  queryOptions,
  type QueryClient,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { forgetFormOf } from '../../data/before-leaving.js';
import { wishes } from '../../data/open-wishes.js';
import { makeQuote, rentedBefore, takeQuote } from '../../data/rentals.js';
import { useMutation } from '../../data/use-mutation.js';
import { DoneBefore, refuseTwice } from '../../data/wishes.js';
import { familyName } from '../../format/machine.js';
import { rentTexts } from '../../texts/rent.js';
import { forgetSoftware, heldSoftware } from './held-software.js';
import { holdQuote, type HeldQuote } from './quote-state.js';
import { isOutcomeUnknown, isRefused, quoteOfRefusal, sendWish } from '../../data/outcome.js';
import { serviceTimeAt } from '../../live/service-clock.js';

/** A create that was sent: its retries carry the same quote and the same key. */
interface Attempt {
  readonly quoteId: string;
  readonly key: string;
}

/** What was asked for last: its failure is told for as long as the choices are those. */
interface Asked {
  readonly quoteId: string;
  readonly choices: string;
  readonly listing: Listing;
  /** It is not asked whether the same was rented a moment ago. */
  readonly isMeant: boolean;
  /** It was sent before, and nobody knows what became of it. */
  readonly isOpen: boolean;
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
    // Money may have come meanwhile.
    staleTime: ({ state }) => ((state.data?.quote.missingCents ?? 0) > 0 ? 0 : FRESH_MS),
    gcTime: FRESH_MS,
  });

/** Takes quotes, once each; what was sent is kept until somebody has seen its outcome. */
function useTaking(userId: string, request: NewRental, onRented: (rentalId: string) => void) {
  const queryClient = useQueryClient();
  const attempt = useRef<Attempt>(undefined);
  const taking = useMutation({
    mutationFn: async ({ quoteId, listing, isMeant, isOpen }: Asked) => {
      if (!isMeant) refuseTwice(await rentedBefore(listing), serviceTimeAt(Date.now()));
      const sent =
        attempt.current?.quoteId === quoteId ? attempt.current : { quoteId, key: newIdempotencyKey() };
      attempt.current = sent;
      const machine = rentTexts.machine(listing.gpuCount, familyName(listing.family));
      wishes.keep('rent', { userId, key: sent.key, body: { quoteId, machine }, atMs: Date.now() });
      return sendWish(isOpen, () => takeQuote(quoteId, sent.key));
    },
    onMutate: heldSoftware,
    onSuccess: (_rental, { listing }, software) => {
      void queryClient.invalidateQueries({ queryKey: ['rentals'], refetchType: 'none' });
      void queryClient.invalidateQueries({ queryKey: ['balance'] });
      forgetFormOf(listing.family);
      forgetSoftware(software);
    },
    onError: (error) => {
      if (isRefused(error)) attempt.current = undefined;
      const next = quoteOfRefusal(error);
      if (!next) return;
      queryClient.setQueryData<HeldQuote>(quoteKey(request), (before) => holdQuote(next, before, Date.now()));
    },
  });
  const isUnknown = taking.isError && isOutcomeUnknown(taking.error);
  const isSeen = taking.isError && !isUnknown;
  useEffect(() => {
    if (isSeen) wishes.forget('rent');
  }, [isSeen]);
  /** Leads to the machine while somebody looks; whoever has gone elsewhere stays there, and Rent tells them later. */
  const take = (asked: Asked): void =>
    taking.mutate(asked, {
      onSuccess: ({ id }) => {
        onRented(id);
        wishes.forget('rent');
      },
    });
  return { taking, take, isUnknown };
}

/**
 * Quotes what the choices would cost, and rents what was quoted.
 * @param userId who rents
 * @param isComplete whether all that is to be sent is known by now
 * @param onRented is told the new rental's id
 */
export function useRenting(
  userId: string,
  request: NewRental,
  isComplete: boolean,
  onRented: (rentalId: string) => void,
) {
  const queryClient = useQueryClient();
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
  const { taking: renting, take, isUnknown } = useTaking(userId, request, onRented);
  const ask = ({ quoteId, listing }: Quote, isMeant: boolean): void =>
    take({ quoteId, listing, choices, isMeant, isOpen: false });
  /** Somebody pressed while the price of their last choice was on its way: it is taken where it is the one they saw. */
  const early = useMutation({
    mutationFn: async (seen: Quote) => {
      const { quote: next } = await queryClient.query(quoting);
      if (isSamePrice(seen, next)) ask(next, false);
    },
  });
  const isStale = quote.isFetching || quote.isPlaceholderData;
  const failure = isUnknown || renting.variables?.choices === choices ? renting.error : null;
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
      if (renting.isError && isUnknown) take({ ...renting.variables, isMeant: true, isOpen: true });
      else if (isStale) early.mutate(seen);
      else ask(seen, failure instanceof DoneBefore);
    },
    isRenting: renting.isPending || renting.isSuccess || early.isPending,
    failure,
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
