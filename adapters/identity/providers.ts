import type { ClientCredentials } from './authorization-code.js';
import { createGitHub } from './github.js';
import type { IdentityProvider } from './identity.js';
import { createOpenIdConnect } from './openid-connect.js';

/** The enabled identity providers; null is one without credentials. */
export interface IdentitySettings {
  readonly google: ClientCredentials | null;
  readonly github: ClientCredentials | null;
  readonly oidc: (ClientCredentials & { readonly issuerUrl: string; readonly name: string }) | null;
}

export interface IdentityOptions {
  /** The addresses of Google and GitHub; default: their own. */
  readonly googleIssuerUrl?: string;
  readonly githubSiteUrl?: string;
  readonly githubApiUrl?: string;
  /** For each request to any of them; default: 5 seconds. */
  readonly timeoutMs?: number;
}

/** The enabled identity providers, in the order in which a page shows them. */
export function createIdentityProviders(
  { google, github, oidc }: IdentitySettings,
  options: IdentityOptions = {},
): IdentityProvider[] {
  const { googleIssuerUrl = 'https://accounts.google.com', githubSiteUrl, githubApiUrl, timeoutMs } = options;
  const limit = timeoutMs === undefined ? {} : { timeoutMs };
  const site = githubSiteUrl === undefined ? {} : { siteUrl: githubSiteUrl };
  const api = githubApiUrl === undefined ? {} : { apiUrl: githubApiUrl };
  return [
    ...(google
      ? [
          createOpenIdConnect({
            id: 'google',
            name: 'Google',
            issuerUrl: googleIssuerUrl,
            ...google,
            ...limit,
          }),
        ]
      : []),
    ...(github ? [createGitHub({ ...github, ...site, ...api, ...limit })] : []),
    ...(oidc ? [createOpenIdConnect({ id: 'oidc', ...oidc, ...limit })] : []),
  ];
}
