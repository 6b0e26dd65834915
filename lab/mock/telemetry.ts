import { HOUR, MINUTE } from '../../domain/durations.js';
import {
  bytesPerMinute,
  noUse,
  packMinute,
  type TelemetryHour,
  type TelemetryTold,
} from '../../domain/machines/telemetry.js';
import type { RentalWithHealth } from '../../adapters/postgres/rentals/rental-reads.js';
import type { RentalRow } from '../../adapters/postgres/rows/tables.js';
import { guardSetAnew, type IdleGuard } from '../../domain/rentals/idle-guard.js';

/** What upstreams tell here. */
export const mockTelemetry: TelemetryTold = { cpu: true, network: false, sessions: false };

type KeptGuard = RentalWithHealth['idle_guard'];

/**
 * A guard as a rental's row shows it once it is set. Nothing is idle here for as long as a guard waits.
 * @param before the one that the rental had; null: none
 */
export function keptGuard(guard: IdleGuard | null | undefined, before: KeptGuard = null): KeptGuard {
  return guard ? { keep_alive_until: null, ...before, ...guardSetAnew(guard) } : null;
}

/** For how long a machine works and then rests, again and again. */
const WORKS_MINUTES = 50;
const RESTS_MINUTES = 10;

/** The hours of a mocked machine: it works and rests by turns from the beginning of its billing on. */
export function telemetryHoursOf(
  { running_at: runningAt, ended_at: endedAt }: Pick<RentalRow, 'running_at' | 'ended_at'>,
  now: Date,
): TelemetryHour[] {
  if (runningAt === null) return [];
  const hours = new Map<number, Uint8Array>();
  const end = (endedAt ?? now).getTime();
  const first = Math.ceil(runningAt.getTime() / MINUTE) * MINUTE;
  // A minute is told once it is over.
  for (let atMs = first; atMs + MINUTE <= end; atMs += MINUTE) {
    const hourMs = Math.floor(atMs / HOUR) * HOUR;
    const minutes = hours.get(hourMs) ?? new Uint8Array(60 * bytesPerMinute).fill(255);
    minutes.set(packMinute(useIn((atMs - first) / MINUTE)), ((atMs - hourMs) / MINUTE) * bytesPerMinute);
    hours.set(hourMs, minutes);
  }
  return [...hours].map(([hourMs, minutes]) => ({ hour: new Date(hourMs), source: 'upstream', minutes }));
}

/** @param minute since the beginning of billing */
function useIn(minute: number) {
  const isAtWork = minute % (WORKS_MINUTES + RESTS_MINUTES) < WORKS_MINUTES;
  const gpuPercent = isAtWork ? 84 + 9 * Math.sin(minute / 7) : 0;
  return {
    ...noUse,
    ...{ gpuPercent, busiestGpuPercent: Math.min(100, gpuPercent * 1.05), gpuMemoryPercent: gpuPercent / 2 },
    ...{ cpuPercent: isAtWork ? 38 + 6 * Math.sin(minute / 3) : 2, memoryPercent: isAtWork ? 41 : 12 },
  };
}
