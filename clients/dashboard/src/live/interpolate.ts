import type { LiveMeter } from '@gpu-rental/client';

/**
 * What a running machine has cost at any instant between two words of the service, by the service's own sums: a running
 * total of whole cents, cut off. Nothing here knows of documents or of time that passes.
 */

/** A meter with the instant, by this computer's clock, at which the service read it: at the latest then. */
export interface TimedMeter extends LiveMeter {
  readonly receivedAtMs: number;
}

/** What ends a machine by itself. */
export interface MeterLimits {
  readonly autoStopAt?: string | null;
  readonly maxSpendCents?: number | null;
}

const MS_PER_HOUR = 3_600_000n;

/** A cent that the service has not told this long after it fell due is not guessed on: nobody may be charging. */
export const AHEAD_MS = 10_000;

/** Clocks that differ by more than this from one word to the next were set. */
const CLOCK_SET_MS = 2_000;

/**
 * Notes when a meter came. Of two words the faster one tells the service's time better, so what was shown stays.
 * @param previous the same rental's meter before
 */
export function timed(meter: LiveMeter, receivedAtMs: number, previous?: TimedMeter): TimedMeter {
  if (previous === undefined) return { ...meter, receivedAtMs };
  const slower =
    lag(Date.parse(meter.readAt), receivedAtMs) - lag(Date.parse(previous.readAt), previous.receivedAtMs);
  return {
    ...meter,
    receivedAtMs: slower > 0 && slower <= CLOCK_SET_MS ? receivedAtMs - slower : receivedAtMs,
  };
}

const lag = (readAtMs: number, receivedAtMs: number): number => receivedAtMs - readAtMs;

/**
 * Whole cents that the machine has cost by now: what the service said, and after it what it will say by its next tick.
 * @param nowMs this computer's clock
 */
export function chargedAt(meter: TimedMeter, nowMs: number, limits: MeterLimits = {}): number {
  const { chargedCents, pricePerHourCents } = meter;
  if (!isTicking(meter)) return chargedCents;
  const untilMs = Math.min(serviceTime(meter, nowMs), knownUntil(meter), instant(limits.autoStopAt));
  const cents = accruedCents(pricePerHourCents, untilMs - Date.parse(meter.runningAt));
  return Math.max(chargedCents, Math.min(cents, limits.maxSpendCents ?? Infinity));
}

/**
 * What has accrued of the first cent, in thousandths of it; undefined once there is a whole one, and where nothing
 * accrues.
 */
export function beforeFirstCent(
  meter: TimedMeter,
  nowMs: number,
  limits: MeterLimits = {},
): number | undefined {
  if (!isTicking(meter) || chargedAt(meter, nowMs, limits) > 0) return undefined;
  const untilMs = Math.min(serviceTime(meter, nowMs), knownUntil(meter), instant(limits.autoStopAt));
  // A cent that is due is not shown before the service says so.
  return Math.min(999, accruedCents(meter.pricePerHourCents * 1_000, untilMs - Date.parse(meter.runningAt)));
}

/**
 * Whole cents that are still held for the machine: what it costs is taken out of its hold first.
 * @param meter the sums of one moment
 * @param chargedCents what it has cost by now, which may be known from elsewhere
 */
export function heldOf(
  meter: { readonly holdCents: number; readonly chargedCents: number },
  chargedCents: number,
): number {
  return Math.max(0, meter.holdCents - (chargedCents - meter.chargedCents));
}

/** Since when the service has said nothing though a cent fell due; undefined while the figure is as good as live. */
export function stalledSince(meter: TimedMeter, nowMs: number): string | undefined {
  return isTicking(meter) && serviceTime(meter, nowMs) > knownUntil(meter) ? meter.readAt : undefined;
}

type TickingMeter = TimedMeter & { readonly runningAt: string };

function isTicking(meter: TimedMeter): meter is TickingMeter {
  const { status, runningAt, endedAt, pricePerHourCents } = meter;
  return status === 'running' && runningAt !== null && endedAt === null && pricePerHourCents > 0;
}

/** The service's clock: never later than it is there, since what was read had to come here first. */
function serviceTime({ readAt, receivedAtMs }: TimedMeter, nowMs: number): number {
  return Date.parse(readAt) + Math.max(0, nowMs - receivedAtMs);
}

/** Until when the next cent must have been told, if the service charges at all. */
function knownUntil({ readAt, runningAt, pricePerHourCents, chargedCents }: TickingMeter): number {
  const dueMs = Date.parse(runningAt) + elapsedMsAtCents(pricePerHourCents, chargedCents + 1);
  return Math.max(Date.parse(readAt), dueMs) + AHEAD_MS;
}

const instant = (iso: string | null | undefined): number => (iso ? Date.parse(iso) : Infinity);

/** The service's sum (decision 25, "Usage as running total"); a test holds the two together. */
export function accruedCents(pricePerHourCents: number, elapsedMs: number): number {
  if (elapsedMs <= 0) return 0;
  return Number((BigInt(pricePerHourCents) * BigInt(Math.floor(elapsedMs))) / MS_PER_HOUR);
}

/** The first millisecond of running at which this many whole cents have accrued. */
function elapsedMsAtCents(pricePerHourCents: number, cents: number): number {
  const rate = BigInt(pricePerHourCents);
  return Number((BigInt(cents) * MS_PER_HOUR + rate - 1n) / rate);
}

/** How long money lasts at a burn, in whole seconds; null when nothing burns. */
export function runwaySeconds(moneyCents: number, burnPerHourCents: number): number | null {
  if (burnPerHourCents === 0) return null;
  return Number((BigInt(moneyCents) * 3_600n) / BigInt(burnPerHourCents));
}
