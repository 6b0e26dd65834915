import { accountLimits } from '../accounts/limits.js';
import { messageOf, type Message } from './message.js';

/**
 * Brings a one-time code. The code stands in the text only, which is wiped once it is sent (decision 36, "The mail
 * outbox").
 * @param provider the name of the identity provider whose account the code links
 */
export function loginCodeMail({ code, provider }: { code: string; provider: string | undefined }): Message {
  const linked = `It confirms that a sign-in with ${provider} was yours: from then on that account signs in here without a code.`;
  return messageOf('Your sign-in code', [
    `Your sign-in code is ${code}.`,
    '',
    ...(provider === undefined ? [] : [linked]),
    `It is valid for ${accountLimits.codeValidMs / 60_000} minutes and can be used once.`,
    'If you did not ask for it, you can ignore this mail: nobody can sign in without the code.',
  ]);
}

/**
 * Brings the code by which a session shows anew whose it is (decision 110, "Sessions and fresh proof").
 * @param device from what it is used, as GET /v1/auth/sessions tells it; null where nothing is known
 */
export function proofCodeMail({ code, device }: { code: string; device: string | null }): Message {
  return messageOf('Your confirmation code', [
    `Your confirmation code is ${code}.`,
    '',
    `It was asked for where you are signed in${device === null ? '' : ` (${device})`}, to make an API key or a webhook, or to raise a limit.`,
    `It is valid for ${accountLimits.codeValidMs / 60_000} minutes, works there alone, and can be used once. Give it to nobody.`,
    'If you did not ask for it, somebody else is signed in to your account: sign in, look at where you are signed in, and end what you do not know.',
  ]);
}
