import { HOUR, MINUTE } from '../../domain/durations.js';
import {
  bytesPerMinute,
  noUse,
  packMinute,
  type MachineUse,
  type TelemetryHour,
  type TelemetryTold,
} from '../../domain/machines/telemetry.js';
import type { RentalWithHealth } from '../../adapters/postgres/rentals/rental-reads.js';
import { guardSetAnew, type IdleGuard } from '../../domain/rentals/idle-guard.js';
import type { MockRental } from './account.js';

/** What upstreams tell here. */
export const mockTelemetry: TelemetryTold = { cpu: true, network: false, sessions: false };

type KeptGuard = RentalWithHealth['idle_guard'];

/**
 * A guard as a rental's row shows it once it is set.
 * @param before the one that the rental had; null: none
 */
export function keptGuard(guard: IdleGuard | null | undefined, before: KeptGuard = null): KeptGuard {
  return guard ? { keep_alive_until: null, ...before, ...guardSetAnew(guard) } : null;
}

/** For how long a machine works and then rests, again and again. */
const WORKS_MINUTES = 50;
const RESTS_MINUTES = 10;

/** The hours of a mocked machine. */
export function telemetryHoursOf(rental: MockRental, now: Date): TelemetryHour[] {
  const hours = new Map<number, Uint8Array>();
  for (const { atMs, use } of minutesOf(rental, now)) {
    const hourMs = Math.floor(atMs / HOUR) * HOUR;
    const minutes = hours.get(hourMs) ?? new Uint8Array(60 * bytesPerMinute).fill(255);
    minutes.set(packMinute(use), ((atMs - hourMs) / MINUTE) * bytesPerMinute);
    hours.set(hourMs, minutes);
  }
  return [...hours].map(([hourMs, minutes]) => ({ hour: new Date(hourMs), source: 'upstream', minutes }));
}

/**
 * What a mocked machine did in each minute that is over: it works and rests by turns from the beginning of its billing on,
 * unless it idles (header X-Mock-Rental).
 * @param fromMs those that begin then or later, in milliseconds since 1970
 */
export function* minutesOf(
  { row: { running_at: runningAt, ended_at: endedAt }, fate }: MockRental,
  now: Date,
  fromMs = 0,
): Generator<{ readonly atMs: number; readonly use: MachineUse }> {
  if (runningAt === null) return;
  const end = (endedAt ?? now).getTime();
  const first = Math.ceil(runningAt.getTime() / MINUTE) * MINUTE;
  for (let atMs = Math.max(first, fromMs); atMs + MINUTE <= end; atMs += MINUTE) {
    const minute = (atMs - first) / MINUTE;
    const isAtWork = fate !== 'idles' && minute % (WORKS_MINUTES + RESTS_MINUTES) < WORKS_MINUTES;
    yield { atMs, use: useIn(minute, isAtWork) };
  }
}

/** @param minute since the beginning of billing */
function useIn(minute: number, isAtWork: boolean): MachineUse {
  const gpuPercent = isAtWork ? 84 + 9 * Math.sin(minute / 7) : 0;
  return {
    ...noUse,
    ...{ gpuPercent, busiestGpuPercent: Math.min(100, gpuPercent * 1.05), gpuMemoryPercent: gpuPercent / 2 },
    ...{ cpuPercent: isAtWork ? 38 + 6 * Math.sin(minute / 3) : 2, memoryPercent: isAtWork ? 41 : 12 },
  };
}
