import { accountLimits } from '../../domain/accounts/limits.js';
import { MINUTE } from '../../domain/durations.js';
import { Refusal } from '../../domain/refusal.js';
import { keyIdOf, sessionOf, type ApiContext } from '../context.js';

/**
 * Refuses what gives others a way into the account or its money, unless its user has shown lately who they are
 * (decision 110, "Sessions and fresh proof"). It stands behind the route's guard, and before anything is changed. What
 * lowers, revokes or removes never asks for it.
 * @throws Refusal fresh_sign_in_required
 */
export function refuseWhenNotFresh(ctx: ApiContext): void {
  // Whoever made a key that may come here had just shown who they are.
  if (keyIdOf(ctx) !== undefined) return;
  const { isFresh, provedAt } = sessionOf(ctx);
  if (!isFresh) throw notFresh(provedAt);
}

/** The refusal of a session whose user showed too long ago who they are, or never. */
function notFresh(provedAt: Date | null): Refusal {
  const minutes = accountLimits.freshProofMs / MINUTE;
  return new Refusal(
    'fresh_sign_in_required',
    `This needs a sign-in less than ${minutes} minutes old. POST /v1/auth/refresh-proof emails you a code: send it there, then repeat this request.`,
    { provedAt: provedAt?.toISOString() ?? null },
  );
}
