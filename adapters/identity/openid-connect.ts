import {
  allowInsecureRequests,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
  type Configuration,
} from 'openid-client';
import {
  clientAuth,
  defaultTimeoutMs,
  signInPage,
  tradeCode,
  type ClientCredentials,
} from './authorization-code.js';
import { identityErrorOf } from './identity-errors.js';
import {
  IdentityError,
  type IdentityAnswer,
  type IdentityProvider,
  type VerifiedIdentity,
} from './identity.js';
import { HOUR } from '../../domain/durations.js';

export interface OpenIdConnectOptions extends ClientCredentials {
  readonly id: 'google' | 'oidc';
  readonly name: string;
  /**
   * The address under which `/.well-known/openid-configuration` stands. http is accepted: the configuration allows it.
   */
  readonly issuerUrl: string;
  /** For each request; default: 5 seconds. */
  readonly timeoutMs?: number;
}

/** The issuer's metadata is read again after this. */
const METADATA_FRESH_MS = HOUR;

/**
 * Signs in with an issuer of OpenID Connect. Its endpoints are discovered at the first use, so that an absent issuer
 * delays no start. ID tokens are checked by signature, issuer, audience, time and nonce.
 */
export function createOpenIdConnect(options: OpenIdConnectOptions): IdentityProvider {
  const metadata = createMetadata(options);
  return {
    id: options.id,
    name: options.name,
    async findSignInPage(request) {
      try {
        const config = await metadata();
        return await signInPage(config, 'openid email', request, {
          nonce: request.nonce,
          ...(request.wantsFresh === true && askForFresh(config)),
        });
      } catch (error) {
        throw identityErrorOf(error);
      }
    },
    async findVerifiedIdentity(answer) {
      try {
        return await verifiedIdentity(await metadata(), answer);
      } catch (error) {
        throw identityErrorOf(error);
      }
    },
  };
}

async function verifiedIdentity(
  config: Configuration,
  answer: IdentityAnswer,
): Promise<VerifiedIdentity | undefined> {
  const tokens = await tradeCode(config, answer, { expectedNonce: answer.nonce });
  const claims = tokens.claims();
  if (!claims) throw new IdentityError('refused', 'no ID token');
  const email =
    claims['email'] === undefined ? await askForEmail(config, tokens, claims.sub) : emailIn(claims);
  if (email === undefined) return undefined;
  return { issuer: claims.iss, subject: claims.sub, email, authenticatedAt: instantOf(claims.auth_time) };
}

/**
 * What makes the issuer ask the person anew: every issuer must know `max_age`, of which 0 means just that, and with it
 * tells `auth_time` (OpenID Connect Core 3.1.2.1, 15.1). `prompt` goes to those alone that list it.
 */
function askForFresh(config: Configuration): Readonly<Record<string, string>> {
  const prompts = config.serverMetadata()['prompt_values_supported'];
  const knowsLogin = Array.isArray(prompts) && prompts.includes('login');
  return { max_age: '0', ...(knowsLogin && { prompt: 'login' }) };
}

/** An instant in whole seconds, as ID tokens hold it; undefined for anything else. */
function instantOf(seconds: unknown): Date | undefined {
  const isInstant = typeof seconds === 'number' && seconds > 0 && seconds <= LAST_SECOND;
  return isInstant ? new Date(seconds * 1_000) : undefined;
}

/** The end of the year 9999. */
const LAST_SECOND = 253_402_300_799;

/** Reads the address from the issuer, which need not put it into the ID token (OpenID Connect Core 5.4). */
async function askForEmail(
  config: Configuration,
  tokens: { readonly access_token: string },
  subject: string,
): Promise<string | undefined> {
  if (config.serverMetadata().userinfo_endpoint === undefined) return undefined;
  return emailIn(await fetchUserInfo(config, tokens.access_token, subject));
}

/** Returns a verified address: only the standard's own `true` is a yes (OpenID Connect Core 5.1). */
function emailIn(claims: Readonly<Record<string, unknown>>): string | undefined {
  const email = claims['email'];
  return typeof email === 'string' && claims['email_verified'] === true ? email : undefined;
}

/**
 * Caches the issuer's metadata: one request serves all who wait; it is repeated when it failed or its answer is old.
 */
function createMetadata(options: OpenIdConnectOptions): () => Promise<Configuration> {
  let held: { config: Promise<Configuration>; untilMs: number } | undefined;
  return async () => {
    if (held && Date.now() < held.untilMs) return held.config;
    const asked = { config: discover(options), untilMs: Date.now() + METADATA_FRESH_MS };
    held = asked;
    try {
      return await asked.config;
    } catch (error) {
      if (held === asked) held = undefined;
      throw error;
    }
  };
}

function discover(options: OpenIdConnectOptions): Promise<Configuration> {
  const issuer = new URL(options.issuerUrl);
  return discovery(issuer, options.clientId, undefined, clientAuth(options.clientSecret), {
    timeout: (options.timeoutMs ?? defaultTimeoutMs) / 1000,
    execute: [
      enableNonRepudiationChecks,
      // Marked as deprecated only so that nobody allows it without thinking.
      // eslint-disable-next-line @typescript-eslint/no-deprecated
      ...(issuer.protocol === 'http:' ? [allowInsecureRequests] : []),
    ],
  });
}
