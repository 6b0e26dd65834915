import type Koa from 'koa';
import type { Context } from 'koa';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { hashOfMachineToken } from '../adapters/machine-bundles.js';
import { clientOf } from '../api/http/middleware/client-address.js';
import { machineCallLimits, machinePaths } from '../domain/machines/calls.js';
import { refuse, Refused } from './refused.js';

/** How many calls of whom are heard in a minute. */
export interface CallLimits {
  readonly perMinuteOfAddress: number;
  readonly perMinuteOfToken: number;
}

/** Finds the token that a request brings; undefined where it brings nothing of a token's form. */
export function findToken(ctx: Context): string | undefined {
  return /^Bearer ([0-9a-f]{64})$/.exec(ctx.get('Authorization'))?.[1];
}

/**
 * Bounds the requests of an address before anything else is done for them, in this process's memory: guessed tokens cost
 * no query. A token that did something from there counts by itself, so that nobody's noise silences a machine of the same
 * address; and what brings no token silences none that is still unknown.
 */
export function limitCallers({ perMinuteOfAddress, perMinuteOfToken }: CallLimits): Koa.Middleware {
  const ofAddress = new RateLimiterMemory({ points: perMinuteOfAddress, duration: 60 });
  const ofToken = new RateLimiterMemory({ points: perMinuteOfToken, duration: 60 });
  const known = new KnownCallers();
  return async (ctx, next) => {
    const address = clientOf(ctx.ip);
    const token = findToken(ctx);
    if (token === undefined) {
      await count(ofAddress, `${address} without`);
      await next();
      return;
    }
    const caller = `${address} ${hashOfMachineToken(token).toString('base64')}`;
    await (known.has(caller) ? count(ofToken, caller) : count(ofAddress, address));
    try {
      await next();
    } catch (error) {
      // Its machine is over, or it never was one.
      if (error instanceof Refused && error.status === 401) known.forget(caller);
      throw error;
    }
    // Below these paths, only what a token opens ends so.
    if (ctx.path.startsWith(machinePaths)) known.remember(caller);
  };
}

/** @throws Refused when there are too many in a minute */
async function count(limiter: RateLimiterMemory, who: string): Promise<void> {
  try {
    await limiter.consume(who);
  } catch (error) {
    if (error instanceof RateLimiterRes) refuse('too_many_requests');
    throw error;
  }
}

/** The tokens that lately did something, each with its address. One that is not among them counts for its address. */
class KnownCallers {
  readonly #callers = new Set<string>();

  has(caller: string): boolean {
    return this.#callers.has(caller);
  }

  remember(caller: string): void {
    this.#callers.delete(caller);
    this.#callers.add(caller);
    if (this.#callers.size <= machineCallLimits.knownTokens) return;
    const [oldest] = this.#callers;
    if (oldest !== undefined) this.#callers.delete(oldest);
  }

  forget(caller: string): void {
    this.#callers.delete(caller);
  }
}
