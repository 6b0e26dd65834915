import { DAY, MINUTE } from '../durations.js';
import {
  telemetryLimits,
  type MachineUse,
  type MinuteOfUse,
  type TelemetryTold,
} from '../machines/telemetry.js';

/** What of a machine's use a renter may leave out of account, where nobody can tell it. */
export const ignorable = ['sessions'] as const;
export type Ignorable = (typeof ignorable)[number];

/** The wish that a machine stops when it is idle (decision 167, "The idle guard"). */
export interface IdleGuard {
  readonly minutes: number;
  readonly ignores: readonly Ignorable[];
}

/** What a row of a guard has once it is set. */
export interface GuardSetAnew extends IdleGuard {
  readonly idle_since: null;
  readonly seen_at: null;
  readonly stops_at: null;
}

/**
 * What a row says of a guard that is set, be it the first or another: nothing is seen yet. What is not in it stays as it
 * was: until when the machine is kept alive.
 */
export function guardSetAnew({ minutes, ignores }: IdleGuard): GuardSetAnew {
  return { minutes, ignores, idle_since: null, seen_at: null, stops_at: null };
}

/** Durations in milliseconds. */
export const idleGuardLimits = {
  minutesMin: 15,
  minutesMax: 1_440,
  /** How long before it stops its renter is warned. */
  warnMs: 10 * MINUTE,
  /** A silence up to this, or up to this share of the guard's minutes, hides little: it counts as neither idleness nor use. */
  silentMs: 5 * MINUTE,
  silentShare: 0.1,
  keepAliveAheadMs: DAY,
  keepAlivesADay: 60,
  /** Less than these is no use. */
  gpuPercent: 5,
  cpuPercent: 20,
  networkBytesPerSecond: 1_000_000,
} as const;

/** What a guard looks at on the machines of one upstream. */
export type LookedAt = 'gpu' | 'cpu' | 'network' | 'sessions';

export function lookedAt(told: TelemetryTold, { ignores }: Pick<IdleGuard, 'ignores'>): LookedAt[] {
  return [
    'gpu',
    ...(told.cpu ? (['cpu'] as const) : []),
    ...(told.network ? (['network'] as const) : []),
    ...(told.sessions && !ignores.includes('sessions') ? (['sessions'] as const) : []),
  ];
}

/** What a renter asks for that needs the use of their machine to be told. */
export interface AskedTelemetry {
  readonly telemetry?: boolean | undefined;
  readonly idleGuard?: IdleGuard | undefined;
}

/** A guard needs it to be told as well. */
export function asksForUse({ telemetry, idleGuard }: AskedTelemetry): boolean {
  return telemetry === true || idleGuard !== undefined;
}

/**
 * What is told of the use of one machine. A reporter begins with its machine: one that was rented without has none.
 * @param told what is told of the machines of its upstream
 */
export function toldOf(
  asked: AskedTelemetry,
  told: TelemetryTold | null | undefined,
): TelemetryTold | undefined {
  return told && (told.source === undefined || asksForUse(asked)) ? told : undefined;
}

/** One thing that keeps an upstream's machines from being guarded, or their use from being told. */
export interface GuardMisfit {
  readonly field: 'stopWhenIdleMinutes' | 'idleIgnores' | 'telemetry';
  readonly limit: null;
  readonly message: string;
}

/** @param told what the upstream tells; undefined: not even the use of GPUs */
export function guardMisfitsOf(
  guard: IdleGuard | undefined,
  told: TelemetryTold | null | undefined,
): GuardMisfit[] {
  if (guard === undefined) return [];
  if (!told) {
    return [{ field: 'stopWhenIdleMinutes', limit: null, message: 'does not tell how busy GPUs are' }];
  }
  if (told.sessions || guard.ignores.includes('sessions')) return [];
  const message = 'can’t tell who is logged in; idleIgnores lets it ignore that';
  return [{ field: 'idleIgnores', limit: null, message }];
}

/** What an upstream can't do of it. @param told as for guardMisfitsOf */
export function telemetryMisfitsOf(
  { telemetry, idleGuard }: AskedTelemetry,
  told: TelemetryTold | null | undefined,
): GuardMisfit[] {
  const message = 'does not tell how much machines are used';
  const untold: GuardMisfit[] = telemetry && !told ? [{ field: 'telemetry', limit: null, message }] : [];
  return [...untold, ...guardMisfitsOf(idleGuard, told)];
}

/** Tells whether a machine is idle. What is not told counts as use. */
export function isIdle(
  use: MachineUse,
  told: TelemetryTold,
  { ignores }: Pick<IdleGuard, 'ignores'>,
): boolean {
  const limits = idleGuardLimits;
  return (
    isBelow(use.busiestGpuPercent, limits.gpuPercent) &&
    (!told.cpu || isBelow(use.cpuPercent, limits.cpuPercent)) &&
    (!told.network || isBelow(use.networkBytesPerSecond, limits.networkBytesPerSecond)) &&
    (ignores.includes('sessions') || use.sessions === 0)
  );
}

function isBelow(value: number | null, limit: number): boolean {
  return value !== null && value < limit;
}

/** What is known of a guarded machine, in milliseconds since 1970. */
export interface GuardState {
  /** Since when it is idle; null: it was in use, or nobody told. */
  readonly idleSinceMs: number | null;
  /** When its use was told last. */
  readonly seenMs: number | null;
  /** When it stops, as its renter was warned. */
  readonly stopsAtMs: number | null;
}

/** What to do with a machine: nothing, to warn that it stops at `stopsAtMs`, or to stop it now. */
export interface GuardVerdict extends GuardState {
  readonly act: 'none' | 'warn' | 'stop';
}

/** A minute of a machine's use, and whether it was idle. */
export interface JudgedMinute extends Pick<MinuteOfUse, 'firstMs' | 'lastMs'> {
  readonly isIdle: boolean;
}

/** A guard as it counts now. */
export interface CountingGuard {
  readonly minutes: number;
  readonly keepAliveUntilMs: number | null;
}

/**
 * Judges a guarded machine by the next minute that was told of it. It stops once it was idle for all of its minutes, no
 * earlier than it is kept alive, and no earlier than its renter was warned for.
 * @param nowMs when that is judged
 */
export function judgeIdle(
  guard: CountingGuard,
  before: GuardState,
  minute: JudgedMinute,
  nowMs: number,
): GuardVerdict {
  // What lies further ahead was seen by a clock that was set back since: it says nothing.
  const isAhead = before.seenMs !== null && before.seenMs > nowMs + MINUTE;
  const state = isAhead ? nothingSeen : before;
  const seenMs = Math.max(state.seenMs ?? 0, minute.lastMs);
  if (!minute.isIdle) return { ...nothingSeen, seenMs, act: 'none' };
  // It was told before: a watcher overlaps its own retry.
  if (state.seenMs !== null && state.seenMs >= minute.lastMs) return { ...state, act: 'none' };
  const { idleSinceMs, stopsAtMs } = goOn(guard, state, minute);
  const sinceMs = idleSinceMs ?? minute.firstMs;
  // What the machine did since is not known.
  const isLate = nowMs - minute.lastMs > telemetryLimits.staleMs;
  const end = isLate ? ({ stopsAtMs, act: 'none' } as const) : endOf(guard, sinceMs, stopsAtMs, nowMs);
  return { idleSinceMs: sinceMs, seenMs, ...end };
}

const nothingSeen: GuardState = { idleSinceMs: null, seenMs: null, stopsAtMs: null };

/** What counts on of a state after a silence: a short one is no idle time and moves the end on, a long one counts as use. */
function goOn({ minutes }: CountingGuard, state: GuardState, { firstMs }: JudgedMinute): GuardState {
  const silentMs = state.seenMs === null ? Infinity : firstMs - state.seenMs;
  if (silentMs <= telemetryLimits.staleMs) return state;
  const longestMs = Math.max(idleGuardLimits.silentMs, minutes * MINUTE * idleGuardLimits.silentShare);
  if (silentMs > longestMs) return nothingSeen;
  const later = (atMs: number | null): number | null => (atMs === null ? null : atMs + silentMs);
  return { ...state, idleSinceMs: later(state.idleSinceMs), stopsAtMs: later(state.stopsAtMs) };
}

function endOf(
  { minutes, keepAliveUntilMs }: CountingGuard,
  idleSinceMs: number,
  warnedMs: number | null,
  nowMs: number,
): Pick<GuardVerdict, 'stopsAtMs' | 'act'> {
  const dueMs = Math.max(idleSinceMs + minutes * MINUTE, keepAliveUntilMs ?? 0);
  // One that is kept alive meanwhile is warned of anew.
  if (warnedMs !== null && warnedMs >= dueMs) {
    return { stopsAtMs: warnedMs, act: nowMs >= warnedMs ? 'stop' : 'none' };
  }
  // The next minute would be told too late.
  const isNear = nowMs >= dueMs - idleGuardLimits.warnMs - MINUTE;
  return isNear
    ? { stopsAtMs: Math.max(dueMs, nowMs + idleGuardLimits.warnMs), act: 'warn' }
    : { stopsAtMs: null, act: 'none' };
}
