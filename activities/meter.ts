import { sleep } from '@temporalio/activity';
import { tick, tickOneByOne, type Shard } from '../adapters/postgres/money/tick.js';
import type { Metered } from '../adapters/postgres/money/meter.js';
import { limits } from '../domain/limits.js';
import { refuseWhenRestored } from './ask-first.js';
import { deliverIntents } from './deliver-intents.js';
import type { ActivityDeps } from './deps.js';
import { withHeartbeat } from './heartbeat.js';

/** The tick engine: every second it brings the wallets of one shard up to date, set by set. */
export function createMeterActivities(deps: ActivityDeps) {
  return {
    /**
     * Ticks for `forMs` and returns; its workflow starts it again. A tick that is late does not queue up others:
     * usage is a running total, the next one catches up.
     */
    async runMeter(shard: number, forMs: number): Promise<'again' | 'retired'> {
      const { shards } = deps.settings;
      if (shard >= shards) return 'retired';
      return withHeartbeat(async (tell) => {
        const end = performance.now() + forMs;
        for (let tickNo = 1; performance.now() < end; tickNo += 1) {
          const lagMs = await sleepUntilTick({ shard, shards });
          const started = performance.now();
          await refuseWhenRestored(deps);
          const metered = await tickOrIsolate(deps, { shard, shards });
          // Every second tick looks for what was left to be told but was not, by whomever.
          if (metered.left || tickNo % 2 === 0) await deliverIntents(deps);
          const durationMs = performance.now() - started;
          deps.observeTick?.({ shard, lagMs, durationMs, entries: metered.entries });
          tell({
            tick: tickNo,
            entries: metered.entries,
            lagMs: Math.round(lagMs),
            durationMs: Math.round(durationMs),
          });
        }
        return 'again' as const;
      });
    },
  };
}

/** Shards tick at different parts of the second, so that they do not all fire at once. Returns how late it is. */
async function sleepUntilTick({ shard, shards }: Shard): Promise<number> {
  const offset = (limits.tickEveryMs * shard) / shards;
  const now = Date.now();
  const next = Math.floor((now - offset) / limits.tickEveryMs + 1) * limits.tickEveryMs + offset;
  await sleep(next - now);
  return Date.now() - next;
}

/** One broken wallet must not stop the others (decision 29). */
async function tickOrIsolate(deps: ActivityDeps, shard: Shard): Promise<Metered> {
  try {
    return await tick(deps.db, shard);
  } catch (error) {
    deps.log.error({ shard: shard.shard, err: error }, 'a tick failed; metering wallet by wallet');
    const metered = await tickOneByOne(deps.db, shard);
    for (const wallet of metered.blocked) {
      deps.log.error(wallet, 'metering of this wallet is blocked: repair it, then clear metering_blocked_at');
    }
    return metered;
  }
}
