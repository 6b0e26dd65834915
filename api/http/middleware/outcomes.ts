import type { Middleware } from 'koa';
import { Refusal, refusalStatus } from '../../../domain/refusal.js';
import type { ApiState } from '../../context.js';
import { refusalOf } from './errors.js';

type Context = Parameters<Middleware<ApiState, object>>[0];

/** A path under which something is opened or changed, and where GET shows what came of it. */
export interface OpeningPath {
  /** Default: POST. */
  readonly method?: string;
  /** A text, or a pattern of paths that are looked at themselves. */
  readonly path: string | RegExp;
  /** Where a caller without an id looks; default: the path itself. */
  readonly lookAt?: string;
}

/** The calls that cost money. */
export const openingPaths: readonly OpeningPath[] = [
  { path: '/v1/rentals', lookAt: '/v1/rentals' },
  { path: '/v1/billing/checkout', lookAt: '/v1/billing/topups' },
  { method: 'PATCH', path: /^\/v1\/rentals\/[^/]+$/ },
];

/** Finds where to look for the outcome of a request; undefined when it opens and changes nothing. */
function lookAtOf(
  paths: readonly OpeningPath[],
  { method, path }: { readonly method: string; readonly path: string },
): string | undefined {
  const opening = paths.find(
    (each) =>
      (each.method ?? 'POST') === method &&
      (typeof each.path === 'string' ? each.path === path : each.path.test(path)),
  );
  return opening && (opening.lookAt ?? path);
}

const notDone = { outcome: 'not_done' } as const;

/** The certain outcome of an opening of which nothing was read; undefined for any other request. */
export function outcomeUnread(method: string, path: string, isKeyed: boolean): object | undefined {
  const lookAt = lookAtOf(openingPaths, { method, path });
  if (lookAt === undefined) return undefined;
  return isKeyed ? { outcome: 'unknown', lookAt } : notDone;
}

/**
 * Adds the outcome to every failure of an opening (decision 4, "Promise of a 503"): `not_done` where that is certain,
 * else `unknown` with the id and where to look. Every failure passes this, from here or from another middleware.
 */
export function tellOutcomes(paths: readonly OpeningPath[]): Middleware<ApiState, object> {
  return async (ctx, next) => {
    const lookAt = lookAtOf(paths, ctx);
    if (lookAt === undefined) {
      await next();
      return;
    }
    try {
      await next();
    } catch (error) {
      throw withOutcome(ctx, lookAt, error);
    }
  };
}

function withOutcome(ctx: Context, lookAt: string, error: unknown): unknown {
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
      `${refusal.message} Nothing happened.`,
      { ...details, ...notDone },
      { cause: error },
    );
  }
  const where = opening?.lookAt ?? lookAt;
  return new Refusal(
    refusal.code,
    `We don’t know yet whether this went through. Check ${where} in a minute${retryHint(ctx)}.`,
    { ...details, outcome: 'unknown', lookAt: where },
    { cause: error },
  );
}

function retryHint(ctx: Context): string {
  return ctx.headers['idempotency-key'] === undefined
    ? ''
    : ', or repeat the request with the same Idempotency-Key';
}
