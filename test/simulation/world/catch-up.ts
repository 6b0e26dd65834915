import type { Kernel } from '../kernel/kernel.js';
import type { SimulatedServer } from '../temporal/server.js';
import type { World } from './world.js';

/** The interval of the schedule "backfill" (decision 44, "Events that never arrived"), in milliseconds. */
const EVERY_MS = 300_000;

/** How many rounds follow a loss: one that fails, or begins before the processor lists the event, is made good by the next. */
const ROUNDS = 3;

/**
 * Runs the schedule that lists the processor's events. A round that could find nothing, because every event arrived since
 * the last one, is left out nearly always: in a month there are 8,640.
 */
export function catchUpEvents(parts: { kernel: Kernel; server: SimulatedServer; world: World }): void {
  const { kernel, server, world } = parts;
  let left = 1;
  let lost = 0;
  const round = (): void => {
    kernel.after(
      EVERY_MS,
      'schedule backfill',
      () => {
        if (world.lostEvents > lost) left = ROUNDS;
        lost = world.lostEvents;
        const before = server.find('backfill');
        // A schedule starts no second run beside one that is still going.
        if (left > 0 && (before === undefined || before.closeMs !== undefined)) {
          left -= 1;
          server.start('backfill', 'backfill', []);
        }
        round();
      },
      { scope: {} },
    );
  };
  round();
}
