import { sleep } from '@temporalio/activity';
import { tick, tickApart, type Shard } from '../../money/metering/tick.js';
import { isDatabaseAway } from '../../adapters/postgres/availability.js';
import type { Metered } from '../../money/metering/meter.js';
import { nextTickMs } from '../../domain/metering/instants.js';
import { meteringLimits } from '../../domain/metering/limits.js';
import { refuseWhenRestored } from '../ask-first.js';
import { Delivery } from '../upkeep/delivery.js';
import type { ActivityDeps } from '../deps.js';
import { withHeartbeat, type Tell } from '../heartbeat.js';

/**
 * After this time a tick counts as lost: by the deadlines of their connections (adapters/postgres/deadlines.ts), its
 * steps end sooner.
 */
const STALLED_AFTER_MS = 30_000;

/** The tick engine: every second it brings the wallets of one shard up to date, set by set. */
export function createMeterActivities(deps: ActivityDeps) {
  return {
    /**
     * Ticks for `forMs` and returns; its workflow starts it again. A late tick does not queue up others: usage is a
     * running total, and the next tick, which follows one that took longer than a second at once, catches up. It works
     * over connections of its own and waits for nothing else: the intents that it leaves are delivered beside it
     * (decision 73, "Turns at the wallet").
     */
    async runMeter(shard: number, forMs: number): Promise<'again' | 'retired'> {
      const { shards } = deps.settings;
      if (shard >= shards) return 'retired';
      const delivery = new Delivery(deps);
      const resting = new Resting();
      const run = async (tell: Tell): Promise<'again'> => {
        const end = performance.now() + forMs;
        let instantMs: number | undefined;
        for (let tickNo = 1; performance.now() < end; tickNo += 1) {
          instantMs = nextTickMs({ shard, shards }, instantMs, Date.now());
          await sleep(Math.max(0, instantMs - Date.now()));
          const lagMs = Date.now() - instantMs;
          const started = performance.now();
          const onPart = (): void => tell({ tick: tickNo, apart: true });
          const metered = await again(() => tickOnce(deps, { shard, shards }, resting, onPart));
          const durationMs = performance.now() - started;
          // Every second tick looks for intents that were left undelivered, by whomever.
          if (metered.left || tickNo % 2 === 0) delivery.begin();
          deps.observeTick?.({ shard, lagMs, durationMs, entries: metered.entries });
          tell({
            tick: tickNo,
            entries: metered.entries,
            lagMs: Math.round(lagMs),
            durationMs: Math.round(durationMs),
          });
        }
        return 'again';
      };
      try {
        return await withHeartbeat(run, { stalledAfterMs: STALLED_AFTER_MS });
      } finally {
        await delivery.ended();
      }
    },
  };
}

/** Wallets that somebody held up a moment ago. Other wallets must not wait for them tick after tick. */
class Resting {
  readonly #untilMs = new Map<number, number>();

  ids(): number[] {
    for (const [id, untilMs] of this.#untilMs) if (untilMs <= performance.now()) this.#untilMs.delete(id);
    return [...this.#untilMs.keys()];
  }

  add(walletIds: readonly number[]): void {
    for (const id of walletIds) this.#untilMs.set(id, performance.now() + meteringLimits.heldUpRestMs);
  }
}

/** Repeats a tick whose connection was lost. Charges that the lost connection has committed are not due any more. */
async function again<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isDatabaseAway(error)) throw error;
    return work();
  }
}

async function tickOnce(
  deps: ActivityDeps,
  shard: Shard,
  resting: Resting,
  onPart: () => void,
): Promise<Metered> {
  await refuseWhenRestored({ ...deps, db: deps.meterDb });
  return tickOrApart(deps, shard, resting, onPart);
}

/**
 * Meters all wallets at once, or in parts when that fails. One broken wallet must not stop the others (decision 29,
 * "Broken wallets"), nor one whose rows somebody else holds.
 */
async function tickOrApart(
  { meterDb, log }: ActivityDeps,
  shard: Shard,
  resting: Resting,
  onPart: () => void,
): Promise<Metered> {
  try {
    return await tick(meterDb, { ...shard, resting: resting.ids() });
  } catch (error) {
    if (isDatabaseAway(error)) throw error;
    log.error({ shard: shard.shard, err: error }, 'a tick failed; metering in parts');
    const metered = await tickApart(meterDb, { ...shard, resting: resting.ids() }, onPart);
    for (const wallet of metered.blocked) {
      log.error(wallet, 'metering of this wallet is blocked: repair it, then clear metering_blocked_at');
    }
    if (metered.heldUp.length > 0) {
      log.warn({ walletIds: metered.heldUp }, 'a lock holds up the metering of these wallets; retrying');
      resting.add(metered.heldUp);
    }
    return metered;
  }
}
