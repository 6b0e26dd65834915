import { Refusal } from '../refusal.js';

/** Why a key that is known holds no more: said as much when it is shown as when what it asked for is done. */
export const keyRefusals = {
  expired: (at: Date): Refusal =>
    new Refusal('key_expired', 'This API key has expired. Sign in and create another one.', {
      expiredAt: at.toISOString(),
    }),
  revoked: (at: Date): Refusal =>
    new Refusal('key_revoked', 'This API key was revoked. Sign in and create another one.', {
      revokedAt: at.toISOString(),
    }),
  suspended: (): Refusal =>
    new Refusal(
      'key_suspended',
      'This API key is suspended until its owner signs in once: POST /v1/auth/request-code.',
    ),
} as const;
