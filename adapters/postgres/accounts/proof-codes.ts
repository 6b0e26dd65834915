import { createHash, randomInt, timingSafeEqual } from 'node:crypto';
import { accountLimits } from '../../../domain/accounts/limits.js';
import { DAY, HOUR } from '../../../domain/durations.js';
import type { SessionId } from '../../../domain/ids.js';
import type { Transaction } from '../database.js';
import type { ProofCodeRow } from '../rows/tables.js';
import type { Session } from './sessions.js';

/** A lock space of its own, by user. */
const LOCK = 7_103;

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
  await trx.raw('select pg_advisory_xact_lock(?, hashtext(?))', [LOCK, userId]);
  const retryAfterMs = await waitMs(trx, { id: sessionId, userId });
  if (retryAfterMs > 0) return { outcome: 'limited', retryAfterMs };
  const code = randomInt(1_000_000).toString().padStart(6, '0');
  const { rows } = await trx.raw<{ rows: { expires_at: Date }[] }>(
    "select clock_ms() + ? * interval '1 millisecond' as expires_at",
    [accountLimits.codeValidMs],
  );
  const expiresAt = rows[0]?.expires_at;
  if (!expiresAt) throw new Error('the database did not tell its time');
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
const spans = [
  ['session', 1, accountLimits.codeRequestEveryMs],
  ['session', accountLimits.proofCodesPerHour, HOUR],
  ['session', accountLimits.proofCodesPerDay, DAY],
  ['user', accountLimits.proofCodesOfUserPerDay, DAY],
]
  .map(([whose, nth, ms]) => `('${whose}', cast(${nth} as bigint), cast(${ms} as bigint))`)
  .join(', ');

/** Returns the milliseconds until each of the spans lets one more code be made. */
async function waitMs(trx: Transaction, { id, userId }: Asker): Promise<number> {
  const { rows } = await trx.raw<{ rows: { wait_ms: number }[] }>(
    `with clock as materialized (select clock_ms() as now),
      recent as (select session_id, created_at from proof_codes
                  where user_id = :userId and created_at > (select now - interval '1 day' from clock)),
      nth as (select 'user' as whose, created_at, row_number() over (order by created_at desc) as nth from recent
               union all
              select 'session', created_at, row_number() over (order by created_at desc) from recent
               where session_id = :id)
     select coalesce(ceil(extract(epoch from
              max(created_at + window_ms * interval '1 millisecond') - (select now from clock)) * 1000), 0)::bigint as wait_ms
       from nth join (values ${spans}) s (whose, nth, window_ms) using (whose, nth)`,
    { id, userId },
  );
  return Math.max(0, rows[0]?.wait_ms ?? 0);
}

/**
 * Tries a code of this session, its newest one alone: it has five tries, and works once. This transaction writes the
 * try, so the caller must commit it whatever the verdict.
 */
export async function tryProofCode(trx: Transaction, { id }: Asker, code: string): Promise<boolean> {
  const { rows } = await trx.raw<{ rows: (ProofCodeRow & { alive: boolean })[] }>(
    `select *, used_at is null and expires_at > clock_ms() as alive from proof_codes
      where session_id = :id order by created_at desc, id desc limit 1 for update`,
    { id },
  );
  const row = rows[0];
  if (!row?.alive || row.tries >= accountLimits.codeMaxTries) return false;
  if (!timingSafeEqual(row.code_hash, hashOf(id, row.expires_at, code))) {
    await trx('proof_codes').where({ id: row.id }).increment('tries', 1);
    return false;
  }
  await trx.raw('update proof_codes set used_at = clock_ms() where id = ?', [row.id]);
  return true;
}

/** The session and the instant make the hash of each row unique: equal codes don't show as equal hashes. */
function hashOf(sessionId: SessionId, expiresAt: Date, code: string): Buffer {
  return createHash('sha256').update(`proof-code:${sessionId}:${expiresAt.getTime()}:${code}`).digest();
}
