import type { ListedUse } from '../../../domain/machines/telemetry.js';
import type { Chance } from '../kernel/chance.js';

const MINUTE_MS = 60_000;

/** What a machine does for a while, and whether its upstream tells it. */
export interface Stretch {
  readonly fromMs: number;
  /**
   * - idle, busy: it is, and lists tell so.
   * - silent: lists tell nothing of its use.
   * - frozen: lists repeat what was told last, of whatever it does.
   */
  readonly kind: 'idle' | 'busy' | 'silent' | 'frozen';
}

/** The shortest of what is no idleness, in minutes: hidden whole, it is a longer silence than those that count as no use. */
const SHORTEST = { busy: 6, silent: 6, frozen: 8 } as const;
const LONGEST = 40;
/** So many times it changes; afterwards it stays idle. */
const CHANGES = 24;

/** Draws the use of a machine from an instant on. */
export function drawUse(chance: Chance, fromMs: number): Stretch[] {
  const stretches: Stretch[] = [];
  let atMs = fromMs;
  const changes = chance.below(CHANGES);
  for (let no = 0; no < changes; no += 1) {
    const kind = chance.pick(['idle', 'idle', 'idle', 'busy', 'busy', 'silent', 'frozen'] as const);
    stretches.push({ fromMs: atMs, kind });
    const shortest = kind === 'idle' ? 1 : SHORTEST[kind];
    atMs += chance.between(shortest * MINUTE_MS, LONGEST * MINUTE_MS);
  }
  return [...stretches, { fromMs: atMs, kind: 'idle' }];
}

/** Since when, or from when on, a machine is idle at an instant; Infinity: never again, or nobody tells. */
export function idleFrom(stretches: readonly Stretch[], nowMs: number): number {
  const idle = stretches.find(
    ({ kind }, index) => kind === 'idle' && (stretches[index + 1]?.fromMs ?? Infinity) > nowMs,
  );
  return idle?.fromMs ?? Infinity;
}

/** The use of a machine as a list tells it at an instant; undefined: it does not. */
export function useAt(stretches: readonly Stretch[], nowMs: number): ListedUse | undefined {
  const at = stretches.findLastIndex(({ fromMs }) => fromMs <= nowMs);
  const stretch = stretches[at];
  if (stretch === undefined || stretch.kind === 'silent') return undefined;
  if (stretch.kind === 'frozen') {
    // What is repeated looks idle: nobody may be fooled by it.
    return told('idle', stretch.fromMs);
  }
  return told(stretch.kind, nowMs);
}

function told(kind: 'idle' | 'busy', atMs: number): ListedUse {
  const percent = kind === 'busy' ? 80 : 1;
  return {
    ...{ gpuPercent: percent, busiestGpuPercent: percent, gpuMemoryPercent: 50, cpuPercent: 5 },
    ...{ memoryPercent: 30, networkBytesPerSecond: null, sessions: null, report: Math.floor(atMs / 1_000) },
  };
}
