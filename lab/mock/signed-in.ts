import type { Middleware } from 'koa';
import { keyFactsOf, type FoundApiKey } from '../../adapters/postgres/accounts/api-keys.js';
import { auditAddress } from '../../api/accounts/audit-event.js';
import { callerOf, keyIdOf, type ApiContext, type ApiState } from '../../api/context.js';
import { bearerOf, keyRefusal } from '../../api/http/middleware/caller.js';
import { findOnlySession, refusalOfClash, sessionTokensOf } from '../../api/http/middleware/session.js';
import { isWithin } from '../../domain/accounts/address-ranges.js';
import { lapseOf } from '../../domain/accounts/api-key-refusals.js';
import type { AuditKind } from '../../domain/accounts/audit.js';
import { looksLikeApiKey } from '../../domain/accounts/api-keys.js';
import { accountLimits } from '../../domain/accounts/limits.js';
import type { Account } from './account.js';
import { writeAudit } from './audit-trail.js';
import type { World } from './world.js';

/** The API's settings that the cookie depends on: the mock speaks plain HTTP. */
export const cookieDeps = { settings: { secureCookie: false } };

/** The settings that who may call a route depends on. */
export function serveDeps({ publicPrices }: World) {
  return { settings: { ...cookieDeps.settings, publicPrices } };
}

/** The account of a request behind its route's guard. */
export function accountOf({ accounts }: World, ctx: ApiContext): Account {
  const { userId } = callerOf(ctx);
  const account = [...accounts.all()].find(({ user }) => user.id === userId);
  if (!account) throw new Error('whoever may call has an account');
  return account;
}

type Context = Parameters<Middleware<ApiState, object>>[0];

/** Finds out who asks, as limitRequests of the service does. The pages of the mock ask for nobody. */
export function identifyCallers(world: World): Middleware<ApiState, object> {
  return async (ctx, next) => {
    if (ctx.path.startsWith('/v1/') || ctx.state.access !== undefined) await identify(world, ctx);
    await next();
  };
}

async function identify(world: World, ctx: Context): Promise<void> {
  const bearer = bearerOf(ctx.get('Authorization'));
  if (bearer !== undefined) {
    identifyKey(world, ctx, bearer);
    return;
  }
  const session = await findOnlySession(
    sessionTokensOf(ctx.get('Cookie')),
    (token) => Promise.resolve(world.accounts.find(token)),
    ({ account }) => account.user.id,
  );
  if (session === 'clash') ctx.state.refusedKey = refusalOfClash(ctx, cookieDeps);
  else if (session) {
    ctx.state.sessionToken = session.token;
    ctx.state.holdsToken = () => Promise.resolve(world.accounts.find(session.token) !== undefined);
    ctx.state.caller = { kind: 'session', ...session.found.session };
  }
}

function identifyKey(world: World, ctx: Context, token: string): void {
  const known = looksLikeApiKey(token) ? world.accounts.findKey(token) : undefined;
  const found = known ? foundKey(world, ctx, known) : { is: 'unknown' as const };
  if (found.is === 'live') ctx.state.caller = { kind: 'key', ...found.key };
  else ctx.state.refusedKey = keyRefusal(found, ctx.ip);
}

type Known = NonNullable<ReturnType<World['accounts']['findKey']>>;

function foundKey(world: World, ctx: Context, { key, row }: Known): FoundApiKey {
  const now = world.now();
  const address = auditAddress(ctx);
  const lapse = lapseOf(keyFactsOf(row, row.expires_at <= now));
  if (lapse) return lapse;
  if (row.allowed_cidrs && !(address && isWithin(address, row.allowed_cidrs))) return { is: 'elsewhere' };
  if ((row.last_used_at?.getTime() ?? 0) < now.getTime() - accountLimits.apiKeyTouchMs) {
    Object.assign(row, { last_used_at: now, last_used_address: address ?? null });
  }
  return { is: 'live', key };
}

/** Records a user's action for the audit trail. */
export function note(
  world: World,
  ctx: ApiContext,
  account: Account,
  kind: AuditKind,
  entityId: string | null = null,
  details: Readonly<Record<string, unknown>> | null = null,
): void {
  writeAudit(world, account, {
    kind,
    entity_id: entityId,
    details,
    api_key_id: keyIdOf(ctx) ?? null,
    client_address: auditAddress(ctx) ?? null,
  });
}
