import { Readable } from 'node:stream';
import type { Middleware } from 'koa';
import { isDatabaseAway } from '../../../adapters/postgres/availability.js';
import {
  createExactCount,
  createLeasedCount,
  type Standing,
} from '../../../adapters/postgres/requests/request-counts.js';
import { findApiKey } from '../../../adapters/postgres/accounts/api-keys.js';
import { findSession } from '../../../adapters/postgres/accounts/sessions.js';
import type { PassTurn } from '../../../adapters/turns.js';
import type { UserId } from '../../../domain/ids.js';
import { requestLimits } from '../../../domain/requests/limits.js';
import { Refusal } from '../../../domain/refusal.js';
import { seenFrom } from '../../accounts/seen-from.js';
import { AnswersUnderWay } from './answers.js';
import { onlyOf, type ApiDeps, type ApiState, type Caller } from '../../context.js';
import type { ReadAhead } from '../../../adapters/postgres/prepared.js';
import { addressOf } from './client-address.js';
import { bearerOf, keyRefusal } from './caller.js';
import { clientOf } from './client-address.js';
import { Downloads } from './downloads.js';
import { KnownCallers, readAheadOf, type Whose } from './read-ahead.js';
import { findOnlySession, refusalOfClash, sessionTokensOf } from './session.js';
import { isReading } from './safe-methods.js';
import { createRequestTurns, type RequestTurns } from './turns.js';

type Context = Parameters<Middleware<ApiState, object>>[0];

/**
 * Limits the requests under /v1 (decision 12, "Allowed origins", and decision 58, "Limits of requests"): reads of a
 * session or key and of all of its user's, changes of a user, and by keys alone, and all requests of a client address
 * without a live one, so that neither further sessions nor made-up keys win anything. Each answer shows the caller's standing by
 * each limit, the nearest first. The middleware looks the caller up for requireCaller. All of it goes by turns (decision 97, "Requests
 * under way"), because counting takes connections too.
 * @param exempt paths without limits: the payment processor's, which proves itself by its signature
 */
export function limitRequests(deps: ApiDeps, exempt: readonly string[]): Middleware<ApiState, object> {
  const policies = policiesOf(deps);
  const turns = createRequestTurns(deps.settings.requestsAtOnce);
  const known = new KnownCallers();
  const answers = new AnswersUnderWay(deps);
  const downloads = new Downloads();
  return async (ctx, next) => {
    if (!ctx.path.startsWith('/v1/') || exempt.includes(ctx.path)) {
      await next();
      return;
    }
    const asked = credentialOf(ctx);
    const whose = known.get(asked.credential);
    const begun = begin(ctx, whose, turns);
    const { caller, refusedKey, failure } = await lookUpInTurn(ctx, { deps, turns, asked, begun });
    const taken = turnFor(caller, begun);
    const work = async (): Promise<void> => {
      const counted = await count(ctx, policies, caller);
      const refused = counted.find(({ standing }) => !standing.allowed);
      tell(ctx, counted);
      // Nothing is read ahead for whoever is refused: not even once more.
      if (!caller || refused) known.forget(asked.credential);
      if (refused) throw tooMany(refused);
      if (failure !== undefined) throw failure;
      if (caller) {
        ctx.state.caller = caller;
        answers.watch(ctx, caller);
        const now = { userId: caller.userId, onlyOf: onlyOf(ctx) };
        if (!whose || whose.onlyOf !== now.onlyOf) known.remember(asked.credential, now);
      }
      if (begun) ctx.state.ahead = begun.ahead;
      if (refusedKey) ctx.state.refusedKey = refusedKey;
      await next();
    };
    await turns.inTurn(ctx, caller, work, taken);
    if (ctx.body instanceof Readable) downloads.begin(ctx, caller);
  };
}

/** A read that goes along with the look-up of its caller, in the turn of whom it probably is. */
interface Begun {
  readonly ahead: ReadAhead;
  readonly userId: UserId;
  readonly pass: PassTurn;
}

/** Begins to read ahead, where it is known for whom and what, and their turn is free at once. */
function begin(ctx: Context, whose: Whose | undefined, turns: RequestTurns): Begun | undefined {
  const ahead = whose && readAheadOf(ctx, whose);
  const pass = ahead && turns.tryRead(whose.userId);
  return pass && { ahead, userId: whose.userId, pass };
}

/** Looks the caller up: in the turn of what is read ahead, which may be slow, or else in one that nothing slower takes. */
async function lookUpInTurn(
  ctx: Context,
  { deps, turns, asked, begun }: Begin,
): Promise<LookedUp & { failure?: Error }> {
  if (!begun) return turns.lookUp(ctx, () => lookUp(ctx, deps, asked, undefined));
  try {
    return await lookUp(ctx, deps, asked, begun.ahead);
  } catch (error) {
    begun.pass();
    throw error;
  }
}

interface Begin {
  readonly deps: ApiDeps;
  readonly turns: RequestTurns;
  readonly asked: Credential;
  readonly begun: Begun | undefined;
}

/** The turn that was taken ahead, if it is this caller's. */
function turnFor(caller: Caller | undefined, begun: Begun | undefined): PassTurn | undefined {
  if (begun && caller?.userId === begun.userId) return begun.pass;
  begun?.pass();
  return undefined;
}

interface Policy {
  readonly name: string;
  readonly quota: number;
  readonly what: string;
  readonly count: ReturnType<typeof createLeasedCount>;
}

/** A counted request: a limit, and the caller's standing by it. */
interface Counted {
  readonly policy: Policy;
  readonly standing: Standing;
}

/**
 * Counts a request by each limit that it falls under. A request that the session's or key's own limit refuses takes
 * nothing from the user's others.
 * @returns the limits, first the one that leaves the caller least
 */
async function count(ctx: Context, policies: Policies, caller: Caller | undefined): Promise<Counted[]> {
  const counted: Counted[] = [];
  for (const [policy, key] of limitsOf(ctx, policies, caller)) {
    const standing = await policy.count.count(key);
    counted.push({ policy, standing });
    if (!standing.allowed) break;
  }
  return counted.toSorted((one, other) => leftIn(one) - leftIn(other));
}

/** A stop ends what costs money: no key that changes too much may keep another one from it. */
const stops = /^\/v1\/rentals\/[^/]+\/stop$/;

/** The limits that a request falls under, each with whom it counts. */
function limitsOf(ctx: Context, policies: Policies, caller: Caller | undefined): [Policy, string][] {
  if (!caller) return [[policies.strangers, clientOf(ctx.ip)]];
  const { userId } = caller;
  if (isReading(ctx.method)) {
    const own = caller.kind === 'key' ? caller.keyId : caller.id;
    return [
      [policies.reads, own],
      [policies.readsOfUser, userId],
    ];
  }
  const isShared = caller.kind === 'key' && !stops.test(ctx.path);
  return [
    ...(isShared ? ([[policies.changesOfKeys, userId]] as [Policy, string][]) : []),
    [policies.changes, userId],
  ];
}

function leftIn({ standing: { allowed, remaining } }: Counted): number {
  return allowed ? remaining : -1;
}

type Policies = Record<'reads' | 'readsOfUser' | 'changesOfKeys' | 'changes' | 'strangers', Policy>;

function policiesOf({ db, settings }: ApiDeps): Policies {
  const windowMs = requestLimits.requestWindowMs;
  const policy = (name: string, quota: number, what: string, create: typeof createLeasedCount): Policy => ({
    name,
    quota,
    what,
    count: create(db, name, quota, windowMs),
  });
  return {
    reads: policy('reads', settings.readsPerMinute, 'reads by one session or key', createLeasedCount),
    readsOfUser: policy('reads-user', settings.readsPerMinuteOfUser, 'reads of one user', createLeasedCount),
    changesOfKeys: policy(
      'changes-keys',
      Math.ceil(settings.changesPerMinute * requestLimits.changesPartOfKeys),
      'changes by API keys of one user',
      createExactCount,
    ),
    changes: policy('changes', settings.changesPerMinute, 'changes of one user', createExactCount),
    strangers: policy(
      'strangers',
      settings.strangersPerMinute,
      'requests without a session from one address',
      createLeasedCount,
    ),
  };
}

/** Who asks; or why what was sent to be known by does not hold. */
interface LookedUp {
  readonly caller?: Caller;
  readonly refusedKey?: Refusal;
}

/** What a request shows to be known by. */
interface Credential {
  readonly isKey: boolean;
  /** Empty for none; several sessions are separated by spaces. */
  readonly credential: string;
}

/** A key stands before a cookie that comes along: whoever sends one means it. */
function credentialOf(ctx: Context): Credential {
  const bearer = bearerOf(ctx.get('Authorization'));
  if (bearer !== undefined) return { isKey: true, credential: bearer };
  return { isKey: false, credential: sessionTokensOf(ctx.get('Cookie')).join(' ') };
}

/**
 * Looks the caller up. While the database is away nobody is known: the request counts as a stranger's, and then fails.
 */
async function lookUp(
  ctx: Context,
  deps: ApiDeps,
  { isKey, credential }: Credential,
  ahead: ReadAhead | undefined,
): Promise<LookedUp & { failure?: Error }> {
  try {
    return await (isKey ? lookUpKey : lookUpSession)(ctx, deps, credential, ahead);
  } catch (failure) {
    if (failure instanceof Error && isDatabaseAway(failure)) return { failure };
    throw failure;
  }
}

type LookUp = (
  ctx: Context,
  deps: ApiDeps,
  credential: string,
  ahead: ReadAhead | undefined,
) => Promise<LookedUp>;

const lookUpSession: LookUp = async (ctx, deps, tokens, ahead) => {
  const session = await findOnlySession(
    tokens.split(' '),
    (token, nth) => findSession(deps.db, token, seenFrom(ctx), nth === 0 ? ahead : undefined),
    ({ userId }) => userId,
  );
  if (session === 'clash') return { refusedKey: refusalOfClash(ctx, deps) };
  if (session === undefined) return {};
  ctx.state.sessionToken = session.token;
  ctx.state.holdsToken = async () => (await findSession(deps.db, session.token)) !== undefined;
  return { caller: { kind: 'session', ...session.found } };
};

const lookUpKey: LookUp = async (ctx, { db }, token, ahead) => {
  const found = await findApiKey(db, token, addressOf(ctx.ip), ahead);
  if (found.is === 'live') return { caller: { kind: 'key', ...found.key } };
  return { refusedKey: keyRefusal(found, ctx.ip) };
};

/** Writes the fields of the IETF's draft (draft-ietf-httpapi-ratelimit-headers), which name their limit. */
function tell(ctx: Context, counted: readonly Counted[]): void {
  const windowSeconds = requestLimits.requestWindowMs / 1000;
  const bounds = counted.map(({ policy: { name, quota } }) => `"${name}";q=${quota};w=${windowSeconds}`);
  const standings = counted.map(
    ({ policy: { name }, standing: { remaining, resetMs } }) =>
      `"${name}";r=${remaining};t=${Math.ceil(resetMs / 1000)}`,
  );
  ctx.set('RateLimit-Policy', bounds.join(', '));
  ctx.set('RateLimit', standings.join(', '));
}

function tooMany({ policy: { quota, what }, standing }: Counted): Refusal {
  const retryAfterSeconds = Math.ceil(standing.resetMs / 1000);
  return new Refusal(
    'rate_limited',
    `You have reached the limit of ${quota} ${what} a minute. Try again in ${retryAfterSeconds} seconds.`,
    { retryAfterSeconds },
  );
}
