import { createHash, randomBytes } from 'node:crypto';
import type { SessionId, UserId } from '../../../domain/ids.js';
import { accountLimits } from '../../../domain/accounts/limits.js';
import type { SessionEndedBy } from '../../../domain/events/events.js';
import type { Database, Transaction } from '../database.js';
import { recordEvent, recordEvents } from '../events/outbox.js';
import type { SessionRow } from '../rows/tables.js';

/** A live session with its user. */
export interface Session {
  /** May be shown; the token's hash may not. */
  readonly id: SessionId;
  readonly tokenHash: Buffer;
  readonly userId: UserId;
  readonly email: string;
  readonly userCreatedAt: Date;
  readonly expiresAt: Date;
  /** True when this read moved the expiry, so that the cookie must move as well. */
  readonly renewed: boolean;
  /** When its user last showed who they are; null where an account elsewhere has not told when. */
  readonly provedAt: Date | null;
  /** Whether that is recent, by the database's clock. */
  readonly isFresh: boolean;
}

const TOKEN = /^[A-Za-z0-9_-]{43}$/;

/**
 * Makes a session of 256 random bits (decision 9, "Session cookies"). Only the hash is kept, so whoever reads the table
 * can't sign in.
 * @param by the way in which its user has shown who they are, for the event that tells the sign-in
 * @returns the token, which is told once, and when it expires
 */
export async function insertSession(
  trx: Transaction,
  userId: UserId,
  by: string,
): Promise<{ token: string; expiresAt: Date }> {
  const token = randomBytes(32).toString('base64url');
  const { rows } = await trx.raw<{ rows: { expires_at: Date }[] }>(
    `insert into sessions (token_hash, user_id, expires_at)
     values (:hash, :userId, clock_ms() + :sessionMs * interval '1 millisecond')
     returning expires_at`,
    { hash: hashOf(token), userId, sessionMs: accountLimits.sessionMs },
  );
  const row = rows[0];
  if (!row) throw new Error('the session was not kept');
  await recordEvent(trx, { type: 'session.started', userId, entityId: userId, data: { by } });
  return { token, expiresAt: row.expires_at };
}

type Row = Pick<SessionRow, 'id' | 'token_hash' | 'user_id' | 'expires_at' | 'proved_at'> & {
  email: string;
  user_created_at: Date;
  stale: boolean;
  fresh: boolean;
};

/**
 * Finds the live session of a token. Its expiry slides, but is written at most once a minute (decision 9, "Session
 * cookies").
 */
export async function findSession(db: Database, token: string): Promise<Session | undefined> {
  if (!TOKEN.test(token)) return undefined;
  const { rows } = await db.raw<{ rows: Row[] }>(
    `select s.id, s.token_hash, s.user_id, s.expires_at, s.proved_at, u.email, u.created_at as user_created_at,
            coalesce(s.proved_at > clock_ms() - :freshMs * interval '1 millisecond', false) as fresh,
            s.last_seen_at < clock_ms() - :touchMs * interval '1 millisecond' as stale
     from sessions s join users u on u.id = s.user_id
     where s.token_hash = :hash and s.expires_at > clock_ms()`,
    {
      hash: hashOf(token),
      touchMs: accountLimits.sessionTouchMs,
      freshMs: accountLimits.freshProofMs,
    },
  );
  const row = rows[0];
  if (!row) return undefined;
  const renewedUntil = row.stale ? await touch(db, row.token_hash) : undefined;
  return {
    id: row.id,
    tokenHash: row.token_hash,
    userId: row.user_id,
    email: row.email,
    userCreatedAt: row.user_created_at,
    expiresAt: renewedUntil ?? row.expires_at,
    renewed: renewedUntil !== undefined,
    provedAt: row.proved_at,
    isFresh: row.fresh,
  };
}

async function touch(db: Database, tokenHash: Buffer): Promise<Date | undefined> {
  const { rows } = await db.raw<{ rows: { expires_at: Date }[] }>(
    `update sessions set last_seen_at = clock_ms(),
       expires_at = clock_ms() + :sessionMs * interval '1 millisecond'
     where token_hash = :tokenHash returning expires_at`,
    { tokenHash, sessionMs: accountLimits.sessionMs },
  );
  return rows[0]?.expires_at;
}

/**
 * Ends one session for good (spec: POST /v1/auth/logout), and tells it.
 * @returns false when it had ended already
 */
export async function deleteSession(
  trx: Transaction,
  tokenHash: Buffer,
  by: SessionEndedBy,
): Promise<boolean> {
  return (await endSessions(trx, { token_hash: tokenHash }, by)) > 0;
}

/**
 * Ends all sessions of a user, and tells each.
 * @returns how many there were
 */
export async function deleteSessionsOf(
  trx: Transaction,
  userId: UserId,
  by: SessionEndedBy,
): Promise<number> {
  return endSessions(trx, { user_id: userId }, by);
}

async function endSessions(
  trx: Transaction,
  which: Partial<Pick<SessionRow, 'token_hash' | 'user_id'>>,
  by: SessionEndedBy,
): Promise<number> {
  const ended = await trx('sessions').where(which).delete().returning('user_id');
  await recordEvents(
    trx,
    'session.ended',
    ended.map(({ user_id: userId }) => ({ userId, entityId: userId, data: { by } })),
  );
  return ended.length;
}

function hashOf(token: string): Buffer {
  return createHash('sha256').update(`session:${token}`).digest();
}
