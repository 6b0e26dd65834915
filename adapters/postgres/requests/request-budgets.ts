import { RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible';
import { MINUTE, SECOND } from '../../../domain/durations.js';
import { machineLimits } from '../../../domain/machines/limits.js';
import { READING_SHARE, readIntervalMs, type QuotaWindow } from '../../providers/upstream/quotas.js';
import type { Pace, RequestBudget, Turn } from '../../providers/upstream/request-budget.js';
import type { Database } from '../database.js';

/**
 * The share of each minute that is kept for reads, however much is bought, ended and renewed: only the lists tell that a pod
 * is gone. At 60 requests a minute it is two catalogs of four requests, and four lists. Minutes of acting do not begin with
 * those of all, so where two of them meet, acts may take it once.
 */
const READING_RESERVE = 0.2;

/** An upstream's word on its quotas counts for this long; each answer renews it. */
const TOLD_FOR_MS = 15 * MINUTE;

/**
 * Makes an upstream's request budget, counted in the database, because several workers share it. While the database is
 * away, requests are refused: nothing could be noted about a pod that they bought.
 * @param slackMs late reads may be caught up with as far as this: the watcher looks only once in a while
 */
export function createRequestBudget(
  db: Database,
  code: string,
  requestsPerMinute: number,
  slackMs = 2 * machineLimits.pollMs,
): RequestBudget {
  const limiter = (use: string, points: number, seconds = 60): RateLimiterPostgres =>
    new RateLimiterPostgres({
      storeClient: db,
      storeType: 'knex',
      tableName: 'rate_limits',
      tableCreated: true,
      clearExpiredByTimeout: false,
      keyPrefix: `upstream-${use}`,
      points,
      duration: seconds,
    });
  const all = limiter('all', requestsPerMinute);
  const shareOf = (use: string, share: number): RateLimiterPostgres =>
    limiter(use, Math.max(1, Math.floor(requestsPerMinute * share)));
  // Rounded down: what it keeps for reads is at least one.
  const changing = shareOf('changing', 1 - READING_RESERVE);
  const limits = {
    reading: [shareOf('reading', READING_SHARE), all],
    renewing: [shareOf('renewing', (1 - READING_SHARE) / 2), changing, all],
    acting: [changing, all],
  };
  return {
    async take(use) {
      for (const limit of limits[use]) {
        const waitMs = await consume(limit, code);
        if (waitMs > 0) return waitMs;
      }
      return 0;
    },
    pace: (reads) => pace(db, code, reads, slackMs),
    learn: (windows) => learn(db, code, windows),
    takeTurn: (pace, mostWaitMs) => takeTurn(db, `upstream-turn-${pace.name}:${code}`, pace, mostWaitMs),
  };
}

/**
 * Instants that lie further ahead than they are ever set were written by a clock that ran ahead since, and say nothing.
 * The cost of the reads, in time, begins where that of the reads before them ends (a leaky bucket; decision 93, "Quotas
 * and upstream money").
 */
async function pace(db: Database, code: string, reads: number, slackMs: number): Promise<number> {
  return db.transaction(async (trx) => {
    const { rows } = await trx.raw<{
      rows: { windows: QuotaWindow[]; toldMs: number; nextMs: number; nowMs: number }[];
    }>(
      `select windows, epoch_ms(told_at) as "toldMs", epoch_ms(next_read_at) as "nextMs", epoch_ms(clock_ms()) as "nowMs"
         from provider_quotas where provider_code = ? for update`,
      [code],
    );
    const [row] = rows;
    const ageMs = row === undefined ? Infinity : row.nowMs - row.toldMs;
    if (row === undefined || ageMs > TOLD_FOR_MS || ageMs < -machineLimits.slowestReadMs) return 0;
    const aheadMs = row.nextMs - row.nowMs;
    const waitMs = aheadMs > machineLimits.slowestReadMs ? 0 : aheadMs;
    if (waitMs > 0) return waitMs;
    // However small the quotas, no read is put off for longer than a list may be late.
    const costMs = Math.min(
      machineLimits.slowestReadMs,
      reads * readIntervalMs(row.windows, Math.max(0, ageMs)),
    );
    const nextMs = Math.max(row.nowMs + waitMs, row.nowMs - slackMs) + costMs;
    await trx.raw(
      `update provider_quotas set next_read_at = clock_ms() + ?::float8 * interval '1 millisecond' where provider_code = ?`,
      [nextMs - row.nowMs, code],
    );
    return 0;
  });
}

/** Nobody waits longer for a turn: whoever waits for a list gives up after a minute of silence. */
const LONGEST_TURN_MS = MINUTE;

/**
 * The counter's row tells until when all turns are taken. One that tells of later than turns are ever given was written by
 * a clock that ran ahead since: it says nothing.
 */
async function takeTurn(db: Database, key: string, { everyMs }: Pace, mostWaitMs: number): Promise<Turn> {
  const facts = {
    ...{ key, everyMs: Math.round(everyMs), mostWaitMs: Math.floor(Math.min(mostWaitMs, LONGEST_TURN_MS)) },
    aheadMs: LONGEST_TURN_MS + Math.round(everyMs),
  };
  const taken = await db.raw<{ rows: { waitMs: number }[] }>(
    `insert into rate_limits as turn (key, points, expire) values (:key, 1, epoch_ms(clock_ms()) + :everyMs)
     on conflict (key) do update set points = 1,
       expire = case when turn.expire <= epoch_ms(clock_ms()) + :aheadMs
                     then greatest(turn.expire, epoch_ms(clock_ms()))
                     else epoch_ms(clock_ms()) end + :everyMs
       where turn.expire <= epoch_ms(clock_ms()) + :mostWaitMs
          or turn.expire > epoch_ms(clock_ms()) + :aheadMs
     returning greatest(0, expire - :everyMs - epoch_ms(clock_ms()))::float8 as "waitMs"`,
    facts,
  );
  const [turn] = taken.rows;
  if (turn !== undefined) return { isTaken: true, waitMs: turn.waitMs };
  const { rows } = await db.raw<{ rows: { waitMs: number }[] }>(
    `select (expire - epoch_ms(clock_ms()))::float8 as "waitMs" from rate_limits where key = :key`,
    facts,
  );
  return { isTaken: false, waitMs: Math.max(1, rows[0]?.waitMs ?? 0) };
}

async function learn(db: Database, code: string, windows: readonly QuotaWindow[]): Promise<void> {
  await db.raw(
    `insert into provider_quotas as q (provider_code, windows) values (:code, :windows::jsonb)
     on conflict (provider_code) do update set windows = excluded.windows, told_at = clock_ms()`,
    { code, windows: JSON.stringify(windows) },
  );
}

/** How far apart the clocks of two workers may be: each begins windows by its own. */
const CLOCKS_APART_MS = 5 * SECOND;

async function consume(limiter: RateLimiterPostgres, key: string): Promise<number> {
  const waitMs = await tryToConsume(limiter, key);
  // A window that goes on for longer than it lasts was begun by a clock that ran ahead since, or by a process whose clock
  // differs a little.
  if (waitMs <= limiter.duration * SECOND + CLOCKS_APART_MS) return waitMs;
  await limiter.set(key, 0, limiter.duration);
  return tryToConsume(limiter, key);
}

async function tryToConsume(limiter: RateLimiterPostgres, key: string): Promise<number> {
  try {
    await limiter.consume(key);
    return 0;
  } catch (refused) {
    if (refused instanceof RateLimiterRes) return Math.max(1, refused.msBeforeNext);
    throw refused;
  }
}
