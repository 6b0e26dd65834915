import { isApiError } from '@gpu-rental/client';
import { useQueryClient, useSuspenseQuery } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { useEffect, type ReactNode } from 'react';
import { meQuery } from '../data/account.js';
import { forgetForm } from '../data/before-leaving.js';
import { api } from '../data/client.js';
import { useIsClosing } from '../data/is-closing.js';
import { wishes } from '../data/open-wishes.js';
import { onSignedOut } from '../data/query-client.js';
import { endReason, noteSignedIn, noteSignedOut } from '../data/session-end.js';
import { Live } from './live.js';

/** Keeps all pages of who is signed in at what the service says, and leaves once somebody else is, or nobody. */
export function LiveProvider({ children }: { readonly children: ReactNode }) {
  const { data } = useSuspenseQuery(meQuery);
  const userId = data.user.id;
  const queryClient = useQueryClient();
  const router = useRouter();
  const isClosing = useIsClosing();
  useEffect(() => noteSignedIn(isClosing), [isClosing]);
  useEffect(() => {
    // A new document: nothing of the one may stay in memory when the next one looks.
    const goTo = (address: string): void => {
      stop();
      location.replace(address);
    };
    let isSigningOut = false;
    const forget = (): void => {
      wishes.clear();
      forgetForm();
    };
    // Nobody is led to what the one before looked at.
    const leave = (): void => {
      noteSignedOut();
      forget();
      goTo('/login');
    };
    const sessionEnded = (): void => {
      if (isSigningOut) leave();
      else goTo(signInThenBackTo(router.state.location.href));
    };
    let isAsking = false;
    // A request that began before a proof, which gives the session another cookie, may be refused after it.
    const refused = (): void => {
      if (isAsking) return;
      isAsking = true;
      void api.auth
        .me()
        .catch((error: unknown) => isApiError(error, 'unauthorized') && sessionEnded())
        .finally(() => (isAsking = false));
    };
    const live = new Live({
      userId,
      queryClient,
      onSigningOut: (isAsked) => {
        isSigningOut = isAsked;
      },
      onSignedOut: leave,
      onRefused: refused,
      onOtherUser: () => {
        forget();
        goTo('/app');
      },
    });
    const stopListening = onSignedOut(refused);
    const stop = (): void => {
      stopListening();
      live.stop();
    };
    return stop;
  }, [userId, queryClient, router]);
  return <>{children}</>;
}

const signInThenBackTo = (returnTo: string): string =>
  `/login?${new URLSearchParams({ error: endReason() ?? 'session_ended', returnTo }).toString()}`;
