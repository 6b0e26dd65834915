import { createHash } from 'node:crypto';
import { accountLimits } from '../../../domain/accounts/limits.js';
import { DAY, HOUR } from '../../../domain/durations.js';
import type { SessionId } from '../../../domain/ids.js';
import { isReachedSql } from '../clock.js';
import type { Transaction } from '../database.js';
import { lockBy } from '../locks.js';
import type { ProofCodeRow } from '../rows/tables.js';
import { newCode, readExpiry, spansSql, tryCode, waitMs } from './one-time-codes.js';
import type { Session } from './sessions.js';

/** Which session asks, and whose it is. */
type Asker = Pick<Session, 'id' | 'userId'>;

/** What came of a request for a code. */
export type ProofCodeRequest =
  | { readonly outcome: 'made'; readonly id: number; readonly code: string }
  | { readonly outcome: 'limited'; readonly retryAfterMs: number };

/**
 * Makes a code by which a session shows anew whose it is, unless it or its user asked too often (decision 110,
 * "Sessions and fresh proof"). The budget is its own: codes of sign-ins take nothing from it, and none of it is theirs.
 */
export async function requestProofCode(
  trx: Transaction,
  { id: sessionId, userId }: Asker,
): Promise<ProofCodeRequest> {
  await lockBy(trx, 'proofCodesOfUser', userId);
  const retryAfterMs = await waitOf(trx, { id: sessionId, userId });
  if (retryAfterMs > 0) return { outcome: 'limited', retryAfterMs };
  const code = newCode();
  const expiresAt = await readExpiry(trx);
  const [row] = await trx('proof_codes')
    .insert({
      user_id: userId,
      session_id: sessionId,
      code_hash: hashOf(sessionId, expiresAt, code),
      expires_at: expiresAt,
    })
    .returning('id');
  if (!row) throw new Error('the code was not kept');
  return { outcome: 'made', id: row.id, code };
}

/** How many codes in which time: of one session, and of all sessions of a user. */
const spans = spansSql([
  ['session', 1, accountLimits.codeRequestEveryMs],
  ['session', accountLimits.proofCodesPerHour, HOUR],
  ['session', accountLimits.proofCodesPerDay, DAY],
  ['user', accountLimits.proofCodesOfUserPerDay, DAY],
]);

function waitOf(trx: Transaction, { id, userId }: Asker): Promise<number> {
  return waitMs(
    trx,
    `select 'user' as what, created_at from proof_codes where user_id = :userId and created_at > :since
      union all
     select 'session', created_at from proof_codes
      where user_id = :userId and session_id = :id and created_at > :since`,
    spans,
    { id, userId },
  );
}

/**
 * Tries a code of this session, its newest one alone: it has five tries, and works once. This transaction writes the
 * try, so the caller must commit it whatever the verdict.
 */
export async function tryProofCode(trx: Transaction, { id }: Asker, code: string): Promise<boolean> {
  const { rows } = await trx.raw<{ rows: (ProofCodeRow & { alive: boolean })[] }>(
    `select *, used_at is null and expires_at > clock_ms() as alive from proof_codes
      where session_id = :id and ${isReachedSql('created_at')} order by created_at desc, id desc limit 1 for update`,
    { id },
  );
  const row = rows[0];
  if (!row) return false;
  const hash = hashOf(id, row.expires_at, code);
  return tryCode(trx, 'proof_codes', row, { counter: 'tries', tries: row.tries, hash });
}

/** The session and the instant make the hash of each row unique: equal codes don't show as equal hashes. */
function hashOf(sessionId: SessionId, expiresAt: Date, code: string): Buffer {
  return createHash('sha256').update(`proof-code:${sessionId}:${expiresAt.getTime()}:${code}`).digest();
}
