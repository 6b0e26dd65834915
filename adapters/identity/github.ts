import { allowInsecureRequests, Configuration, fetchProtectedResource } from 'openid-client';
import {
  clientAuth,
  defaultTimeoutMs,
  signInPage,
  tradeCode,
  type ClientCredentials,
} from './authorization-code.js';
import { identityErrorOf, ofStatus } from './identity-errors.js';
import { IdentityError, type IdentityProvider } from './identity.js';

export interface GitHubOptions extends ClientCredentials {
  /** The address of its pages and the token endpoint. */
  readonly siteUrl?: string;
  readonly apiUrl?: string;
  /** For each request; default: 5 seconds. */
  readonly timeoutMs?: number;
}

/**
 * Signs in with GitHub, which is plain OAuth 2: no ID token, no nonce. The token reads the account's number and its
 * primary address, if that is verified, and is then forgotten.
 */
export function createGitHub(options: GitHubOptions): IdentityProvider {
  const { siteUrl = 'https://github.com', apiUrl = 'https://api.github.com' } = options;
  const config = configurationOf(options, siteUrl);
  return {
    id: 'github',
    name: 'GitHub',
    findSignInPage: (request) => signInPage(config, 'user:email', request),
    async findVerifiedIdentity(answer) {
      try {
        const { access_token: token } = await tradeCode(config, answer);
        const email = primaryVerified(await read(config, token, `${apiUrl}/user/emails?per_page=100`));
        if (email === undefined) return undefined;
        return { issuer: siteUrl, subject: numberOf(await read(config, token, `${apiUrl}/user`)), email };
      } catch (error) {
        throw identityErrorOf(error);
      }
    },
  };
}

function configurationOf(options: GitHubOptions, siteUrl: string): Configuration {
  const base = `${siteUrl}/login/oauth`;
  const config = new Configuration(
    {
      issuer: base,
      authorization_endpoint: `${base}/authorize`,
      token_endpoint: `${base}/access_token`,
      token_endpoint_auth_methods_supported: ['client_secret_post'],
    },
    options.clientId,
    undefined,
    clientAuth(options.clientSecret),
  );
  config.timeout = (options.timeoutMs ?? defaultTimeoutMs) / 1000;
  // Marked as deprecated only so that nobody allows it without thinking: only stand-ins are asked over http.
  // eslint-disable-next-line @typescript-eslint/no-deprecated
  if (siteUrl.startsWith('http:')) allowInsecureRequests(config);
  return config;
}

async function read(config: Configuration, token: string, address: string): Promise<unknown> {
  const url = new URL(address);
  const headers = new Headers({
    accept: 'application/vnd.github+json',
    'x-github-api-version': '2022-11-28',
  });
  const response = await fetchProtectedResource(config, token, url, 'GET', null, headers);
  if (response.ok) return response.json();
  await response.body?.cancel();
  throw ofStatus(response.status);
}

/** Returns the account's number, which it keeps for good; its name can be given up, and taken by another person. */
function numberOf(user: unknown): string {
  const id = typeof user === 'object' && user !== null && 'id' in user ? user.id : undefined;
  if (!Number.isSafeInteger(id)) throw new IdentityError('refused', 'no number of the account');
  return String(id);
}

function primaryVerified(emails: unknown): string | undefined {
  if (!Array.isArray(emails)) throw new IdentityError('refused', 'no list of addresses');
  const primary = (emails as unknown[]).find(isPrimary);
  return primary?.verified === true && typeof primary.email === 'string' ? primary.email : undefined;
}

function isPrimary(entry: unknown): entry is { primary: true; verified?: unknown; email?: unknown } {
  return typeof entry === 'object' && entry !== null && 'primary' in entry && entry.primary === true;
}
