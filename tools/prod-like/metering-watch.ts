import { setTimeout as sleep } from 'node:timers/promises';
import { isDatabaseAway } from '../../adapters/postgres/availability.js';
import type { Database } from '../../adapters/postgres/database.js';

export interface MeteringWatch {
  /** @returns the longest time without a tick, in milliseconds: in quiet time, and while parts were restarted */
  stop(): Promise<{ readonly quietMs: number; readonly restartingMs: number }>;
}

const lookEveryMs = 100;

/** Checks ten times a second how long ago the tick engine last metered. */
export function watchMetering(db: Database, isRestarting: () => boolean): MeteringWatch {
  const state = { stopped: false, quietMs: 0, restartingMs: 0 };
  const watching = (async () => {
    while (!state.stopped) {
      const { rows } = await db
        .raw<{ rows: { ageMs: number | null }[] }>(
          `select max(epoch_ms(clock_ms()) - epoch_ms(last_tick_at)) as "ageMs" from meter_shards`,
        )
        // While a standby takes over, the next look tells.
        .catch((error: unknown) => {
          if (isDatabaseAway(error)) return { rows: [] };
          throw error;
        });
      const ageMs = rows[0]?.ageMs ?? 0;
      if (isRestarting()) state.restartingMs = Math.max(state.restartingMs, ageMs);
      else state.quietMs = Math.max(state.quietMs, ageMs);
      await sleep(lookEveryMs);
    }
  })();
  // Told by stop, unless what failed first has ended all.
  watching.catch(() => undefined);
  return {
    async stop() {
      state.stopped = true;
      await watching;
      return { quietMs: state.quietMs, restartingMs: state.restartingMs };
    },
  };
}
