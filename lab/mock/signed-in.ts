import { newId } from '../../adapters/ids.js';
import type { ApiContext } from '../../api/context.js';
import { setSessionCookie, type Step } from '../../api/middleware/session.js';
import type { Account } from './account.js';
import { refusalOf } from './refuse.js';
import type { World } from './world.js';

/** What of the API's settings the cookie depends on: the mock speaks plain HTTP. */
export const cookieDeps = { settings: { secureCookie: false } };

/** A handler that only those reach who are signed in (spec: Authentication). */
export function signedIn(
  world: World,
  handle: (ctx: ApiContext, account: Account) => void | Promise<void>,
): Step {
  return async (ctx) => {
    const token = tokenOf(ctx);
    const found = world.accounts.find(token);
    if (!found) throw refusalOf('unauthorized');
    ctx.state.session = found.session;
    ctx.set('Cache-Control', 'no-store');
    if (found.session.renewed) setSessionCookie(ctx, cookieDeps, token);
    await handle(ctx, found.account);
  };
}

export function tokenOf(ctx: ApiContext): string {
  return ctx.cookies.get('sid') ?? '';
}

/** Writes down what a user did, for the audit trail. */
export function note(
  world: World,
  ctx: ApiContext,
  { audit }: Account,
  kind: string,
  entityId: string | null = null,
): void {
  audit.push({
    ...{ no: audit.length + 1, id: newId('aud'), kind, entityId },
    ...{ clientAddress: ctx.ip, at: world.now() },
  });
}
