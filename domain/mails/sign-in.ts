import { accountLimits } from '../accounts/limits.js';
import { answerToSupport, messageOf, type Message } from './message.js';
import { MINUTE } from '../durations.js';

/**
 * Brings a one-time code. The code stands in the text only, which is wiped once it is sent (decision 36, "The mail
 * outbox").
 * @param provider the name of the identity provider whose account the code links
 */
export function loginCodeMail({ code, provider }: { code: string; provider: string | undefined }): Message {
  const linked = `It confirms that you signed in with ${provider}. Next time, you can sign in with ${provider} without a code.`;
  return messageOf('Your sign-in code', [
    `Your sign-in code is ${code}.`,
    '',
    ...(provider === undefined ? [] : [linked]),
    `It works once, within ${accountLimits.codeValidMs / MINUTE} minutes.`,
    'If you did not ask for it, ignore this email: nobody can sign in without the code.',
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
    `It was requested where you are signed in${device === null ? '' : ` (${device})`}, and confirms that it is you. For ${accountLimits.freshProofMs / MINUTE} minutes, that session can create keys, passkeys and webhooks, raise limits, export your data, or close the account.`,
    `It works once, only there, within ${accountLimits.codeValidMs / MINUTE} minutes. Do not share it.`,
    'If you did not ask for it, somebody else is signed in to your account: sign in, open Sessions, and end each one that is not yours.',
  ]);
}

/** Somebody who is signed in closes the account. */
export function closingMail(): Message {
  return messageOf('Your account is being closed', [
    'You asked us to close your account. We stop your machines, end your API keys, send back to your cards what you paid in and did not use, and then erase your personal data.',
    '',
    'You can sign in until then to see how far it is. It can’t be undone.',
    '',
    answerToSupport,
  ]);
}

/** Operators close the account. */
export function closedForUserMail(): Message {
  return messageOf('We are closing your account', [
    'We stop your machines, end your API keys, take what you owe from your balance, send back to your cards what you paid in and did not use, and then erase your personal data. Credit that you did not pay for lapses.',
    '',
    'You can sign in until then to see how far it is. It can’t be undone.',
    '',
    answerToSupport,
  ]);
}

/** Somebody who is signed in takes everything along. */
export function exportMail(): Message {
  return messageOf('Your data was exported', [
    'Somebody who is signed in to your account downloaded everything we hold about you, such as your rentals, payments and emails. No private or API keys are in it.',
    '',
    'If it was you, there is nothing to do. If not, sign in, open Sessions, and end each one that is not yours.',
    '',
    answerToSupport,
  ]);
}
