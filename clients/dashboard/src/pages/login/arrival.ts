import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useRouter, useSearch } from '@tanstack/react-router';
import { useCallback, useEffect, useRef, useState } from 'react';
import { meQuery } from '../../data/account.js';
import { noteSignedOut } from '../../data/session-end.js';
import { TabChannel } from '../../live/channel.js';

/** How somebody came to the sign-in, and where they go from here. */
interface Arrival {
  /** Why a sign-in elsewhere failed, or what it still needs. */
  readonly fault: string | undefined;
  /** The address to which a code was mailed already. */
  readonly email: string | undefined;
  readonly returnTo: string;
  readonly goOn: () => void;
}

/** Reads the address once, and goes straight on where somebody is signed in already, or signs in in another tab. */
export function useArrival(): Arrival {
  const { returnTo = '/app', error: fault } = useSearch({ from: '/login' });
  const [email] = useState(readEmail);
  const router = useRouter();
  const queryClient = useQueryClient();
  const hasGone = useRef(false);
  const goOn = useCallback(() => {
    if (hasGone.current) return;
    hasGone.current = true;
    // What the one before looked at is not for the next.
    queryClient.clear();
    router.history.replace(returnTo);
  }, [queryClient, router, returnTo]);
  // A refusal that was just heard is not asked for once more.
  const { data } = useQuery({ ...meQuery, retryOnMount: false });
  useEffect(() => {
    if (data !== undefined) goOn();
  }, [data, goOn]);
  // It is said once.
  useEffect(noteSignedOut, []);
  useEffect(() => {
    const channel = new TabChannel();
    channel.hear(({ kind }) => kind === 'signed-in' && goOn());
    return () => channel.close();
  }, [goOn]);
  return { fault, email, returnTo, goOn };
}

/** Takes the e-mail address out of the page's address, where others could read it. */
function readEmail(): string | undefined {
  const email = new URLSearchParams(location.hash.slice(1)).get('email') ?? undefined;
  if (email !== undefined) history.replaceState(history.state, '', location.pathname + location.search);
  return email;
}
