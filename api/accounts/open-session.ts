import { insertAuditEvent } from '../../adapters/postgres/accounts/audit-events.js';
import { deleteSession, insertSession } from '../../adapters/postgres/accounts/sessions.js';
import { findOrInsertUser } from '../../adapters/postgres/accounts/users.js';
import type { Transaction } from '../../adapters/postgres/database.js';
import type { UserRow } from '../../adapters/postgres/rows/tables.js';
import { newId } from '../../adapters/ids.js';
import { auditAddress } from './audit-event.js';
import type { ApiContext } from '../context.js';

/** Who signed in, whether their account was made by it, and the session. */
export interface OpenedSession {
  readonly user: UserRow;
  readonly created: boolean;
  readonly session: { readonly token: string; readonly expiresAt: Date };
}

/**
 * Signs the owner of an e-mail address in, however they have shown that it is theirs: the same address is the same
 * user, whose row and wallet are made at the first sign-in (decision 9, "Session cookies", and decision 11, "Sign-in
 * elsewhere"). The session is always a new one, so that one which somebody else put into the browser is worth nothing,
 * and the one that the browser came with ends.
 * @param email in lower case
 * @param how by what it was shown, for the audit trail (decision 59, "The audit trail"), and what a new account's
 *   auto-topup may charge
 */
export async function openSession(
  trx: Transaction,
  ctx: ApiContext,
  email: string,
  how: { readonly by: string; readonly autoTopupDailyCapCents: number | null },
): Promise<OpenedSession> {
  await endFormerSession(trx, ctx);
  const { user, created } = await findOrInsertUser(trx, email, {
    id: newId('usr'),
    autoTopupDailyCapCents: how.autoTopupDailyCapCents,
  });
  await insertAuditEvent(trx, {
    userId: user.id,
    kind: 'signed_in',
    clientAddress: auditAddress(ctx),
    details: { by: how.by },
  });
  return { user, created, session: await insertSession(trx, user.id) };
}

/**
 * Ends the live session that the browser came with, whosever it was: its cookie is about to be replaced, and what no
 * browser holds any more must not live on for 30 days (decision 9, "Session cookies").
 */
async function endFormerSession(trx: Transaction, ctx: ApiContext): Promise<void> {
  const { session: former } = ctx.state;
  if (!former || !(await deleteSession(trx, former.tokenHash))) return;
  await insertAuditEvent(trx, {
    userId: former.userId,
    kind: 'signed_out',
    clientAddress: auditAddress(ctx),
    details: { by: 'new_sign_in' },
  });
}
