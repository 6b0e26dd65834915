import { RateLimiterMemory, RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible';
import type { Database } from '../database.js';

/** A caller's standing after a request was counted. */
export interface Standing {
  /** False: this request is over the limit. */
  readonly allowed: boolean;
  /** How many more may come in this window. */
  readonly remaining: number;
  /** When the window ends, in milliseconds from now. */
  readonly resetMs: number;
}

/** Counts the requests of callers, each by a key, in windows that begin with a caller's first request. */
export interface RequestCount {
  count(key: string): Promise<Standing>;
}

/** A count that can be asked for a caller's standing without counting anything. */
export interface ExactCount extends RequestCount {
  /** The standing before a further request; `allowed` tells whether one more may come. */
  look(key: string): Promise<Standing>;
}

/**
 * Counts each request in the database: exact over all processes. A caller who has used up a window is refused from
 * memory until it ends. While the database is away each process counts for itself.
 */
export function createExactCount(db: Database, name: string, points: number, windowMs: number): ExactCount {
  const common = { keyPrefix: `api-${name}`, points, duration: windowMs / 1000 };
  // Made at the first request: routes are described without a database as well.
  let made: RateLimiterPostgres | undefined;
  const limiter = (): RateLimiterPostgres =>
    (made ??= new RateLimiterPostgres({
      ...common,
      storeClient: db,
      storeType: 'knex',
      tableName: 'rate_limits',
      tableCreated: true,
      // Housekeeping removes expired counters (upkeep.ts).
      clearExpiredByTimeout: false,
      inMemoryBlockOnConsumed: points,
      insuranceLimiter: new RateLimiterMemory(common),
    }));
  return {
    count: (key) => consume(limiter(), key),
    async look(key) {
      const found = await limiter().get(key);
      if (found === null) return { allowed: true, remaining: points, resetMs: windowMs };
      return standingOf(found.remainingPoints > 0, found);
    },
  };
}

async function consume(limiter: RateLimiterPostgres, key: string): Promise<Standing> {
  try {
    return standingOf(true, await limiter.consume(key));
  } catch (refused) {
    if (refused instanceof RateLimiterRes) return standingOf(false, refused);
    throw refused;
  }
}

function standingOf(allowed: boolean, result: RateLimiterRes): Standing {
  return {
    allowed,
    remaining: Math.max(0, result.remainingPoints),
    resetMs: Math.max(1, result.msBeforeNext),
  };
}

/** The most requests that are taken from the database at once. */
const LEASE_MAX = 20;

interface Lease {
  /** Requests of this lease that are not used yet. */
  left: number;
  /** Requests that the database had left when it was taken. */
  readonly beyond: number;
  readonly refused: boolean;
  readonly endsAtMs: number;
}

/**
 * Counts requests in this process's memory, from leases of up to 20 that it gets from the database: one round trip
 * for 20 requests. All processes together never let more through than the limit. What a process has leased and does
 * not use is lost to the others, so a caller spread over several processes may be refused up to 19 requests early
 * for each further one (decision 58, "Limits of requests").
 */
export function createLeasedCount(
  db: Database,
  name: string,
  points: number,
  windowMs: number,
): RequestCount {
  const size = leaseSizeOf(points);
  const leases = createExactCount(db, name, points / size, windowMs);
  const held = new Map<string, Lease>();
  const coming = new Map<string, Promise<Lease>>();
  let sweepAtMs = Date.now() + windowMs;

  async function fetchLease(key: string): Promise<Lease> {
    const { allowed, remaining, resetMs } = await leases.count(key);
    const now = Date.now();
    if (now >= sweepAtMs) {
      for (const [other, { endsAtMs }] of held) if (endsAtMs <= now) held.delete(other);
      sweepAtMs = now + windowMs;
    }
    const endsAtMs = now + resetMs;
    const lease = { left: allowed ? size : 0, beyond: remaining * size, refused: !allowed, endsAtMs };
    held.set(key, lease);
    return lease;
  }

  /** One fetch at a time for a key: callers that come meanwhile wait for the same lease. */
  function nextLease(key: string): Promise<Lease> {
    const known = coming.get(key);
    if (known) return known;
    const fetching = fetchLease(key).finally(() => coming.delete(key));
    coming.set(key, fetching);
    return fetching;
  }

  return {
    async count(key) {
      let lease = held.get(key);
      while (!lease || lease.endsAtMs <= Date.now() || (lease.left === 0 && !lease.refused)) {
        lease = await nextLease(key);
      }
      const allowed = lease.left > 0;
      if (allowed) lease.left -= 1;
      return {
        allowed,
        remaining: lease.left + lease.beyond,
        resetMs: Math.max(1, lease.endsAtMs - Date.now()),
      };
    },
  };
}

/** Returns the largest divisor of the limit up to 20, so that no rest is out of reach. */
function leaseSizeOf(points: number): number {
  let size = Math.min(LEASE_MAX, points);
  while (points % size !== 0) size -= 1;
  return size;
}
