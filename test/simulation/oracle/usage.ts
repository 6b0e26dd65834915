import { HOUR_MS } from './evidence.js';

/** Decision 25, "Usage as running total": the whole cents that a rental has used after some milliseconds. */
export function usedAfter(elapsedMs: number, pricePerHourCents: string): number {
  return Number((BigInt(pricePerHourCents) * BigInt(Math.round(elapsedMs))) / BigInt(HOUR_MS));
}
