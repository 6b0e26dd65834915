import type { SessionId, UserId } from '../../../domain/ids.js';
import type { Database } from '../database.js';
import type { SessionRow } from '../rows/tables.js';

/** A session without the hash of its token. */
export type ShownSession = Omit<SessionRow, 'token_hash'>;

const shown = [
  'id',
  'user_id',
  'created_at',
  'last_seen_at',
  'expires_at',
  'user_agent',
  'client_address',
  'proved_at',
] as const satisfies readonly (keyof ShownSession)[];

/** Where a page of sessions ended: a session may be gone by the time of the next page. */
export interface SessionPlace {
  readonly createdAt: Date;
  readonly id: SessionId;
}

/**
 * Lists a user's live sessions, the newest sign-in first.
 * @param before only those that come after this place in the list
 */
export async function listSessions(
  db: Database,
  userId: UserId,
  before: SessionPlace | undefined,
  limit: number,
): Promise<ShownSession[]> {
  const query = db('sessions')
    .where({ user_id: userId })
    .whereRaw('expires_at > clock_ms()')
    .orderBy([
      { column: 'created_at', order: 'desc' },
      { column: 'id', order: 'desc' },
    ])
    .limit(limit)
    .select(...shown);
  if (before) void query.andWhereRaw('(created_at, id) < (?, ?)', [before.createdAt, before.id]);
  return query;
}
