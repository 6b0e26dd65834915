import { BlockList, isIP } from 'node:net';
import { keyFactsOf, type FoundApiKey } from '../../adapters/postgres/accounts/api-keys.js';
import { auditAddress } from '../../api/accounts/audit-event.js';
import { keyIdOf, type ApiContext } from '../../api/context.js';
import { bearerOf, keyRefusal, refuseUnless } from '../../api/http/middleware/caller.js';
import {
  findOnlySession,
  refusalOfClash,
  sessionTokensOf,
  setSessionCookie,
  type Step,
} from '../../api/http/middleware/session.js';
import { refuseClosedToCapped } from '../../api/spending/capped.js';
import { accessOf } from '../../api/http/openapi/document.js';
import { endOfKey } from '../../domain/accounts/api-key-refusals.js';
import type { AuditKind } from '../../domain/accounts/audit.js';
import { looksLikeApiKey } from '../../domain/accounts/api-keys.js';
import { accountLimits } from '../../domain/accounts/limits.js';
import type { Account } from './account.js';
import { writeAudit } from './audit-trail.js';
import type { World } from './world.js';

/** The API's settings that the cookie depends on: the mock speaks plain HTTP. */
export const cookieDeps = { settings: { secureCookie: false } };

/** Wraps a handler so that only callers reach it who may, by the route's description (decision 108, "API keys"). */
export function signedIn(
  world: World,
  handle: (ctx: ApiContext, account: Account) => void | Promise<void>,
): Step {
  return async (ctx) => {
    const account = await identify(world, ctx);
    const method = ctx.method === 'HEAD' ? 'get' : ctx.method.toLowerCase();
    refuseUnless(ctx, accessOf(method, String(ctx._matchedRoute)));
    refuseClosedToCapped(ctx, String(ctx._matchedRoute));
    if (!account) throw new Error('whoever may call has an account');
    ctx.set('Cache-Control', 'no-store');
    const { caller } = ctx.state;
    if (caller?.kind === 'session' && caller.renewed)
      setSessionCookie(ctx, cookieDeps, ctx.state.sessionToken ?? '');
    await handle(ctx, account);
  };
}

/** Wraps a handler of what strangers are told too, where the mock tells its prices. */
export function signedInOrStranger(
  world: World,
  handle: (ctx: ApiContext, account: Account | undefined) => void,
): Step {
  const guarded = signedIn(world, handle);
  if (!world.publicPrices) return guarded;
  return async (ctx, next) => {
    const account = await identify(world, ctx);
    if (account === undefined && !ctx.state.refusedKey) handle(ctx, undefined);
    else await guarded(ctx, next);
  };
}

/** Finds out who asks, as limitRequests of the service does. */
async function identify(world: World, ctx: ApiContext): Promise<Account | undefined> {
  const bearer = bearerOf(ctx.get('Authorization'));
  if (bearer !== undefined) return identifyKey(world, ctx, bearer);
  const session = await sessionAmong(world, ctx);
  if (session === 'clash') {
    ctx.state.refusedKey = refusalOfClash(ctx, cookieDeps);
    return undefined;
  }
  if (session === undefined) return undefined;
  ctx.state.sessionToken = session.token;
  ctx.state.caller = { kind: 'session', ...session.found.session };
  return session.found.account;
}

function identifyKey(world: World, ctx: ApiContext, token: string): Account | undefined {
  const known = looksLikeApiKey(token) ? world.accounts.findKey(token) : undefined;
  const found = known ? foundKey(world, ctx, known) : { is: 'unknown' as const };
  if (found.is === 'live') ctx.state.caller = { kind: 'key', ...found.key };
  else ctx.state.refusedKey = keyRefusal(found, ctx.ip);
  return known?.account;
}

type Known = NonNullable<ReturnType<World['accounts']['findKey']>>;

function foundKey(world: World, ctx: ApiContext, { key, row }: Known): FoundApiKey {
  const now = world.now();
  const address = auditAddress(ctx);
  const end = endOfKey(keyFactsOf(row, row.expires_at <= now));
  if (end) return end;
  if (row.allowed_cidrs && !isWithin(row.allowed_cidrs, address)) return { is: 'elsewhere' };
  if ((row.last_used_at?.getTime() ?? 0) < now.getTime() - accountLimits.apiKeyTouchMs) {
    Object.assign(row, { last_used_at: now, last_used_address: address ?? null });
  }
  return { is: 'live', key };
}

function isWithin(cidrs: readonly string[], address: string | undefined): boolean {
  if (address === undefined) return false;
  const list = new BlockList();
  for (const cidr of cidrs) {
    const [net = '', prefix] = cidr.split('/');
    list.addSubnet(net, Number(prefix), familyOf(net));
  }
  return list.check(address, familyOf(address));
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 4 ? 'ipv4' : 'ipv6';
}

/** The living session among those that a browser shows. */
export function sessionAmong(world: World, ctx: ApiContext) {
  return findOnlySession(
    sessionTokensOf(ctx.get('Cookie')),
    (token) => Promise.resolve(world.accounts.find(token)),
    ({ account }) => account.user.id,
  );
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
