import { accountLimits } from '../../../domain/accounts/limits.js';
import type { SessionId } from '../../../domain/ids.js';
import { hashOfChallenge, newChallenge } from '../../identity/passkeys.js';
import type { Database } from '../database.js';

/** For what a challenge is good, and for whom: a session, or a browser that nobody is signed in with. */
export type ChallengeUse =
  | { readonly purpose: 'registration' | 'proof'; readonly sessionId: SessionId }
  | { readonly purpose: 'sign_in'; readonly browserHash: Buffer };

/** Makes a challenge. It expires after 5 minutes. */
export async function insertChallenge(db: Database, use: ChallengeUse): Promise<string> {
  const challenge = newChallenge();
  await db('passkey_challenges').insert({
    challenge_hash: hashOfChallenge(challenge),
    ...columnsOf(use),
    expires_at: db.raw("clock_ms() + ? * interval '1 millisecond'", [accountLimits.passkeyChallengeMs]),
  });
  return challenge;
}

/**
 * Takes a challenge once: of two simultaneous answers one gets it. Who may not have it takes nothing.
 * @returns false when there is none for this use, or it has expired or was taken before
 */
export async function takeChallenge(db: Database, challenge: string, use: ChallengeUse): Promise<boolean> {
  const taken = await db('passkey_challenges')
    .where({ challenge_hash: hashOfChallenge(challenge), ...columnsOf(use), used_at: null })
    .whereRaw('expires_at > clock_ms()')
    .update({ used_at: db.raw('clock_ms()') });
  return taken === 1;
}

function columnsOf(use: ChallengeUse) {
  if (use.purpose === 'sign_in') return { purpose: use.purpose, browser_hash: use.browserHash };
  return { purpose: use.purpose, session_id: use.sessionId };
}
