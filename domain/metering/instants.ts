import { meteringLimits } from './limits.js';

/**
 * The instant of a shard's next tick, in milliseconds. Shards tick at different parts of the second, so that they do not
 * all begin at once. A tick that took longer than a second is followed at once by the next one, which stands for the
 * newest instant that has passed: waiting for a whole second would leave a part of the engine's time unused just when it
 * is behind. Instants in between do not queue up, because usage is a running total (decision 25, "Usage as running
 * total").
 * @param lastMs the instant of the tick before; undefined for the first one of an engine
 */
export function nextTickMs(
  { shard, shards }: { readonly shard: number; readonly shards: number },
  lastMs: number | undefined,
  nowMs: number,
): number {
  const offsetMs = (meteringLimits.tickEveryMs * shard) / shards;
  const newest =
    Math.floor((nowMs - offsetMs) / meteringLimits.tickEveryMs) * meteringLimits.tickEveryMs + offsetMs;
  return lastMs !== undefined && newest > lastMs ? newest : newest + meteringLimits.tickEveryMs;
}
