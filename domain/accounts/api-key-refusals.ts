import { Refusal } from '../refusal.js';

/** What of a key decides whether it holds. */
export interface KeyFacts {
  readonly revokedAt: Date | null;
  readonly expiresAt: Date;
  readonly isExpired: boolean;
  readonly suspendedAt: Date | null;
}

/** Why a key that is known holds no more. */
export type KeyLapse =
  | { readonly is: 'expired' | 'revoked'; readonly at: Date }
  | { readonly is: 'suspended' };

/** Finds why a key holds no more, of several reasons the plainest one; undefined for a key that holds. */
export function lapseOf({ revokedAt, expiresAt, isExpired, suspendedAt }: KeyFacts): KeyLapse | undefined {
  if (revokedAt !== null) return { is: 'revoked', at: revokedAt };
  if (isExpired) return { is: 'expired', at: expiresAt };
  return suspendedAt === null ? undefined : { is: 'suspended' };
}

/** The refusal of a key: the same when the key is shown and when what it asked for is done. */
export function refusalOfKey(lapse: KeyLapse): Refusal {
  switch (lapse.is) {
    case 'expired':
      return new Refusal('key_expired', 'This API key has expired. Sign in and create another one.', {
        expiredAt: lapse.at.toISOString(),
      });
    case 'revoked':
      return new Refusal('key_revoked', 'This API key was revoked. Sign in and create another one.', {
        revokedAt: lapse.at.toISOString(),
      });
    case 'suspended':
      return new Refusal(
        'key_suspended',
        'This API key is suspended until its owner signs in once: POST /v1/auth/request-code.',
      );
  }
}
