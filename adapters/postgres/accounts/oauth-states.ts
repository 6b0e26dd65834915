import { createHash, randomBytes } from 'node:crypto';
import { accountLimits } from '../../../domain/accounts/limits.js';
import type { Database } from '../database.js';
import type { OAuthStateRow } from '../rows/tables.js';

/**
 * The secrets of a sign-in that leave this service: the state through the provider, the browser's token by its cookie.
 */
export interface BegunSignIn {
  readonly state: string;
  readonly browserToken: string;
  /** RFC 7636: the provider sees only its hash at first. */
  readonly codeVerifier: string;
  /** OpenID Connect Core 3.1.2.1: ties the ID token to this sign-in. */
  readonly nonce: string;
}

type Provider = OAuthStateRow['provider'];

/**
 * Begins a sign-in at an identity provider, with four secrets of 256 random bits. It expires after 10 minutes.
 * @param returnPath where the dashboard goes on afterwards, from its root
 */
export async function insertOAuthState(
  db: Database,
  provider: Provider,
  returnPath: string,
): Promise<BegunSignIn> {
  const begun = { state: secret(), browserToken: secret(), codeVerifier: secret(), nonce: secret() };
  await db('oauth_states').insert({
    state_hash: hashOf('state', begun.state),
    browser_hash: hashOf('browser', begun.browserToken),
    provider,
    code_verifier: begun.codeVerifier,
    nonce: begun.nonce,
    return_path: returnPath,
    expires_at: db.raw("clock_ms() + ? * interval '1 millisecond'", [accountLimits.oauthStateValidMs]),
  });
  return begun;
}

export interface TakenSignIn {
  readonly codeVerifier: string;
  readonly nonce: string;
  readonly returnPath: string;
}

/**
 * Takes a sign-in that this browser began at this provider, once: of two simultaneous callbacks one gets it. A mismatch
 * takes nothing, so that a stranger who knows the state can't use it up.
 * @returns undefined when there is none, or it has expired or was taken before
 */
export async function takeOAuthState(
  db: Database,
  provider: Provider,
  state: string,
  browserToken: string,
): Promise<TakenSignIn | undefined> {
  if (!SECRET.test(state) || !SECRET.test(browserToken)) return undefined;
  const [row] = await db('oauth_states')
    .where({
      state_hash: hashOf('state', state),
      browser_hash: hashOf('browser', browserToken),
      provider,
      used_at: null,
    })
    .whereRaw('expires_at > clock_ms()')
    .update({ used_at: db.raw('clock_ms()') })
    .returning(['code_verifier', 'nonce', 'return_path']);
  if (!row) return undefined;
  return { codeVerifier: row.code_verifier, nonce: row.nonce, returnPath: row.return_path };
}

const SECRET = /^[A-Za-z0-9_-]{43}$/;

function secret(): string {
  return randomBytes(32).toString('base64url');
}

function hashOf(kind: 'state' | 'browser', token: string): Buffer {
  return createHash('sha256').update(`oauth-${kind}:${token}`).digest();
}
