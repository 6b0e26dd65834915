import { createHash, randomBytes } from 'node:crypto';
import type { SessionId, UserId } from '../../../domain/ids.js';
import { accountLimits } from '../../../domain/accounts/limits.js';
import type { SessionEndedBy } from '../../../domain/events/events.js';
import { newId } from '../../ids.js';
import type { Database, Transaction } from '../database.js';
import { recordEvent, recordEvents } from '../events/outbox.js';
import { readPreparedWith, type Prepared, type ReadAhead } from '../prepared.js';
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
  /** Whether that is recent, by the database's clock (decision 110, "Sessions and fresh proof"). */
  readonly isFresh: boolean;
}

const TOKEN = /^[A-Za-z0-9_-]{43}$/;

/** Whether a text may be the token of a session. */
export function looksLikeSession(token: string): boolean {
  return TOKEN.test(token);
}

/** From what, and from where, a request comes; undefined where it does not tell. */
export interface SeenFrom {
  /** At most 512 characters. */
  readonly userAgent?: string | undefined;
  readonly clientAddress?: string | undefined;
}

/** How a user has shown who they are. */
export interface SignInProof extends SeenFrom {
  /** The way, for the event that tells the sign-in. */
  readonly by: string;
  /** When; default: now. Null where an account elsewhere has not told it. No instant to come counts. */
  readonly provedAt?: Date | null | undefined;
}

/** A session that was just made, or that has another token now. */
export interface OpenSession {
  readonly id: SessionId;
  /** It is told once. */
  readonly token: string;
  readonly expiresAt: Date;
}

/** A session that was made fresh, with another token. */
export type ProvedSession = OpenSession & { readonly provedAt: Date };

/**
 * Makes a session of 256 random bits (decision 9, "Session cookies"). Only the hash is kept, so whoever reads the table
 * can't sign in.
 */
export async function insertSession(
  trx: Transaction,
  userId: UserId,
  { by, userAgent, clientAddress, provedAt }: SignInProof,
): Promise<OpenSession> {
  const token = newToken();
  const id = newId('ses');
  const { rows } = await trx.raw<{ rows: { expires_at: Date }[] }>(
    `insert into sessions (id, token_hash, user_id, user_agent, client_address, proved_at, expires_at)
     values (:id, :hash, :userId, :userAgent, :clientAddress,
             case when :isNow then clock_ms()
                  when :provedAt::timestamptz > clock_ms() then clock_ms()
                  else :provedAt::timestamptz end,
             clock_ms() + :sessionMs * interval '1 millisecond')
     returning expires_at`,
    {
      ...{ id, hash: hashOf(token), userId },
      userAgent: userAgent ?? null,
      clientAddress: clientAddress ?? null,
      isNow: provedAt === undefined,
      provedAt: provedAt ?? null,
      sessionMs: accountLimits.sessionMs,
    },
  );
  const row = rows[0];
  if (!row) throw new Error('the session was not kept');
  await recordEvent(trx, { type: 'session.started', userId, entityId: id, data: { by } });
  return { id, token, expiresAt: row.expires_at };
}

/**
 * Locks a live session for a transaction that goes on to its codes: whoever ends a session takes the same order.
 * @returns false when it has ended
 */
export async function lockSession(trx: Transaction, tokenHash: Buffer): Promise<boolean> {
  const { rows } = await trx.raw<{ rows: unknown[] }>(
    'select 1 from sessions where token_hash = :tokenHash and expires_at > clock_ms() for update',
    { tokenHash },
  );
  return rows.length > 0;
}

/**
 * Gives a session another token, because its user has just shown anew who they are: the former token is worth nothing
 * from then on, whoever has it (decision 110, "Sessions and fresh proof"). Streams that were opened by
 * it end.
 * @returns undefined when the session has ended meanwhile
 */
export async function rotateSession(
  trx: Transaction,
  formerHash: Buffer,
): Promise<ProvedSession | undefined> {
  const token = newToken();
  const hash = hashOf(token);
  const { rows } = await trx.raw<{ rows: { id: SessionId; expires_at: Date; proved_at: Date }[] }>(
    `update sessions set token_hash = :hash, proved_at = clock_ms(), last_seen_at = clock_ms(),
       expires_at = clock_ms() + :sessionMs * interval '1 millisecond'
     where token_hash = :formerHash and expires_at > clock_ms() returning id, expires_at, proved_at`,
    { hash, formerHash, sessionMs: accountLimits.sessionMs },
  );
  const row = rows[0];
  if (!row) return undefined;
  // A statement of its own: the first one has waited for streams that were just being opened.
  await trx('open_streams').where({ token_hash: hash }).update({ outdated: true });
  return { id: row.id, token, expiresAt: row.expires_at, provedAt: row.proved_at };
}

type Row = Pick<SessionRow, 'id' | 'token_hash' | 'user_id' | 'expires_at' | 'proved_at'> & {
  email: string;
  user_created_at: Date;
  stale: boolean;
  fresh: boolean;
};

const liveSession: Prepared<readonly [tokenHash: Buffer, freshMs: number, touchMs: number]> = {
  name: 'live_session',
  sql: `select s.id, s.token_hash, s.user_id, s.expires_at, s.proved_at, u.email, u.created_at as user_created_at,
               coalesce(s.proved_at > clock_ms() - $2::bigint * interval '1 millisecond', false) as fresh,
               s.last_seen_at < clock_ms() - $3::bigint * interval '1 millisecond' as stale
          from sessions s join users u on u.id = s.user_id
         where s.token_hash = $1 and s.expires_at > clock_ms()`,
};

/**
 * Finds the live session of a token. Its expiry slides, but is written at most once a minute (decision 9, "Session
 * cookies"), and with it from what and from where the session is used.
 * @param ahead is sent along, and answered after it
 */
export async function findSession(
  db: Database,
  token: string,
  from: SeenFrom = {},
  ahead?: ReadAhead,
): Promise<Session | undefined> {
  if (!looksLikeSession(token)) return undefined;
  const values = [hashOf(token), accountLimits.freshProofMs, accountLimits.sessionTouchMs] as const;
  const [row] = await readPreparedWith<Row, typeof values>(db, liveSession, values, ahead);
  if (!row) return undefined;
  const renewedUntil = row.stale ? await touch(db, row.token_hash, from) : undefined;
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

async function touch(
  db: Database,
  tokenHash: Buffer,
  { userAgent, clientAddress }: SeenFrom,
): Promise<Date | undefined> {
  const { rows } = await db.raw<{ rows: { expires_at: Date }[] }>(
    `update sessions set last_seen_at = clock_ms(),
       expires_at = clock_ms() + :sessionMs * interval '1 millisecond',
       user_agent = coalesce(:userAgent, user_agent), client_address = coalesce(:clientAddress, client_address)
     where token_hash = :tokenHash returning expires_at`,
    {
      tokenHash,
      sessionMs: accountLimits.sessionMs,
      userAgent: userAgent ?? null,
      clientAddress: clientAddress ?? null,
    },
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
  return (await tellEnded(trx, by, await trx('sessions').where({ token_hash: tokenHash }).delete(ended))) > 0;
}

/**
 * Ends a session of a user by the id that they were shown, and tells it.
 * @returns false when they have no such session (any more)
 */
export async function deleteSessionOf(
  trx: Transaction,
  userId: UserId,
  id: SessionId,
  by: SessionEndedBy,
): Promise<boolean> {
  return (await tellEnded(trx, by, await trx('sessions').where({ id, user_id: userId }).delete(ended))) > 0;
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
  return tellEnded(trx, by, await trx('sessions').where({ user_id: userId }).delete(ended));
}

/**
 * Ends all sessions of a user but one, and tells each. All of them are locked in one order: of two sessions that end
 * each other's, one does.
 * @returns how many there were; undefined when that one has ended itself meanwhile
 */
export async function deleteOtherSessions(
  trx: Transaction,
  { id, userId }: Pick<Session, 'id' | 'userId'>,
  by: SessionEndedBy,
): Promise<number | undefined> {
  const all = await trx('sessions').where({ user_id: userId }).orderBy('id').forUpdate().select('id');
  if (!all.some((session) => session.id === id)) return undefined;
  return tellEnded(trx, by, await trx('sessions').where({ user_id: userId }).whereNot({ id }).delete(ended));
}

/** What is told of a session that ended. */
const ended = ['user_id', 'id'] as const;

async function tellEnded(
  trx: Transaction,
  by: SessionEndedBy,
  rows: readonly Pick<SessionRow, (typeof ended)[number]>[],
): Promise<number> {
  await recordEvents(
    trx,
    'session.ended',
    rows.map(({ user_id: userId, id: entityId }) => ({ userId, entityId, data: { by } })),
  );
  return rows.length;
}

function newToken(): string {
  return randomBytes(32).toString('base64url');
}

function hashOf(token: string): Buffer {
  return createHash('sha256').update(`session:${token}`).digest();
}
