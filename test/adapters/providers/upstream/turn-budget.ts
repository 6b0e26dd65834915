import type { RequestBudget } from '../../../../adapters/providers/upstream/request-budget.js';

/**
 * A budget that knows turns alone, for one process.
 * @param speed how many times faster than the upstream's its paces are
 */
export function turnBudget(speed = 1): RequestBudget {
  const freeAtMs = new Map<string, number>();
  return {
    take: () => Promise.resolve(0),
    pace: () => Promise.resolve(0),
    learn: () => Promise.resolve(),
    takeTurn({ name, everyMs }, mostWaitMs) {
      const nowMs = performance.now();
      const waitMs = Math.max(0, (freeAtMs.get(name) ?? 0) - nowMs);
      const isTaken = waitMs <= mostWaitMs;
      if (isTaken) freeAtMs.set(name, nowMs + waitMs + everyMs / speed);
      return Promise.resolve({ isTaken, waitMs });
    },
  };
}
