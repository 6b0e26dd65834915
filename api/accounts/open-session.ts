import { wakeApiKeys } from '../../adapters/postgres/accounts/api-keys.js';
import { wakePasskeys } from '../../adapters/postgres/accounts/passkeys.js';
import { insertAuditEvent } from '../../adapters/postgres/accounts/audit-events.js';
import {
  deleteSession,
  insertSession,
  type OpenSession,
  type SignInProof,
} from '../../adapters/postgres/accounts/sessions.js';
import { findOrInsertUser, type NewAccount } from '../../adapters/postgres/accounts/users.js';
import type { Transaction } from '../../adapters/postgres/database.js';
import type { UserRow } from '../../adapters/postgres/rows/tables.js';
import { newId } from '../../adapters/ids.js';
import { publicClientOf } from '../http/middleware/client-address.js';
import { auditAddress, auditEvent } from './audit-event.js';
import { seenFrom } from './seen-from.js';
import type { ApiContext, ApiDeps } from '../context.js';

/** The user who signed in, whether the sign-in made their account, and the session. */
export interface OpenedSession {
  readonly user: UserRow;
  readonly created: boolean;
  readonly session: OpenSession;
}

/**
 * Signs in the owner of an e-mail address, by whatever way they have shown that it is theirs. The same address is the
 * same user, whose row and wallet are made at the first sign-in (decision 9, "Session cookies", and decision 11,
 * "Sign-in elsewhere"). The session is always new, so a session that somebody else put into the browser is worth
 * nothing. The session that the browser came with ends.
 * @param email in lower case
 * @param how the way in which it was shown, for the audit trail (decision 59, "The audit trail"), and when (by default now)
 */
export async function openSession(
  trx: Transaction,
  ctx: ApiContext,
  deps: ApiDeps,
  email: string,
  { by, provedAt }: Pick<SignInProof, 'by' | 'provedAt'>,
): Promise<OpenedSession> {
  await endFormerSession(trx, ctx);
  const { user, created } = await findOrInsertUser(trx, email, newAccountFrom(ctx, deps));
  await wakeApiKeys(trx, user.id);
  await wakePasskeys(trx, user.id);
  const session = await insertSession(trx, user.id, { by, provedAt, ...seenFrom(ctx) });
  // No API key signs in; one that came along may be another user's.
  await insertAuditEvent(trx, {
    ...{ userId: user.id, kind: 'signed_in', entityId: session.id, details: { by } },
    clientAddress: auditAddress(ctx),
  });
  return { user, created, session };
}

/** What an account is made with that a request makes. */
export function newAccountFrom(ctx: ApiContext, { settings }: ApiDeps): NewAccount {
  return {
    id: newId('usr'),
    autoTopupDailyCapCents: settings.autoTopupDailyCapCents,
    installationKey: settings.ownSoftware.installationKey,
    madeFrom: publicClientOf(ctx.ip),
  };
}

/**
 * Ends the live session that the browser came with, whoever owns it. Its cookie is about to be replaced, and a session
 * that no browser holds must not live on for 30 days (decision 9, "Session cookies").
 */
async function endFormerSession(trx: Transaction, ctx: ApiContext): Promise<void> {
  const { caller: former } = ctx.state;
  if (former?.kind !== 'session' || !(await deleteSession(trx, former.tokenHash, 'new_sign_in'))) return;
  const { userId, id: entityId } = former;
  const details = { by: 'new_sign_in' };
  await insertAuditEvent(trx, auditEvent(ctx, { userId, kind: 'signed_out', entityId, details }));
}
