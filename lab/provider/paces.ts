import type { Context } from 'koa';
import type { Fleet } from './fleet.js';

/** The last request of each kind, by its name. */
const lastMs = new WeakMap<Fleet, Map<string, number>>();

/**
 * Refuses a request that comes sooner after the last one of its kind than the upstream allows, once the lab is told to
 * be paced.
 * @throws HttpError 429
 */
export function refuseTooSoon(ctx: Context, fleet: Fleet, kind: string, everyMs: number): void {
  if (fleet.faults.paced === 0) return;
  const last = lastMs.get(fleet) ?? new Map<string, number>();
  lastMs.set(fleet, last);
  const nowMs = performance.now();
  const isTooSoon = nowMs - (last.get(kind) ?? -Infinity) < everyMs;
  if (isTooSoon) ctx.throw(429, `API requests too frequent endpoint threshold=${everyMs / 1_000}`);
  last.set(kind, nowMs);
}
