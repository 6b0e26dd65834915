import type { Middleware } from 'koa';
import type { Logger } from 'pino';
import { isTransient } from '../../../adapters/postgres/availability.js';
import { helpedBySupport, Refusal, refusalStatus, type RefusalCode } from '../../../domain/refusal.js';
import type { ApiState } from '../../context.js';

/**
 * The one exit for every failure (decision 2, "Shape of an error", and decision 3, "Table of codes"). A refusal answers
 * by the table. A failure of the database that passes is a 503 (decision 124, "Failures that pass"); callers of Temporal
 * handle its absence themselves. Any other error is logged, and its answer shows nothing of the inside.
 * @param supportContact what answers name that send people to support; null: nobody
 */
export function errors(supportContact: string | null): Middleware<ApiState, object> {
  return async (ctx, next) => {
    try {
      await next();
    } catch (error) {
      const refusal = refusalOf(error);
      if (refusalStatus[refusal.code] >= 500) tellFailure(ctx.state.log, error);
      // The unread rest of this request would be taken for the next one, or be read for nothing.
      if (!ctx.req.complete) ctx.set('Connection', 'close');
      ctx.status = refusalStatus[refusal.code];
      const retryAfter = retryAfterOf(refusal);
      if (retryAfter !== undefined) ctx.set('Retry-After', retryAfter);
      // What the failed answer would have been known and kept by.
      ctx.remove('ETag');
      ctx.set('Cache-Control', 'no-store');
      ctx.body = errorBody(refusal, ctx.state.answeredAs ?? ctx.state.requestId, supportContact);
    }
  };
}

/** A refusal that is meant so is one line: a stranger can ask for as many as they like. */
function tellFailure(log: Logger, error: unknown): void {
  if (error instanceof Refusal && error.cause === undefined)
    log.warn({ reason: error.message }, 'request refused');
  else log.error({ err: error }, 'request failed');
}

interface ErrorBody {
  readonly error: RefusalCode;
  readonly message: string;
  readonly details?: unknown;
  readonly requestId: string;
  readonly support?: string;
}

function errorBody(refusal: Refusal, requestId: string, supportContact: string | null): ErrorBody {
  return {
    error: refusal.code,
    message: refusal.message,
    ...(refusal.details !== undefined && { details: refusal.details }),
    requestId,
    ...(supportContact !== null && helpedBySupport.has(refusal.code) && { support: supportContact }),
  };
}

/** The wait in whole seconds that a refusal tells; a 429 without one is over in a moment. */
function retryAfterOf(refusal: Refusal): string | undefined {
  const seconds = refusal.details?.['retryAfterSeconds'];
  if (typeof seconds === 'number') return seconds.toString();
  return refusalStatus[refusal.code] === 429 ? '1' : undefined;
}

/**
 * The refusal that answers an error: the error itself where it is one, else a code that shows nothing of the inside.
 */
export function refusalOf(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  if (isTransient(error)) {
    return new Refusal('temporarily_unavailable', 'We can’t do this right now. Try again in a few seconds.');
  }
  return new Refusal(
    'internal_error',
    'Something went wrong on our side. Try again. If it happens again, send support the requestId.',
  );
}
