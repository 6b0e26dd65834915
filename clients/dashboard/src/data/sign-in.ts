import { queryOptions, useMutation } from '@tanstack/react-query';
import { api, apiOrigin } from './client.js';

/** The other services by which one may sign in. */
export const providersQuery = queryOptions({
  queryKey: ['providers'],
  queryFn: ({ signal }) => api.auth.providers({ signal }),
  staleTime: 5 * 60_000,
});

/** Where a sign-in by another service begins: the browser goes there. */
export const providerStart = (providerId: string, returnTo: string): string =>
  `${apiOrigin}/v1/auth/oauth/${encodeURIComponent(providerId)}/start?${new URLSearchParams({ returnTo }).toString()}`;

/** Has a code mailed. */
export const useMailCode = () =>
  useMutation({ mutationFn: (email: string) => api.auth.requestCode({ email }) });

export type MailCode = ReturnType<typeof useMailCode>;

/** Signs in by a mailed code. */
export const useGiveCode = () =>
  useMutation({
    mutationFn: (answer: { readonly email: string; readonly code: string }) => api.auth.verifyCode(answer),
  });
