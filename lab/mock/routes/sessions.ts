import * as declared from '../../../api/accounts/describe-sessions.js';
import { freshUntil, freshUntilOf } from '../../../api/accounts/refresh-proof.js';
import { noSuchSession, placeOf, presentSession, readPlace } from '../../../api/accounts/sessions.js';
import { sessionOf, type ApiContext, type ApiRouter } from '../../../api/context.js';
import { pageOf } from '../../../api/http/cursor.js';
import { setSessionCookie, takeSessionCookieBack } from '../../../api/http/middleware/session.js';
import { readBody, readQuery } from '../../../api/http/validation.js';
import type { SessionEndedBy } from '../../../domain/events/events.js';
import { isId, type SessionId } from '../../../domain/ids.js';
import { newestFirst, type Account } from '../account.js';
import { serveMock } from '../serve.js';
import { cookieDeps, note } from '../signed-in.js';
import type { World } from '../world.js';

/** Where a user is signed in. Any six digits show anew who they are. */
export function sessionRoutes(router: ApiRouter, world: World): void {
  serveMock(router, world, declared.listSessions, (ctx, account) => {
    const { cursor, pageSize } = readQuery(ctx, declared.sessionsQuery);
    const place = readPlace(cursor);
    const before = place && { created_at: place.createdAt, id: place.id };
    const all = world.accounts.sessionsOf(account);
    const rows = before ? all.filter((row) => newestFirst(row, before) > 0) : all;
    const { page, nextCursor } = pageOf(rows, pageSize, placeOf);
    const { id } = sessionOf(ctx);
    return { sessions: page.map((row) => presentSession(row, id)), nextCursor };
  });
  serveMock(router, world, declared.endSession, (ctx, account) => {
    const id = ctx.params['id'] ?? '';
    const isOwn = id === sessionOf(ctx).id;
    const by = isOwn ? 'sign_out' : 'other_session';
    if (!isId('ses', id) || !endSession(world, ctx, account, id, by)) throw noSuchSession();
    if (isOwn) takeSessionCookieBack(ctx, cookieDeps);
    return { ok: true };
  });
  serveMock(router, world, declared.endOtherSessions, (ctx, account) => {
    const { id: ownId } = sessionOf(ctx);
    const others = world.accounts.sessionsOf(account).filter(({ id }) => id !== ownId);
    const by = 'other_session';
    for (const { id } of others) closeSession(world, account, id, by);
    if (others.length > 0) note(world, ctx, account, 'signed_out', null, { by, sessions: others.length });
    return { ended: others.length };
  });
  serveMock(router, world, declared.refreshProof, (ctx, account) => {
    const { code } = readBody(ctx, declared.refreshProofSchema);
    if (code === undefined) return { codeMailed: true, freshUntil: freshUntil(sessionOf(ctx)) };
    return { codeMailed: false, freshUntil: renewSession(world, ctx, account, {}) };
  });
}

/** Makes the session of a request fresh, with another token. @returns until when it is */
export function renewSession(world: World, ctx: ApiContext, account: Account, how: object): string {
  const session = sessionOf(ctx);
  const rotated = world.accounts.rotate(ctx.state.sessionToken ?? '');
  if (!rotated) throw noSuchSession();
  world.events.endSession(account.user.id, session.tokenHash, 'session_renewed');
  note(world, ctx, account, 'proof_refreshed', null, { sessionId: session.id, ...how });
  ctx.remove('Set-Cookie');
  setSessionCookie(ctx, cookieDeps, rotated.token);
  return freshUntilOf(rotated.row.proved_at ?? world.now());
}

/** Ends a session of an account, and tells it. @returns false when it has none of this id */
export function endSession(
  world: World,
  ctx: ApiContext,
  account: Account,
  id: SessionId,
  by: SessionEndedBy,
): boolean {
  if (!closeSession(world, account, id, by)) return false;
  note(world, ctx, account, 'signed_out', id, by === 'sign_out' ? null : { by });
  return true;
}

function closeSession(world: World, account: Account, id: SessionId, by: SessionEndedBy): boolean {
  const tokenHash = world.accounts.endSession(account, id);
  if (!tokenHash) return false;
  world.events.tell(account.user.id, 'session.ended', id, { by });
  world.events.endSession(account.user.id, tokenHash);
  return true;
}
