import type { MachineFacts } from '../provider.js';

/** The most that any machine has of anything, in its unit: more is a fault. */
const MOST = 10_000_000;

/** Returns a whole number above zero, rounded down; null for what is none. */
export function wholeOrNull(value: number | null): number | null {
  if (value === null || !(value >= 1) || value > MOST) return null;
  return Math.floor(value);
}

/** Returns a version such as 12.8 or 570.86.15; null for what is none. */
export function versionOrNull(value: string | number | null): string | null {
  const text = String(value ?? '');
  return /^\d{1,4}(\.\d{1,4}){0,3}$/.test(text) ? text : null;
}

/** Returns every fact, null where it is not told. */
export function allFacts(machine: MachineFacts = {}): Required<MachineFacts> {
  const { vcpus = null, memoryGb = null, diskGb = null, networkMbps = null } = machine;
  const { cudaVersion = null, driverVersion = null } = machine;
  return { vcpus, memoryGb, diskGb, networkMbps, cudaVersion, driverVersion };
}
