import type { Middleware } from 'koa';
import { Turns, type PassTurn } from '../../../adapters/turns.js';
import type { UserId } from '../../../domain/ids.js';
import { requestLimits } from '../../../domain/requests/limits.js';
import { Refusal } from '../../../domain/refusal.js';
import type { ApiState, Caller } from '../../context.js';
import { clientOf } from './client-address.js';
import { isReading } from './safe-methods.js';

type Context = Parameters<Middleware<ApiState, object>>[0];

/**
 * Bounds how many requests of one caller are under way at once in this process, before any of them takes a connection
 * of the pool, which all callers share (decision 97, "Requests under way"). Reads and changes of a user count apart, so
 * that slow reads keep no user from stopping their machine. All requests of an address without a caller count
 * together. Other requests wait in this process for their turn.
 */
export interface RequestTurns {
  /** Finds out who asks. An address has separate turns for it, which nothing slower takes. */
  lookUp<T>(ctx: Context, find: () => Promise<T>): Promise<T>;
  /** Takes a turn for reads of a user that is free at once; undefined where it would have to be waited for. */
  tryRead(userId: UserId): PassTurn | undefined;
  /**
   * Does a request's work in its caller's turn. The turn lasts until `work` ends, or until `ctx.state.passTurn` is
   * called. What is sent afterwards has bounds of its own (downloads.ts).
   * @param taken the caller's turn, where it was taken already
   * @throws Refusal rate_limited when the turn did not come: nothing was begun
   */
  inTurn(
    ctx: Context,
    caller: Caller | undefined,
    work: () => Promise<void>,
    taken?: PassTurn,
  ): Promise<void>;
}

/** @param atOnce how many requests of one caller and kind may be under way */
export function createRequestTurns(atOnce: number): RequestTurns {
  const turnsOf = <Key>(whose: string, waiting: number): Turns<Key> =>
    new Turns({
      atOnce,
      waiting,
      waitMs: requestLimits.requestTurnWaitMs,
      refuse: () => tooManyAtOnce(whose),
    });
  const { requestsWaiting, lookUpsWaiting } = requestLimits;
  const lookUps = turnsOf<string>('your address', lookUpsWaiting);
  const strangers = turnsOf<string>('your address', requestsWaiting);
  const reads = turnsOf<UserId>('yours', requestsWaiting);
  const changes = turnsOf<UserId>('yours', requestsWaiting);
  const turnOf = (ctx: Context, caller: Caller | undefined): Promise<PassTurn> =>
    caller ? (isReading(ctx.method) ? reads : changes).take(caller.userId) : strangers.take(clientOf(ctx.ip));
  return {
    async lookUp(ctx, find) {
      const pass = await lookUps.take(clientOf(ctx.ip));
      try {
        return await find();
      } finally {
        pass();
      }
    },
    tryRead: (userId) => reads.tryTake(userId),
    async inTurn(ctx, caller, work, taken) {
      const pass = taken ?? (await turnOf(ctx, caller));
      ctx.state.passTurn = pass;
      try {
        await work();
      } finally {
        pass();
      }
    },
  };
}

const RETRY_AFTER_S = 1;

function tooManyAtOnce(whose: string): Refusal {
  return new Refusal(
    'rate_limited',
    `Too many requests from ${whose} at once. This one was not started: try again in a moment.`,
    { reason: 'too_many_at_once', retryAfterSeconds: RETRY_AFTER_S },
  );
}
