import type { RequestBudget } from '../../../../adapters/providers/upstream/request-budget.js';

/** A budget that knows turns alone, for one process. */
export function turnBudget(): RequestBudget {
  const freeAtMs = new Map<string, number>();
  return {
    take: () => Promise.resolve(0),
    pace: () => Promise.resolve(0),
    learn: () => Promise.resolve(),
    takeTurn({ name, everyMs }) {
      const nowMs = performance.now();
      const waitMs = Math.max(0, (freeAtMs.get(name) ?? 0) - nowMs);
      if (waitMs === 0) freeAtMs.set(name, nowMs + everyMs);
      return Promise.resolve(waitMs);
    },
  };
}
