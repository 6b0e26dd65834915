import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../adapters/postgres/database.js';
import { nextTickMs } from '../domain/metering/instants.js';
import type { Metered } from '../money/metering/meter.js';
import { tick, tickApart, type Shard } from '../money/metering/tick.js';

/** A tick that was made: how long it took, what it did, and whether it failed as a whole and was made in parts. */
export type Noted = (ms: number, metered: Metered, apart: boolean) => void;

/**
 * Ticks a shard at its instants until the end, as the engine of the worker does.
 * @throws when a wallet's rows are at fault
 */
export async function tickUntil(
  isOver: () => boolean,
  db: Database,
  shard: Shard,
  noted: Noted,
): Promise<void> {
  let instantMs: number | undefined;
  while (!isOver()) {
    instantMs = nextTickMs(shard, instantMs, Date.now());
    await sleep(Math.max(0, instantMs - Date.now()));
    const began = performance.now();
    let apart = false;
    const metered = await tick(db, shard).catch(async (error: unknown) => {
      console.error('a tick failed; metering in parts', error);
      apart = true;
      const done = await tickApart(db, shard);
      if (done.blocked.length > 0)
        throw new Error(`a wallet is at fault: ${JSON.stringify(done.blocked[0])}`);
      return done;
    });
    noted(performance.now() - began, metered, apart);
  }
}

/** Ticks all shards side by side until the end. */
export async function tickAllUntil(
  isOver: () => boolean,
  db: Database,
  shards: number,
  noted: Noted,
): Promise<void> {
  await Promise.all(
    Array.from({ length: shards }, (_, shard) => tickUntil(isOver, db, { shard, shards }, noted)),
  );
}
