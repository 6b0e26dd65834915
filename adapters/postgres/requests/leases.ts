import { randomInt } from 'node:crypto';
import type { Database } from '../database.js';

/** The right to be the only one, over all processes, that does something. */
export interface Lease {
  /** Gives it back. Where that fails it ends by itself. */
  release(): Promise<void>;
}

/** A number by which a holder knows their own lease. */
const HOLDERS = 2 ** 31 - 1;
/** So often within its time a lease is taken anew. */
const RENEWALS = 3;

const now = 'epoch_ms(clock_ms())';

/**
 * Takes a lease, and keeps it until it is released. One whose process dies ends by itself after `lastsMs`; one whose
 * process stands still for as long may be another's by then. It stands among the counters of requests, which
 * housekeeping removes once they are over.
 * @returns undefined while somebody else has it
 */
export async function takeLease(db: Database, name: string, lastsMs: number): Promise<Lease | undefined> {
  const facts = { key: `lease:${name}`, holder: randomInt(1, HOLDERS), lastsMs };
  const { rows } = await db.raw<{ rows: unknown[] }>(
    `insert into rate_limits as held (key, points, expire) values (:key, :holder, ${now} + :lastsMs)
     on conflict (key) do update set points = excluded.points, expire = excluded.expire
       where held.expire <= ${now}
     returning 1`,
    facts,
  );
  if (rows.length === 0) return undefined;
  const end = async (leftMs: number): Promise<void> => {
    const update = `update rate_limits set expire = ${now} + :leftMs where key = :key and points = :holder`;
    // A database that is away for a moment ends nothing, and takes nothing back.
    await db.raw(update, { ...facts, leftMs }).catch(() => undefined);
  };
  let isReleased = false;
  let renewed = Promise.resolve();
  const renew = (): void => {
    renewed = renewed.then(() => (isReleased ? undefined : end(lastsMs)));
  };
  const renewing = setInterval(renew, lastsMs / RENEWALS).unref();
  return {
    async release() {
      isReleased = true;
      clearInterval(renewing);
      // One that is under way would take it anew after it was given back.
      await renewed;
      await end(0);
    },
  };
}
