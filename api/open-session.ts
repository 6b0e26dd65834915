import { insertAuditEvent } from '../adapters/postgres/audit-events.js';
import { insertSession } from '../adapters/postgres/sessions.js';
import { findOrInsertUser } from '../adapters/postgres/users.js';
import type { Transaction } from '../adapters/postgres/database.js';
import type { UserRow } from '../adapters/postgres/tables.js';
import { newId } from '../adapters/ids.js';

/** Who signed in, whether their account was made by it, and the session. */
interface OpenedSession {
  readonly user: UserRow;
  readonly created: boolean;
  readonly session: { readonly token: string; readonly expiresAt: Date };
}

/**
 * Signs the owner of an e-mail address in, however they have shown that it is theirs: the same address is the same
 * user, whose row and wallet are made at the first sign-in (decisions 9, 11). The session is always a new one, so
 * that one which somebody else put into the browser is worth nothing.
 * @param email in lower case
 * @param how by what it was shown, and from which address, for the audit trail (decision 59)
 */
export async function openSession(
  trx: Transaction,
  email: string,
  how: { readonly by: string; readonly from: string | undefined },
): Promise<OpenedSession> {
  const { user, created } = await findOrInsertUser(trx, email, newId('usr'));
  await insertAuditEvent(trx, {
    ...{ userId: user.id, kind: 'signed_in', clientAddress: how.from },
    details: { by: how.by },
  });
  return { user, created, session: await insertSession(trx, user.id) };
}
