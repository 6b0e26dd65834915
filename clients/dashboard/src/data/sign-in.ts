import { isApiError } from '@gpu-rental/client';
import { queryOptions } from '@tanstack/react-query';
import { api, apiOrigin } from './client.js';
import { useMutation } from './use-mutation.js';

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

/** The browser does not keep the cookie, which goes by TLS alone. */
class CookieNotKept extends Error {
  override readonly name = 'CookieNotKept';
}

/** Tells whether a sign-in fails because the page came by plain http. */
export const needsHttps = (error: unknown): boolean =>
  location.protocol === 'http:' && (error instanceof CookieNotKept || isApiError(error, 'forbidden'));

/** Signs in by a mailed code. */
export const useGiveCode = () =>
  useMutation({
    mutationFn: async (answer: { readonly email: string; readonly code: string }) => {
      const given = await api.auth.verifyCode(answer);
      if (location.protocol === 'http:') await assertCookieKept();
      return given;
    },
  });

/** Makes sure that the browser keeps the cookie of a page that came by plain http. @throws CookieNotKept */
export async function assertCookieKept(): Promise<void> {
  try {
    await api.auth.me();
  } catch (error) {
    if (isApiError(error, 'unauthorized')) throw new CookieNotKept();
    throw error;
  }
}
