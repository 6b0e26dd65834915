/** The identity providers that the service supports (decision 11, "Sign-in elsewhere"). */
export type IdentityProviderId = 'google' | 'github' | 'oidc';

/** An account at an identity provider, and the address that its owner has shown to be theirs. */
export interface VerifiedIdentity {
  /** The issuer that vouches for the account. */
  readonly issuer: string;
  /** The account's id at the issuer: it stays the same when addresses change (OpenID Connect Core 5.7). */
  readonly subject: string;
  readonly email: string;
  /** When the person last showed the provider who they are; left out where it does not tell. */
  readonly authenticatedAt?: Date | undefined;
}

/** A service that tells a person's account there, and which e-mail address is theirs. */
export interface IdentityProvider {
  readonly id: IdentityProviderId;
  /** The text of its button. */
  readonly name: string;
  /**
   * Returns the page at which the person agrees.
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
  /** Our callback, as it is registered at the provider. */
  readonly callbackUrl: string;
  readonly state: string;
  readonly codeVerifier: string;
  readonly nonce: string;
  /** Asks the provider to let the person show anew who they are, where it knows how. */
  readonly wantsFresh?: boolean;
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

/** Carries no cause: the libraries attach answers of providers, with tokens in them. */
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
