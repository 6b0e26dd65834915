import {
  requestLoginCode,
  type CodeRequest,
  type CodeWish,
} from '../../adapters/postgres/accounts/login-codes.js';
import { insertMail } from '../../adapters/postgres/upkeep/outbox.js';
import { accountLimits } from '../../domain/accounts/limits.js';
import type { ApiDeps } from '../context.js';

/**
 * Mails a one-time code, unless the asker or the mailbox has had enough (decisions 8, 84).
 * @param provider what the identity provider is called, of which the code links an account
 */
export async function mailCode(deps: ApiDeps, wish: CodeWish, provider?: string): Promise<CodeRequest> {
  return deps.db.transaction(async (trx) => {
    const made = await requestLoginCode(trx, wish, deps.settings.codeRequestsPerClientPerHour);
    if (made.outcome === 'made') await insertMail(trx, mailOf(made.id, wish.email, made.code, provider));
    return made;
  });
}

/** The code stands in the body only, which is wiped once it is sent (decision 36). */
function mailOf(id: number, recipient: string, code: string, provider: string | undefined) {
  const linked = [
    `It confirms that a sign-in with ${provider} was yours: from then on that account signs in here without a code.`,
  ];
  return {
    cause: { kind: 'login_code' as const, codeId: id },
    recipient,
    subject: 'Your sign-in code',
    body: [
      `Your sign-in code is ${code}.`,
      '',
      ...(provider === undefined ? [] : linked),
      `It is valid for ${accountLimits.codeValidMs / 60_000} minutes and can be used once.`,
      'If you did not ask for it, you can ignore this mail: nobody can sign in without the code.',
    ].join('\n'),
    wipeAfterSending: true,
  };
}
