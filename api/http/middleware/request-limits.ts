import type { Middleware } from 'koa';
import { isDatabaseAway } from '../../../adapters/postgres/availability.js';
import {
  createExactCount,
  createLeasedCount,
  type Standing,
} from '../../../adapters/postgres/requests/request-counts.js';
import { findApiKey } from '../../../adapters/postgres/accounts/api-keys.js';
import { findSession } from '../../../adapters/postgres/accounts/sessions.js';
import { requestLimits } from '../../../domain/requests/limits.js';
import { Refusal } from '../../../domain/refusal.js';
import { seenFrom } from '../../accounts/seen-from.js';
import type { ApiDeps, ApiState, Caller } from '../../context.js';
import { addressOf } from './client-address.js';
import { bearerOf, keyRefusal } from './caller.js';
import { clientOf } from './client-address.js';
import { isReading } from './safe-methods.js';
import { createRequestTurns } from './turns.js';

type Context = Parameters<Middleware<ApiState, object>>[0];

/**
 * Limits the requests under /v1 (decision 12, "Allowed origins", and decision 58, "Limits of requests"): reads of a
 * session or key and of all of its user's, changes of a user, and all requests of a client address without a live one,
 * so that neither further sessions nor made-up keys win anything. Each answer shows the caller's standing by the
 * nearest limit. The middleware looks the caller up for requireCaller. All of it goes by turns (decision 97, "Requests
 * under way"), because counting takes connections too.
 * @param exempt paths without limits: the payment processor's, which proves itself by its signature
 */
export function limitRequests(deps: ApiDeps, exempt: readonly string[]): Middleware<ApiState, object> {
  const policies = policiesOf(deps);
  const turns = createRequestTurns(deps.settings.requestsAtOnce);
  return async (ctx, next) => {
    if (!ctx.path.startsWith('/v1/') || exempt.includes(ctx.path)) {
      await next();
      return;
    }
    const { caller, refusedKey, failure } = await turns.lookUp(ctx, () => lookUp(ctx, deps));
    await turns.inTurn(ctx, caller, async () => {
      const nearest = await count(ctx, policies, caller);
      tell(ctx, nearest);
      if (!nearest.standing.allowed) throw tooMany(nearest);
      if (failure !== undefined) throw failure;
      if (caller) ctx.state.caller = caller;
      if (refusedKey) ctx.state.refusedKey = refusedKey;
      await next();
    });
  };
}

interface Policy {
  readonly name: string;
  readonly quota: number;
  readonly what: string;
  readonly count: ReturnType<typeof createExactCount>;
}

/** A counted request: a limit, and the caller's standing by it. */
interface Counted {
  readonly policy: Policy;
  readonly standing: Standing;
}

/**
 * Counts a request by each limit that it falls under, and returns the one that leaves the caller least. A request that
 * the session's or key's own limit refuses takes nothing from the user's others.
 */
async function count(ctx: Context, policies: Policies, caller: Caller | undefined): Promise<Counted> {
  const take = async (policy: Policy, key: string): Promise<Counted> => {
    return { policy, standing: await policy.count.count(key) };
  };
  if (!caller) return take(policies.strangers, clientOf(ctx.ip));
  if (!isReading(ctx.method)) return take(policies.changes, caller.userId);
  const own = await take(policies.reads, caller.kind === 'key' ? caller.keyId : caller.id);
  if (!own.standing.allowed) return own;
  const ofUser = await take(policies.readsOfUser, caller.userId);
  const userIsNearer = !ofUser.standing.allowed || ofUser.standing.remaining < own.standing.remaining;
  return userIsNearer ? ofUser : own;
}

type Policies = Record<'reads' | 'readsOfUser' | 'changes' | 'strangers', Policy>;

function policiesOf({ db, settings }: ApiDeps): Policies {
  const windowMs = requestLimits.requestWindowMs;
  const policy = (name: string, quota: number, what: string, create: typeof createExactCount): Policy => ({
    name,
    quota,
    what,
    count: create(db, name, quota, windowMs),
  });
  return {
    reads: policy('reads', settings.readsPerMinute, 'reads by one session or key', createLeasedCount),
    readsOfUser: policy('reads-user', settings.readsPerMinuteOfUser, 'reads of one user', createLeasedCount),
    changes: policy('changes', settings.changesPerMinute, 'changes of one user', createExactCount),
    strangers: policy(
      'strangers',
      settings.strangersPerMinute,
      'requests without a session from one address',
      createLeasedCount,
    ),
  };
}

/** Who asks; or why the key that was sent does not hold. */
interface LookedUp {
  readonly caller?: Caller;
  readonly refusedKey?: Refusal;
}

/**
 * Looks the caller up. While the database is away nobody is known: the request counts as a stranger's, and then fails.
 */
async function lookUp(ctx: Context, deps: ApiDeps): Promise<LookedUp & { failure?: Error }> {
  const bearer = bearerOf(ctx.get('Authorization'));
  try {
    return await (bearer === undefined ? lookUpSession(ctx, deps) : lookUpKey(ctx, deps, bearer));
  } catch (failure) {
    if (failure instanceof Error && isDatabaseAway(failure)) return { failure };
    throw failure;
  }
}

async function lookUpSession(ctx: Context, { db }: ApiDeps): Promise<LookedUp> {
  const session = await findSession(db, ctx.cookies.get('sid') ?? '', seenFrom(ctx));
  return session ? { caller: { kind: 'session', ...session } } : {};
}

/** A key stands before a cookie that comes along: whoever sends one means it. */
async function lookUpKey(ctx: Context, { db }: ApiDeps, token: string): Promise<LookedUp> {
  const found = await findApiKey(db, token, addressOf(ctx.ip));
  if (found.is === 'live') return { caller: { kind: 'key', ...found.key } };
  return { refusedKey: keyRefusal(found, ctx.ip) };
}

/** Writes the fields of the IETF's draft (draft-ietf-httpapi-ratelimit-headers), which name their limit. */
function tell(ctx: Context, { policy, standing }: Counted): void {
  const { name, quota } = policy;
  const { remaining, resetMs } = standing;
  ctx.set('RateLimit-Policy', `"${name}";q=${quota};w=${requestLimits.requestWindowMs / 1000}`);
  ctx.set('RateLimit', `"${name}";r=${remaining};t=${Math.ceil(resetMs / 1000)}`);
}

function tooMany({ policy: { quota, what }, standing }: Counted): Refusal {
  const retryAfterSeconds = Math.ceil(standing.resetMs / 1000);
  return new Refusal(
    'rate_limited',
    `At most ${quota} ${what} are answered in a minute. Try again in ${retryAfterSeconds} seconds.`,
    { retryAfterSeconds },
  );
}
