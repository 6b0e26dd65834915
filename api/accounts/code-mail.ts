import {
  requestLoginCode,
  type CodeRequest,
  type CodeWish,
} from '../../adapters/postgres/accounts/login-codes.js';
import { insertMail } from '../../adapters/postgres/upkeep/outbox.js';
import { loginCodeMail } from '../../domain/mails/sign-in.js';
import type { ApiDeps } from '../context.js';

/**
 * Mails a one-time code, unless the asker or the mailbox has had enough (decision 8, "One-time codes", and decision 84,
 * "Shares of codes").
 * @param provider the name of the identity provider whose account the code links
 */
export async function mailCode(deps: ApiDeps, wish: CodeWish, provider?: string): Promise<CodeRequest> {
  return deps.db.transaction(async (trx) => {
    const made = await requestLoginCode(trx, wish, deps.settings.codeRequestsPerClientPerHour);
    if (made.outcome === 'made') {
      await insertMail(trx, {
        cause: { kind: 'login_code', codeId: made.id },
        recipient: wish.email,
        message: loginCodeMail({ code: made.code, provider }),
        wipeAfterSending: true,
      });
    }
    return made;
  });
}
