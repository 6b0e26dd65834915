import type { ApiKey } from '@gpu-rental/client';

export type ApiKeyState = 'live' | 'suspended' | 'expired' | 'revoked';

/** What a key is by now. */
export function apiKeyState(
  { revokedAt, expiresAt, suspendedAt }: Pick<ApiKey, 'revokedAt' | 'expiresAt' | 'suspendedAt'>,
  nowMs: number,
): ApiKeyState {
  if (revokedAt !== null) return 'revoked';
  if (Date.parse(expiresAt) <= nowMs) return 'expired';
  return suspendedAt === null ? 'live' : 'suspended';
}
