/** The identity providers that the service knows how to ask (decision 11, "Sign-in elsewhere"). */
export type IdentityProviderId = 'google' | 'github' | 'oidc';

/** An account at an identity provider, and the address that its owner has shown to be theirs. */
export interface VerifiedIdentity {
  /** Who vouches. */
  readonly issuer: string;
  /** Which account there: it stays the same when addresses change (OpenID Connect Core 5.7). */
  readonly subject: string;
  readonly email: string;
}

/** Somebody else who tells which account a person has there, and which e-mail address is theirs. */
export interface IdentityProvider {
  readonly id: IdentityProviderId;
  /** What its button says. */
  readonly name: string;
  /**
   * The page at which the person agrees.
   * @throws IdentityError
   */
  findSignInPage(request: IdentityRequest): Promise<URL>;
  /**
   * Trades the code that the provider sent back for the person's account there. No token outlives the call.
   * @returns undefined when there is no address that the provider calls verified
   * @throws IdentityError
   */
  findVerifiedIdentity(answer: IdentityAnswer): Promise<VerifiedIdentity | undefined>;
}

export interface IdentityRequest {
  /** Ours, as it is registered at the provider. */
  readonly callbackUrl: string;
  readonly state: string;
  readonly codeVerifier: string;
  readonly nonce: string;
}

export interface IdentityAnswer extends IdentityRequest {
  /** The query of the callback, as it came. */
  readonly query: string;
}

/**
 * - denied: the person, or the provider for them, said no
 * - unavailable: the provider could not be asked, or had a failure of its own: later it may work
 * - refused: what it answered is not right, or it did not accept what we sent
 */
export type IdentityFault = 'denied' | 'unavailable' | 'refused';

/** Carries no cause: what the libraries attach holds answers of providers, with tokens in them. */
export class IdentityError extends Error {
  override readonly name = 'IdentityError';
  constructor(
    readonly fault: IdentityFault,
    /** For operators: codes and names, nothing of the answer's content. */
    readonly reason: string,
  ) {
    super(`the identity provider: ${fault} (${reason})`);
  }
}
