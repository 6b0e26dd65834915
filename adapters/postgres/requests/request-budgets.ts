import { RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible';
import { machineLimits } from '../../../domain/machines/limits.js';
import { READING_SHARE, readIntervalMs, type QuotaWindow } from '../../providers/upstream/quotas.js';
import type { Pace, RequestBudget, Turn } from '../../providers/upstream/request-budget.js';
import type { Database } from '../database.js';

/** An upstream's word on its quotas counts for this long; each answer renews it. */
const TOLD_FOR_MS = 15 * 60_000;

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
  const shares = {
    reading: shareOf('reading', READING_SHARE),
    renewing: shareOf('renewing', (1 - READING_SHARE) / 2),
  };
  return {
    async take(use) {
      const waitMs = use === 'acting' ? 0 : await consume(shares[use], code);
      return waitMs > 0 ? waitMs : consume(all, code);
    },
    pace: (reads) => pace(db, code, reads, slackMs),
    learn: (windows) => learn(db, code, windows),
    takeTurn: (pace, mostWaitMs) => takeTurn(db, `upstream-turn-${pace.name}:${code}`, pace, mostWaitMs),
  };
}

/**
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
    if (row === undefined || ageMs > TOLD_FOR_MS) return 0;
    const waitMs = row.nextMs - row.nowMs;
    if (waitMs > 0) return waitMs;
    // However small the quotas, no read is put off for longer than a list may be late.
    const costMs = Math.min(
      machineLimits.slowestReadMs,
      reads * readIntervalMs(row.windows, Math.max(0, ageMs)),
    );
    const nextMs = Math.max(row.nextMs, row.nowMs - slackMs) + costMs;
    await trx.raw(
      `update provider_quotas set next_read_at = clock_ms() + ?::float8 * interval '1 millisecond' where provider_code = ?`,
      [nextMs - row.nowMs, code],
    );
    return 0;
  });
}

/** The counter's row tells until when all turns are taken. */
async function takeTurn(db: Database, key: string, { everyMs }: Pace, mostWaitMs: number): Promise<Turn> {
  const facts = { key, everyMs: Math.round(everyMs), mostWaitMs: Math.floor(mostWaitMs) };
  const taken = await db.raw<{ rows: { waitMs: number }[] }>(
    `insert into rate_limits as turn (key, points, expire) values (:key, 1, epoch_ms(clock_ms()) + :everyMs)
     on conflict (key) do update set points = 1,
       expire = greatest(turn.expire, epoch_ms(clock_ms())) + :everyMs
       where turn.expire <= epoch_ms(clock_ms()) + :mostWaitMs
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

async function consume(limiter: RateLimiterPostgres, key: string): Promise<number> {
  try {
    await limiter.consume(key);
    return 0;
  } catch (refused) {
    if (refused instanceof RateLimiterRes) return Math.max(1, refused.msBeforeNext);
    throw refused;
  }
}
