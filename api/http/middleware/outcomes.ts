import type { Middleware } from 'koa';
import { Refusal, refusalStatus } from '../../../domain/refusal.js';
import type { ApiState } from '../../context.js';
import { refusalOf } from './errors.js';

type Context = Parameters<Middleware<ApiState, object>>[0];

/** A path that opens something by POST, and lists what was opened by GET. */
export interface OpeningPath {
  readonly path: string;
  /** Where a caller without an id looks. */
  readonly lookAt: string;
}

/** The two calls that cost money. */
export const openingPaths: readonly OpeningPath[] = [
  { path: '/v1/rentals', lookAt: '/v1/rentals' },
  { path: '/v1/billing/checkout', lookAt: '/v1/billing/topups' },
];

const notDone = { outcome: 'not_done' } as const;

/** The certain outcome of an opening of which nothing was read; undefined for any other request. */
export function outcomeUnread(method: string, path: string, isKeyed: boolean): object | undefined {
  const opening = method === 'POST' ? openingPaths.find((each) => each.path === path) : undefined;
  if (opening === undefined) return undefined;
  return isKeyed ? { outcome: 'unknown', lookAt: opening.lookAt } : notDone;
}

/**
 * Adds the outcome to every failure of an opening (decision 4, "Promise of a 503"): `not_done` where that is certain,
 * else `unknown` with the id and where to look. Every failure passes this, from here or from another middleware.
 */
export function tellOutcomes(paths: readonly OpeningPath[]): Middleware<ApiState, object> {
  return async (ctx, next) => {
    const opening = ctx.method === 'POST' ? paths.find(({ path }) => path === ctx.path) : undefined;
    if (opening === undefined) {
      await next();
      return;
    }
    try {
      await next();
    } catch (error) {
      throw withOutcome(ctx, opening, error);
    }
  };
}

function withOutcome(ctx: Context, { lookAt }: OpeningPath, error: unknown): unknown {
  const refusal = refusalOf(error);
  if (refusalStatus[refusal.code] < 500) return error;
  const { opening } = ctx.state;
  const details = { ...refusal.details, ...(opening?.id !== undefined && { [opening.idName]: opening.id }) };
  if (details['outcome'] !== undefined)
    return new Refusal(refusal.code, refusal.message, details, { cause: error });
  // A twin or an earlier request with the same key may have sent what this one did not.
  if (opening?.hasLeft !== true && ctx.headers['idempotency-key'] === undefined) {
    return new Refusal(
      refusal.code,
      `${refusal.message} Nothing was done.`,
      { ...details, ...notDone },
      { cause: error },
    );
  }
  const where = opening?.lookAt ?? lookAt;
  return new Refusal(
    refusal.code,
    `It is not known yet whether this was done. Look at ${where} in a minute${retryHint(ctx)}.`,
    { ...details, outcome: 'unknown', lookAt: where },
    { cause: error },
  );
}

function retryHint(ctx: Context): string {
  return ctx.headers['idempotency-key'] === undefined
    ? ''
    : ', or send it again with the same Idempotency-Key';
}
