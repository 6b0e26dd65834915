import { verifyAuthenticationResponse, verifyRegistrationResponse } from '@simplewebauthn/server';
import { createHash, randomBytes } from 'node:crypto';
import type { UserId } from '../../domain/ids.js';
import { accountLimits } from '../../domain/accounts/limits.js';

/**
 * WebAuthn, level 3, as far as passkeys need it (decision 178, "Sign-in by passkey"): what a browser is asked, and the proof of
 * what it answers. Each passkey names its user itself, and its device has made sure of the person.
 */

/** For whom passkeys are: browsers give them to pages of this origin alone. */
export interface RelyingParty {
  /** A domain. */
  readonly id: string;
  readonly origin: string;
}

/** The relying party that pages of this address are. */
export function relyingPartyOf(dashboardUrl: string): RelyingParty {
  const { hostname, origin } = new URL(dashboardUrl);
  return { id: hostname, origin };
}

/** What an authenticator is asked to sign: 256 random bits. */
export function newChallenge(): string {
  return randomBytes(32).toString('base64url');
}

/** EdDSA, ES256 and RS256, the preferred one first (RFC 8152 8, RFC 8812 2). */
const algorithms = [-8, -7, -257];

/** A passkey that a user has, or is asked for. */
interface Known {
  readonly credential_id: Buffer;
  readonly transports: readonly string[];
}

/**
 * What a browser is asked when a passkey is made.
 * @param has the user's other passkeys: an authenticator that keeps one of them makes no second one
 */
export function creationOptions(
  { id }: Pick<RelyingParty, 'id'>,
  user: { readonly userId: UserId; readonly email: string },
  has: readonly Known[],
  challenge: string,
) {
  return {
    rp: { id, name: 'GPU rental' },
    user: { id: handleOf(user.userId), name: user.email, displayName: user.email },
    challenge,
    pubKeyCredParams: algorithms.map((alg) => ({ type: publicKey, alg })),
    timeout: accountLimits.passkeyChallengeMs,
    excludeCredentials: has.map(named),
    authenticatorSelection: {
      residentKey: 'required' as const,
      requireResidentKey: true as const,
      userVerification: 'required' as const,
    },
    attestation: 'none' as const,
  };
}

/**
 * What a browser is asked when a passkey is to be shown.
 * @param allowed the passkeys of which it takes one; empty: any
 */
export function requestOptions(
  { id }: Pick<RelyingParty, 'id'>,
  allowed: readonly Known[],
  challenge: string,
) {
  return {
    rpId: id,
    challenge,
    timeout: accountLimits.passkeyChallengeMs,
    allowCredentials: allowed.map(named),
    userVerification: 'required' as const,
  };
}

const publicKey = 'public-key' as const;

function named({ credential_id, transports }: Known) {
  return { type: publicKey, id: credential_id.toString('base64url'), transports };
}

/** The user's handle in an authenticator: the bytes of their id. */
function handleOf(userId: UserId): string {
  return Buffer.from(userId).toString('base64url');
}

/** The challenge that an answer claims to have signed; undefined where it can't be read. */
export function challengeOf(clientDataJson: string): string | undefined {
  try {
    const read = JSON.parse(Buffer.from(clientDataJson, 'base64url').toString('utf8')) as unknown;
    const { challenge } = read as { challenge?: unknown };
    return typeof challenge === 'string' ? challenge : undefined;
  } catch {
    return undefined;
  }
}

/** By what a challenge is kept. */
export function hashOfChallenge(challenge: string): Buffer {
  return createHash('sha256').update(`passkey-challenge:${challenge}`).digest();
}

/** What every answer of a browser holds (PublicKeyCredential.toJSON()); bytes are in base64url. */
interface Answered<Response> {
  readonly id: string;
  readonly rawId: string;
  readonly type: 'public-key';
  readonly response: Response & { readonly clientDataJSON: string };
}

/** What a browser answers when a passkey was made. */
export type MadeAnswer = Answered<{
  readonly attestationObject: string;
  readonly transports?: readonly string[];
}>;

/** What a browser answers when a passkey was shown. */
export type ShownAnswer = Answered<{
  readonly authenticatorData: string;
  readonly signature: string;
  readonly userHandle?: string | null;
}>;

/** The passkey that an authenticator has made. */
export interface MadePasskey {
  readonly credentialId: Buffer;
  /** COSE_Key. */
  readonly publicKey: Buffer;
  readonly counter: number;
  readonly transports: readonly string[];
  readonly backupEligible: boolean;
  readonly backedUp: boolean;
}

/** Checks what a browser answers when a passkey was made. @returns undefined when it is not right */
export async function readMade(
  rp: RelyingParty,
  challenge: string,
  answer: MadeAnswer,
): Promise<MadePasskey | undefined> {
  const checked = await orUndefined(
    verifyRegistrationResponse({
      response: {
        ...partsOf(answer),
        response: {
          clientDataJSON: answer.response.clientDataJSON,
          attestationObject: answer.response.attestationObject,
          transports: [...(answer.response.transports ?? [])],
        },
      },
      expectedChallenge: challenge,
      expectedOrigin: rp.origin,
      expectedRPID: rp.id,
      requireUserVerification: true,
      supportedAlgorithmIDs: algorithms,
    }),
  );
  if (!checked?.verified) return undefined;
  const { credential, credentialDeviceType, credentialBackedUp } = checked.registrationInfo;
  return {
    credentialId: Buffer.from(credential.id, 'base64url'),
    publicKey: Buffer.from(credential.publicKey),
    counter: credential.counter,
    transports: credential.transports ?? [],
    backupEligible: credentialDeviceType === 'multiDevice',
    backedUp: credentialBackedUp,
  };
}

/** What an authenticator tells when it signs. */
export interface ShownPasskey {
  readonly counter: number;
  readonly backedUp: boolean;
}

/**
 * Checks what a browser answers when a passkey was shown, but for its counter. @returns undefined when it is not right
 */
export async function readShown(
  rp: RelyingParty,
  challenge: string,
  answer: ShownAnswer,
  passkey: { readonly user_id: UserId; readonly credential_id: Buffer; readonly public_key: Buffer },
): Promise<ShownPasskey | undefined> {
  const { clientDataJSON, authenticatorData, signature, userHandle } = answer.response;
  const own = handleOf(passkey.user_id);
  // Only an answer about passkeys that we named may leave out whose it is.
  if ((userHandle ?? own) !== own) return undefined;
  const checked = await orUndefined(
    verifyAuthenticationResponse({
      response: {
        ...partsOf(answer),
        response: { clientDataJSON, authenticatorData, signature },
      },
      expectedChallenge: challenge,
      expectedOrigin: rp.origin,
      expectedRPID: rp.id,
      requireUserVerification: true,
      credential: {
        id: passkey.credential_id.toString('base64url'),
        publicKey: new Uint8Array(passkey.public_key),
        // The row's own is compared under its lock.
        counter: 0,
      },
    }),
  );
  if (!checked?.verified) return undefined;
  return {
    counter: checked.authenticationInfo.newCounter,
    backedUp: checked.authenticationInfo.credentialBackedUp,
  };
}

/** What of an answer the library reads beside its response: no extension is asked for, so none is read. */
function partsOf({ id, rawId, type }: Answered<unknown>) {
  return { id, rawId, type, clientExtensionResults: {} };
}

/** The library throws for whatever a browser, or an attacker, sends that is not right. */
async function orUndefined<T>(checking: Promise<T>): Promise<T | undefined> {
  try {
    return await checking;
  } catch {
    return undefined;
  }
}

/**
 * Tells whether a counter goes on. Authenticators that count nothing always say 0; one that counts never says the same
 * twice (WebAuthn 6.1.1).
 */
export function goesOn(counter: number, before: number): boolean {
  return counter > before || (counter === 0 && before === 0);
}
