import type { Rental, Topup } from '@gpu-rental/client';
import { useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { meQuery } from './account.js';
import { wishes } from './open-wishes.js';
import { findRented } from './rentals.js';
import { findPayment, isOver } from './topups.js';
import { mayYetCome, type Wish, type WishForm } from './wishes.js';

/** What the service makes of wishes. */
interface Made {
  readonly topup: Topup;
  readonly rent: Rental;
}

/** How the service is asked for what it has made under a key, and whether nothing more becomes of that by itself. */
type Lookups = {
  readonly [Form in WishForm]: {
    readonly find: (key: string, signal: AbortSignal) => Promise<Made[Form] | undefined>;
    readonly isOver: (made: Made[Form]) => boolean;
  };
};

const lookups: Lookups = {
  topup: { find: findPayment, isOver },
  rent: { find: findRented, isOver: () => true },
};

/** What became of a wish. */
interface Told<Form extends WishForm> {
  readonly wish: Wish<Form>;
  /** Undefined: the service knows nothing of it. */
  readonly made: Made[Form] | undefined;
  readonly state: 'open' | 'over';
}

const LOOK_EVERY_MS = 2_000;

export type WishBefore<Form extends WishForm> = ReturnType<typeof useWishBefore<Form>>;

/**
 * A wish that was open when the form was opened: its page was left, loaded anew or broken before its outcome was seen.
 * The service is asked what became of it, until that is certain. Nothing is sent again.
 */
export function useWishBefore<Form extends WishForm>(form: Form) {
  const { user } = useSuspenseQuery(meQuery).data;
  const [isThere, setThere] = useState(() => wishes.peek(form, user.id) !== undefined);
  const [over, setOver] = useState<Told<Form>>();
  const isAsked = isThere && over === undefined;
  const { data, error, refetch } = useQuery({
    queryKey: ['wish', form, user.id],
    queryFn: ({ signal }) => lookUp(form, user.id, signal),
    enabled: isAsked,
    refetchInterval: ({ state }) => (state.data?.state === 'open' ? LOOK_EVERY_MS : false),
    staleTime: Infinity,
    gcTime: 0,
  });
  // What is over stays told, whatever is read anew: the wish itself is forgotten once it is.
  if (isAsked && data?.state === 'over') setOver(data);
  const isSeen = over !== undefined;
  useEffect(() => {
    if (isSeen) wishes.forget(form);
  }, [isSeen, form]);
  return {
    userId: user.id,
    /** What the service says of it; null or undefined: nothing yet, or there is none. */
    told: isThere ? (over ?? data) : undefined,
    /** The form waits until it is certain what became of the wish before. */
    isWaiting: isAsked && data !== null,
    error: isAsked && data === undefined ? error : null,
    retry: () => void refetch(),
    /** Somebody has read what became of it. */
    dismiss: () => setThere(false),
  };
}

/** @returns null where this tab has sent none */
async function lookUp<Form extends WishForm>(
  form: Form,
  userId: string,
  signal: AbortSignal,
): Promise<Told<Form> | null> {
  const wish = await wishes.own(form, userId);
  if (!wish) return null;
  const lookup = lookups[form];
  const made = await lookup.find(wish.key, signal);
  const isOpen = made === undefined ? mayYetCome(wish, Date.now()) : !lookup.isOver(made);
  return { wish, made, state: isOpen ? 'open' : 'over' };
}
