import * as declared from './describe-sessions.js';
import { serve, type Handler } from '../http/serve.js';
import { deviceOf } from '../../adapters/device.js';
import { insertAuditEvent } from '../../adapters/postgres/accounts/audit-events.js';
import {
  listSessions,
  type SessionPlace,
  type ShownSession,
} from '../../adapters/postgres/accounts/session-list.js';
import { deleteOtherSessions, deleteSessionOf } from '../../adapters/postgres/accounts/sessions.js';
import { isId, type SessionId } from '../../domain/ids.js';
import { Refusal } from '../../domain/refusal.js';
import { sessionOf, type ApiDeps, type ApiRouter } from '../context.js';
import { pageOf, readCursor } from '../http/cursor.js';
import { endSession } from '../http/middleware/session.js';
import { readQuery } from '../http/validation.js';
import { auditEvent } from './audit-event.js';
import { endedMeanwhile } from './sign-in-refusals.js';

/**
 * Where a user is signed in, and its end (decision 110, "Sessions and fresh proof"). Nothing here asks for a fresh
 * sign-in: whoever finds a stranger's session ends it at once.
 */
export function sessionRoutes(router: ApiRouter, deps: ApiDeps): void {
  serve(router, deps, declared.listSessions, list(deps));
  serve(router, deps, declared.endSession, end(deps));
  serve(router, deps, declared.endOtherSessions, endOthers(deps));
}

function list(deps: ApiDeps): Handler<typeof declared.listSessions> {
  return async (ctx) => {
    const { cursor, pageSize } = readQuery(ctx, declared.sessionsQuery);
    const { id, userId } = sessionOf(ctx);
    const rows = await listSessions(deps.db, userId, readPlace(cursor), pageSize + 1);
    const { page, nextCursor } = pageOf(rows, pageSize, placeOf);
    return { sessions: page.map((row) => presentSession(row, id)), nextCursor };
  };
}

/** Reads where the page before ended. The session there may have ended since. */
export function readPlace(cursor: string | undefined): SessionPlace | undefined {
  const [createdAtMs, id] = readCursor(cursor, isPlace) ?? [];
  return createdAtMs === undefined || id === undefined ? undefined : { createdAt: new Date(createdAtMs), id };
}

/** The place of a session in the list, as a cursor holds it. */
export function placeOf(row: Pick<ShownSession, 'created_at' | 'id'>): [number, SessionId] {
  return [row.created_at.getTime(), row.id];
}

/** The last millisecond of the year 9999: what comes later is an instant to no database. */
const LAST_MS = 253_402_300_799_999;

function isPlace(value: readonly unknown[]): value is [number, SessionId] {
  const [at, id] = value;
  const isInstant = Number.isSafeInteger(at) && Number(at) >= 0 && Number(at) <= LAST_MS;
  return value.length === 2 && isInstant && typeof id === 'string' && isId('ses', id);
}

function end(deps: ApiDeps): Handler<typeof declared.endSession> {
  return async (ctx) => {
    const id = ctx.params['id'] ?? '';
    const { id: ownId, userId } = sessionOf(ctx);
    if (id === ownId) await endSession(ctx, deps);
    else {
      const hasEnded =
        isId('ses', id) &&
        (await deps.db.transaction(async (trx) => {
          if (!(await deleteSessionOf(trx, userId, id, 'other_session'))) return false;
          const details = { by: 'other_session' };
          await insertAuditEvent(trx, auditEvent(ctx, { userId, kind: 'signed_out', entityId: id, details }));
          return true;
        }));
      if (!hasEnded) throw noSuchSession();
    }
    return { ok: true };
  };
}

function endOthers(deps: ApiDeps): Handler<typeof declared.endOtherSessions> {
  return async (ctx) => {
    const session = sessionOf(ctx);
    const { userId } = session;
    const ended = await deps.db.transaction(async (trx) => {
      const sessions = await deleteOtherSessions(trx, session, 'other_session');
      if (sessions === undefined) throw endedMeanwhile();
      if (sessions > 0) {
        const details = { by: 'other_session', sessions };
        await insertAuditEvent(trx, auditEvent(ctx, { userId, kind: 'signed_out', details }));
      }
      return sessions;
    });
    return { ended };
  };
}

/** A session on read. @param currentId the session that asks */
export function presentSession(row: ShownSession, currentId: SessionId) {
  return {
    id: row.id,
    isCurrent: row.id === currentId,
    device: deviceOf(row.user_agent),
    address: row.client_address,
    createdAt: row.created_at.toISOString(),
    lastUsedAt: row.last_seen_at.toISOString(),
    provedAt: row.proved_at?.toISOString() ?? null,
    expiresAt: row.expires_at.toISOString(),
  };
}

/** The refusal of a session that is not the caller's, or not any more (decision 5, "Foreign ids"). */
export function noSuchSession(): Refusal {
  return new Refusal('session_not_found', 'You have no such session: GET /v1/auth/sessions lists yours.');
}
