import { HOUR } from '../durations.js';

/**
 * What our own rows of the last days say about an upstream's machines of a family (decision 106, "Progress and
 * reliability").
 */
export const reliabilityLimits = {
  days: 30,
  /** With fewer samples nothing is said. */
  minSamples: 20,
  /** An hour is counted again for so long after it: the end of a lost machine is dated back. */
  countAgainHours: 3,
  /** So many hours are counted by one statement. */
  hoursAtOnce: 6,
} as const;

/** A time in whole seconds: half of the samples took no longer than p50, nine of ten no longer than p90. */
export interface Spread {
  readonly p50: number;
  readonly p90: number;
}

/** The spread of a time; null where nothing was measured, or below 20 samples. */
export function spreadOf(samples: number, p50: number | null, p90: number | null): Spread | null {
  if (p50 === null || p90 === null || samples < reliabilityLimits.minSamples) return null;
  return { p50, p90 };
}

/** The counts of one upstream and family over the days. */
export interface ReliabilityCounts {
  /** Machines that came up. */
  readonly created: number;
  /** Machines that were asked for and that the upstream did not deliver. */
  readonly notCreated: number;
  readonly sshP50Seconds: number | null;
  readonly sshP90Seconds: number | null;
  readonly losses: number;
  /** How long machines ran, all together. */
  readonly machineMs: number;
}

/** What renters are told. */
export interface Reliability {
  /** The share of the machines asked for that came up, from 0 to 1, to three digits. */
  readonly createSuccess: number;
  /** From the purchase until SSH answered; null below 20 machines that came up. */
  readonly timeToSshSeconds: Spread | null;
  /** To one digit; null below 20 hours of running machines. */
  readonly lossesPer1000Hours: number | null;
  /** The machines that were asked for. */
  readonly samples: number;
  readonly days: number;
}

/** Returns what the counts tell; null below 20 machines that were asked for. */
export function reliabilityOf(counts: ReliabilityCounts): Reliability | null {
  const { created, notCreated, sshP50Seconds, sshP90Seconds, losses, machineMs } = counts;
  const { days, minSamples } = reliabilityLimits;
  const samples = created + notCreated;
  if (samples < minSamples) return null;
  const hours = machineMs / HOUR;
  return {
    // Rounded down: one that failed of very many is not a whole success.
    createSuccess: Math.floor((created * 1_000) / samples) / 1_000,
    timeToSshSeconds: spreadOf(created, sshP50Seconds, sshP90Seconds),
    lossesPer1000Hours: hours < minSamples ? null : Math.round((losses * 10_000) / hours) / 10,
    samples,
    days,
  };
}
