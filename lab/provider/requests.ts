import type { ObjectSchema } from 'joi';
import type { Context } from 'koa';
import readRawBody from 'raw-body';
import { findStrike, findStrikeOn, type Endpoint } from './faults.js';
import type { Fleet } from './fleet.js';
import type { LabOffer } from './offers.js';
import { isOfDialect, type LabDialect, type LabPod } from './state.js';

const MAX_BODY = '256kb';

/**
 * Reads a JSON body and checks it; an empty one counts as `{}`. Answers 400 with the reason.
 * @param misfit the status for JSON that does not fit the schema
 */
export async function readBody<T>(ctx: Context, schema: ObjectSchema, misfit: 400 | 422 = 400): Promise<T> {
  const text = await readRawBody(ctx.req, { encoding: 'utf8', limit: MAX_BODY });
  let parsed: unknown;
  try {
    parsed = text === '' ? {} : JSON.parse(text);
  } catch {
    ctx.throw(400, 'the body is not JSON');
  }
  const { error, value } = schema.validate(parsed) as { error?: Error; value: T };
  if (error !== undefined) ctx.throw(misfit, error.message);
  return value;
}

/**
 * Finds the pod with this id; answers 404 when it is unknown or gone.
 * @param dialect the API of the request, which does not see another's pods; undefined sees every pod, for the lab's own
 * endpoints
 */
export function getPod(ctx: Context, fleet: Fleet, id: string | undefined, dialect?: LabDialect): LabPod {
  const pod = fleet.find(id ?? '');
  if (pod === undefined || (dialect !== undefined && !isOfDialect(pod, dialect))) {
    ctx.throw(404, 'instance not found');
  }
  return pod;
}

/**
 * Plays the faults that strike a request before anything is done.
 * @param onLimit sets the dialect's other words about a rate limit
 */
export function refuseRequest(
  ctx: Context,
  fleet: Fleet,
  endpoint: Endpoint,
  onLimit: (retryAfterSeconds: number | null) => void = () => undefined,
): void {
  const limit =
    findStrikeOn(fleet.faults, 'rateLimit', endpoint) ??
    (endpoint === 'create' ? findStrike(fleet.faults, 'rateLimitCreate') : undefined);
  if (limit !== undefined) {
    const { retryAfterSeconds } = limit;
    if (retryAfterSeconds !== null) ctx.set('retry-after', String(retryAfterSeconds));
    onLimit(retryAfterSeconds);
    ctx.throw(429, 'rate limit exceeded');
  }
  if (findStrikeOn(fleet.faults, 'failRequest', endpoint))
    ctx.throw(500, 'the lab was told to fail this request');
}

/** Tells whether the lab was told to have no machine of this offer left. */
export function isSoldOut(fleet: Fleet, offer: LabOffer): boolean {
  const types = fleet.faults.noCapacity?.types ?? null;
  if (types !== null && !types.includes(offer.type)) return false;
  return findStrike(fleet.faults, 'noCapacity') !== undefined;
}
