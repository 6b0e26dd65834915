import { HOUR, MINUTE } from '../durations.js';

/** Who tells how much a machine is used: its upstream, or a script of ours on it. */
export type TelemetrySource = 'upstream' | 'reporter';

/** What is told of the use of an upstream's machines, beside that of their GPUs (decision 166, "Use of machines"). */
export interface TelemetryTold {
  /** Absent: the upstream tells it. */
  readonly source?: 'reporter';
  readonly cpu: boolean;
  readonly network: boolean;
  /** How many sessions are open on the machine. */
  readonly sessions: boolean;
}

/** What a reporter tells, on the machines of renters who ask for it (decision 181, "A reporter of use"). */
export const reportedUse: TelemetryTold = { source: 'reporter', cpu: true, network: true, sessions: true };

/** The use of a machine; null is what is not told. */
export interface MachineUse {
  /** The mean of all its GPUs. */
  readonly gpuPercent: number | null;
  /** The busiest GPU has at most this. */
  readonly busiestGpuPercent: number | null;
  readonly gpuMemoryPercent: number | null;
  readonly cpuPercent: number | null;
  readonly memoryPercent: number | null;
  readonly networkBytesPerSecond: number | null;
  readonly sessions: number | null;
}

/** The use of a machine as one list tells it. */
export interface ListedUse extends MachineUse {
  /** A number that is another one in each report of the machine, such as its uptime; null where the upstream has none. */
  readonly report: number | null;
}

/** The use of a machine in one minute. */
export interface MinuteOfUse extends MachineUse {
  readonly podId: string;
  /** Its beginning, in milliseconds since 1970. */
  readonly atMs: number;
  /** When the first and the last list told of it. */
  readonly firstMs: number;
  readonly lastMs: number;
}

export const telemetryLimits = {
  /** A report that is older than this tells nothing. */
  staleMs: 2 * MINUTE,
  pointsDefault: 120,
  pointsMax: 1_440,
  keptDays: 32,
} as const;

export const noUse: MachineUse = {
  ...{ gpuPercent: null, busiestGpuPercent: null, gpuMemoryPercent: null, cpuPercent: null },
  ...{ memoryPercent: null, networkBytesPerSecond: null, sessions: null },
};

/** What one list tells, by pod. Only an active machine is used. */
export function usesIn(
  pods: readonly { readonly podId: string; readonly status: string; readonly use?: ListedUse | undefined }[],
): Map<string, ListedUse> {
  return new Map(
    pods.flatMap(({ podId, status, use }) => (use && status === 'active' ? [[podId, use] as const] : [])),
  );
}

interface OpenMinute {
  readonly atMs: number;
  readonly firstMs: number;
  lastMs: number;
  readonly told: MachineUse[];
}

/** Makes minutes of what the lists of one upstream tell one watcher, in the order of the lists. */
export class UseMinutes {
  readonly #open = new Map<string, OpenMinute>();
  /** Those of machines that the lists leave out as well: a frozen one that comes back is no new one. */
  readonly #reports = new Map<string, { readonly report: number; readonly sinceMs: number }>();

  /**
   * Takes one list.
   * @param atMs when it was asked for, in milliseconds since 1970
   * @returns the minutes that are over; each once
   */
  take(atMs: number, listed: ReadonlyMap<string, ListedUse>): MinuteOfUse[] {
    const minuteMs = Math.floor(atMs / MINUTE) * MINUTE;
    const over = this.#takeOpen(minuteMs);
    for (const [podId, use] of listed) {
      if (this.#isStale(podId, use.report, atMs)) continue;
      const open = this.#open.get(podId) ?? { atMs: minuteMs, firstMs: atMs, lastMs: atMs, told: [] };
      open.told.push(use);
      open.lastMs = atMs;
      this.#open.set(podId, open);
    }
    return over;
  }

  /** Tells the minutes that are not over: no list follows. */
  end(): MinuteOfUse[] {
    return this.#takeOpen(Infinity);
  }

  #takeOpen(beforeMs: number): MinuteOfUse[] {
    const over = [...this.#open].filter(([, { atMs }]) => atMs < beforeMs);
    for (const [podId] of over) this.#open.delete(podId);
    return over.map(([podId, { told, ...times }]) => ({ podId, ...times, ...sumUp(told) }));
  }

  #isStale(podId: string, report: number | null, atMs: number): boolean {
    if (report === null) return false;
    const last = this.#reports.get(podId);
    if (last?.report !== report) {
      // Nobody knows how old the first one is: the list before may have been another watcher's.
      this.#reports.set(podId, { report, sinceMs: last === undefined ? -Infinity : atMs });
      return last === undefined;
    }
    return atMs - last.sinceMs > telemetryLimits.staleMs;
  }
}

/** Means for what is looked at, and the most for what decides: that is told where each list told it. */
export function sumUp(told: readonly MachineUse[]): MachineUse {
  const of = (name: keyof MachineUse): (number | null)[] => told.map((use) => use[name]);
  return {
    gpuPercent: meanOf(of('gpuPercent')),
    busiestGpuPercent: mostOf(of('busiestGpuPercent')),
    gpuMemoryPercent: meanOf(of('gpuMemoryPercent')),
    cpuPercent: mostOf(of('cpuPercent')),
    memoryPercent: meanOf(of('memoryPercent')),
    networkBytesPerSecond: mostOf(of('networkBytesPerSecond')),
    sessions: mostOf(of('sessions')),
  };
}

/** The mean of what is told; null where nothing is. */
export function meanOf(values: readonly (number | null)[]): number | null {
  const told = values.filter((value) => value !== null);
  return told.length === 0 ? null : told.reduce((sum, value) => sum + value, 0) / told.length;
}

/** The most of all; null where one is not told, since that may be more. */
export function mostOf(values: readonly (number | null)[]): number | null {
  const told = values.filter((value) => value !== null);
  return told.length === 0 || told.length < values.length ? null : Math.max(...told);
}

/** The kept series, in the order of their bytes. */
const series = [
  'gpuPercent',
  'busiestGpuPercent',
  'gpuMemoryPercent',
  'cpuPercent',
  'memoryPercent',
] as const;
type Series = (typeof series)[number];

export const bytesPerMinute = series.length;
const NOT_TOLD = 255;

/** Packs a minute into its bytes. */
export function packMinute(use: MachineUse): Uint8Array {
  return Uint8Array.from(series, (name) => byteOf(use[name]));
}

function byteOf(percent: number | null): number {
  return percent === null ? NOT_TOLD : Math.min(100, Math.max(0, Math.round(percent)));
}

/** One hour as it is kept. */
export interface TelemetryHour {
  readonly hour: Date;
  readonly source: TelemetrySource;
  readonly minutes: Uint8Array;
}

/** The use of a machine in some minutes, in whole per cent; null where nothing is told. */
export interface UsePoint extends Readonly<Record<Series, number | null>> {
  readonly at: Date;
}

export interface UsePoints {
  readonly stepSeconds: number;
  readonly points: UsePoint[];
}

/**
 * Reads points out of kept hours: the mean of each of their minutes, of the busiest GPU the most.
 * @param window.points how many at most
 * @returns points from the minute of `from` on, oldest first, without gaps
 */
export function pointsOf(
  hours: readonly TelemetryHour[],
  { from, to, points }: { readonly from: Date; readonly to: Date; readonly points: number },
): UsePoints {
  const firstMs = Math.floor(from.getTime() / MINUTE) * MINUTE;
  const stepMs = Math.max(1, Math.ceil((to.getTime() - firstMs) / points / MINUTE)) * MINUTE;
  const kept = new Map(hours.map(({ hour, minutes }) => [hour.getTime(), minutes]));
  const found: UsePoint[] = [];
  for (let atMs = firstMs; atMs < to.getTime(); atMs += stepMs) {
    found.push(pointAt(kept, atMs, stepMs));
  }
  return { stepSeconds: stepMs / 1_000, points: found };
}

function pointAt(kept: ReadonlyMap<number, Uint8Array>, atMs: number, stepMs: number): UsePoint {
  const starts = Array.from({ length: stepMs / MINUTE }, (_, index) => atMs + index * MINUTE);
  const read = (name: Series): (number | null)[] => starts.map((startMs) => minuteOf(kept, startMs, name));
  const rounded = (value: number | null): number | null => (value === null ? null : Math.round(value));
  const busiest = read('busiestGpuPercent').filter((value) => value !== null);
  return {
    at: new Date(atMs),
    gpuPercent: rounded(meanOf(read('gpuPercent'))),
    busiestGpuPercent: busiest.length === 0 ? null : Math.max(...busiest),
    gpuMemoryPercent: rounded(meanOf(read('gpuMemoryPercent'))),
    cpuPercent: rounded(meanOf(read('cpuPercent'))),
    memoryPercent: rounded(meanOf(read('memoryPercent'))),
  };
}

function minuteOf(kept: ReadonlyMap<number, Uint8Array>, startMs: number, name: Series): number | null {
  const hourMs = Math.floor(startMs / HOUR) * HOUR;
  const byte = kept.get(hourMs)?.[((startMs - hourMs) / MINUTE) * bytesPerMinute + series.indexOf(name)];
  return byte === undefined || byte === NOT_TOLD ? null : byte;
}
