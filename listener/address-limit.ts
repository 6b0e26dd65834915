import type Koa from 'koa';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { clientOf } from '../api/http/middleware/client-address.js';
import { refuse } from './refused.js';

/**
 * Bounds the requests of an address before anything else is done for them, in this process's memory: guessed tokens cost
 * no query.
 */
export function limitAddresses(perMinute: number): Koa.Middleware {
  const limiter = new RateLimiterMemory({ points: perMinute, duration: 60 });
  return async (ctx, next) => {
    try {
      await limiter.consume(clientOf(ctx.ip));
    } catch (error) {
      if (error instanceof RateLimiterRes) refuse('too_many_requests');
      throw error;
    }
    await next();
  };
}
