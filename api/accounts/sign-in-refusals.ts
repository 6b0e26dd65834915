import { Refusal } from '../../domain/refusal.js';

/** The refusal of a code that is wrong, has lapsed, or was never sent, in the same words. */
export function wrongCode(): Refusal {
  return new Refusal('code_invalid', 'This code is wrong or has expired. Check it, or ask for a new one.');
}

/** The refusal of a passkey, in the same words whatever is wrong with it, and of one that nobody has. */
export function wrongPasskey(): Refusal {
  return new Refusal(
    'passkey_invalid',
    'This passkey did not work. Try again, or use a code that we email you.',
  );
}

/** The refusal of one more mailed code. */
export function tooManyCodes(retryAfterMs: number): Refusal {
  const retryAfterSeconds = Math.ceil(retryAfterMs / 1000);
  return new Refusal(
    'code_request_rate_limited',
    `You asked for a code too recently or too often. Check your last email, or try again in ${retryAfterSeconds} seconds.`,
    { retryAfterSeconds },
  );
}

/** The refusal of a session that has ended, or got another token, while its request was under way. */
export function endedMeanwhile(): Refusal {
  return new Refusal('unauthorized', 'This session has ended. Sign in: POST /v1/auth/request-code.');
}
