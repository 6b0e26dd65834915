import type { Middleware } from 'koa';
import { isDatabaseAway } from '../../adapters/postgres/availability.js';
import {
  createExactCount,
  createLeasedCount,
  type Standing,
} from '../../adapters/postgres/request-counts.js';
import { findSession, type Session } from '../../adapters/postgres/sessions.js';
import { limits } from '../../domain/limits.js';
import { Refusal } from '../../domain/refusal.js';
import type { ApiDeps, ApiState } from '../context.js';
import { clientOf } from './client-address.js';
import { isReading } from './safe-methods.js';

type Context = Parameters<Middleware<ApiState, object>>[0];

/**
 * Limits the requests under /v1 (decisions 12 and 58): reads and changes of a session apart, and all that a client
 * address sends without a live session, so that made-up cookies win nothing. Says on each answer how the caller
 * stands. It looks the session up for requireSession.
 * @param exempt paths that are not limited: the payment processor's, which proves itself by its signature
 */
export function limitRequests(deps: ApiDeps, exempt: readonly string[]): Middleware<ApiState, object> {
  const policies = policiesOf(deps);
  return async (ctx, next) => {
    if (!ctx.path.startsWith('/v1/') || exempt.includes(ctx.path)) {
      await next();
      return;
    }
    const { session, failure } = await lookUp(ctx, deps);
    const policy = session ? policies[isReading(ctx.method) ? 'reads' : 'changes'] : policies.strangers;
    const key = session ? session.tokenHash.toString('hex') : clientOf(ctx.ip);
    const standing = await policy.count.take(key);
    tell(ctx, policy, standing);
    if (!standing.allowed) throw tooMany(policy, standing);
    if (failure !== undefined) throw failure;
    if (session) ctx.state.session = session;
    await next();
  };
}

interface Policy {
  readonly name: string;
  readonly quota: number;
  readonly what: string;
  readonly count: ReturnType<typeof createExactCount>;
}

function policiesOf({ db, settings }: ApiDeps): Record<'reads' | 'changes' | 'strangers', Policy> {
  const windowMs = limits.requestWindowMs;
  const policy = (name: string, quota: number, what: string, create: typeof createExactCount): Policy => ({
    ...{ name, quota, what },
    count: create(db, name, quota, windowMs),
  });
  return {
    reads: policy('reads', settings.readsPerMinute, 'reads in a session', createLeasedCount),
    changes: policy('changes', settings.changesPerMinute, 'changes in a session', createExactCount),
    strangers: policy(
      'strangers',
      settings.strangersPerMinute,
      'requests without a session from one address',
      createLeasedCount,
    ),
  };
}

/** While the database is away nobody is known: the request is counted as a stranger's, and fails after that. */
async function lookUp(ctx: Context, deps: ApiDeps): Promise<{ session?: Session; failure?: Error }> {
  try {
    const session = await findSession(deps.db, ctx.cookies.get('sid') ?? '');
    return session ? { session } : {};
  } catch (failure) {
    if (failure instanceof Error && isDatabaseAway(failure)) return { failure };
    throw failure;
  }
}

/** The fields of the IETF's draft (draft-ietf-httpapi-ratelimit-headers): they name which limit they are about. */
function tell(ctx: Context, { name, quota }: Policy, { remaining, resetMs }: Standing): void {
  ctx.set('RateLimit-Policy', `"${name}";q=${quota};w=${limits.requestWindowMs / 1000}`);
  ctx.set('RateLimit', `"${name}";r=${remaining};t=${Math.ceil(resetMs / 1000)}`);
}

function tooMany({ quota, what }: Policy, { resetMs }: Standing): Refusal {
  const retryAfterSeconds = Math.ceil(resetMs / 1000);
  return new Refusal(
    'rate_limited',
    `At most ${quota} ${what} are answered in a minute. Try again in ${retryAfterSeconds} seconds.`,
    { retryAfterSeconds },
  );
}
