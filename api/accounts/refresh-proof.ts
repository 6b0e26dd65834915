import * as declared from './describe-sessions.js';
import type { AnswerOf } from '../http/openapi/operation.js';
import { serve, type Handler } from '../http/serve.js';
import { deviceOf, userAgentOf } from '../../adapters/device.js';
import { insertAuditEvent } from '../../adapters/postgres/accounts/audit-events.js';
import { countFailedSignIn } from '../../adapters/postgres/accounts/failed-sign-ins.js';
import { requestProofCode, tryProofCode } from '../../adapters/postgres/accounts/proof-codes.js';
import {
  lockSession,
  rotateSession,
  type ProvedSession,
  type Session,
} from '../../adapters/postgres/accounts/sessions.js';
import type { Transaction } from '../../adapters/postgres/database.js';
import { addressOf, insertMail } from '../../adapters/postgres/upkeep/outbox.js';
import { accountLimits } from '../../domain/accounts/limits.js';
import type { PasskeyId } from '../../domain/ids.js';
import { proofCodeMail } from '../../domain/mails/sign-in.js';
import { sessionOf, type ApiContext, type ApiDeps, type ApiRouter } from '../context.js';
import { setSessionCookie } from '../http/middleware/session.js';
import { readBody } from '../http/validation.js';
import { auditEvent } from './audit-event.js';
import { endedMeanwhile, tooManyCodes, wrongCode } from './sign-in-refusals.js';

/**
 * Shows anew whose a session is, in two steps (decision 110, "Sessions and fresh proof"): without a code one is mailed;
 * the code makes the session fresh and gives it another token.
 */
export function refreshProofRoutes(router: ApiRouter, deps: ApiDeps): void {
  serve(router, deps, declared.refreshProof, refresh(deps));
}

function refresh(deps: ApiDeps): Handler<typeof declared.refreshProof> {
  return async (ctx) => {
    const { code } = readBody(ctx, declared.refreshProofSchema);
    return code === undefined ? mailCode(ctx, deps) : prove(ctx, deps, code);
  };
}

type Proof = AnswerOf<typeof declared.refreshProof>;

async function mailCode(ctx: ApiContext, deps: ApiDeps): Promise<Proof> {
  const session = sessionOf(ctx);
  const device = deviceOf(userAgentOf(ctx.get('User-Agent')) ?? null);
  const request = await deps.db.transaction(async (trx) => {
    const made = await requestProofCode(trx, session);
    if (made.outcome === 'made') {
      await insertMail(trx, {
        cause: { kind: 'proof_code', codeId: made.id },
        recipient: await addressOf(trx, session.userId),
        message: proofCodeMail({ code: made.code, device }),
        wipeAfterSending: true,
      });
    }
    return made;
  });
  if (request.outcome === 'limited') throw tooManyCodes(request.retryAfterMs);
  return { codeMailed: true, freshUntil: freshUntil(session) };
}

async function prove(ctx: ApiContext, deps: ApiDeps, code: string): Promise<Proof> {
  const session = sessionOf(ctx);
  // A wrong try must be counted, so the transaction commits whatever the verdict is.
  const proved = await deps.db.transaction(async (trx) => {
    if (!(await lockSession(trx, session.tokenHash))) throw endedMeanwhile();
    if (!(await tryProofCode(trx, session, code))) return undefined;
    return renewSession(trx, ctx, {});
  });
  if (!proved) {
    await countFailedSignIn(deps.db, session.email);
    throw wrongCode();
  }
  return { codeMailed: false, freshUntil: tellProved(ctx, deps, proved) };
}

/**
 * Makes the session of a request fresh, gives it another token, and notes it. @param how beside the session, for the
 * audit trail
 * @throws Refusal unauthorized where it has ended meanwhile
 */
export async function renewSession(
  trx: Transaction,
  ctx: ApiContext,
  how: { readonly passkeyId?: PasskeyId },
): Promise<ProvedSession> {
  const { userId, id: sessionId, tokenHash } = sessionOf(ctx);
  const rotated = await rotateSession(trx, tokenHash);
  if (!rotated) throw endedMeanwhile();
  const details = { sessionId, ...how };
  await insertAuditEvent(trx, auditEvent(ctx, { userId, kind: 'proof_refreshed', details }));
  return rotated;
}

/** Hands out the new token of a session that was made fresh. @returns until when it is */
export function tellProved(ctx: ApiContext, deps: ApiDeps, proved: ProvedSession): string {
  ctx.remove('Set-Cookie');
  setSessionCookie(ctx, deps, proved.token);
  return freshUntilOf(proved.provedAt);
}

/** Until when a session is fresh; null when it is not. */
export function freshUntil({ provedAt, isFresh }: Pick<Session, 'provedAt' | 'isFresh'>): string | null {
  if (!provedAt || !isFresh) return null;
  return freshUntilOf(provedAt);
}

/** Until when a session is fresh whose user showed then who they are. */
export function freshUntilOf(provedAt: Date): string {
  return new Date(provedAt.getTime() + accountLimits.freshProofMs).toISOString();
}
