import { RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible';
import type { RequestBudget } from '../providers/request-budget.js';
import type { Database } from './database.js';

/** The share of an upstream's budget that lists may use up. */
const READING_SHARE = 0.75;

/**
 * An upstream's request budget, counted in the database, because several workers share it. Should the database be
 * away, the request is refused: nothing could be noted about a pod that it bought.
 */
export function createRequestBudget(db: Database, code: string, requestsPerMinute: number): RequestBudget {
  const limiter = (use: string, points: number): RateLimiterPostgres =>
    new RateLimiterPostgres({
      storeClient: db,
      storeType: 'knex',
      tableName: 'rate_limits',
      tableCreated: true,
      clearExpiredByTimeout: false,
      keyPrefix: `upstream-${use}`,
      points,
      duration: 60,
    });
  const all = limiter('all', requestsPerMinute);
  const reading = limiter('reading', Math.max(1, Math.floor(requestsPerMinute * READING_SHARE)));
  return {
    async take(use) {
      const waitMs = use === 'reading' ? await consume(reading, code) : 0;
      return waitMs > 0 ? waitMs : consume(all, code);
    },
  };
}

async function consume(limiter: RateLimiterPostgres, key: string): Promise<number> {
  try {
    await limiter.consume(key);
    return 0;
  } catch (refused) {
    if (refused instanceof RateLimiterRes) return Math.max(1, refused.msBeforeNext);
    throw refused;
  }
}
