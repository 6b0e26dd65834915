import type { Charges } from '@gpu-rental/client';
import { DAY_MS } from '../../format/months.js';

/** What a rental had cost in all by an instant, in whole cents. */
export interface ChargePoint {
  /** Seconds since 1970. */
  readonly at: number;
  readonly cents: number;
}

const STEP_MS = { hour: 3_600_000, day: DAY_MS } as const;

/**
 * The running total of a rental's charges: from nothing at its begin, over the end of each hour or day, to the present
 * total. A refund lets it fall.
 * @param until when it ended, or the present instant
 */
export function chargePoints(
  { charges, interval }: Pick<Charges, 'charges' | 'interval'>,
  runningAt: string | null,
  until: { readonly atMs: number; readonly cents: number },
): ChargePoint[] {
  const [first] = charges;
  if (!first) return [];
  const beganMs = runningAt === null ? Date.parse(first.from) : Date.parse(runningAt);
  const points: ChargePoint[] = [{ at: beganMs / 1_000, cents: 0 }];
  let cents = 0;
  for (const { from, chargedCents, refundedCents } of charges) {
    const fromMs = Math.max(Date.parse(from), beganMs);
    // Nothing was charged between two periods that are not neighbours: the line goes on level.
    push(points, fromMs, cents);
    cents += chargedCents - refundedCents;
    push(points, Math.min(Date.parse(from) + STEP_MS[interval], until.atMs), cents);
  }
  push(points, until.atMs, until.cents);
  return points;
}

/** Instants only go forward: of two at the same one, the later word counts. */
function push(points: ChargePoint[], atMs: number, cents: number): void {
  const at = atMs / 1_000;
  const last = points.at(-1);
  if (last && last.at >= at) points[points.length - 1] = { at: last.at, cents };
  else points.push({ at, cents });
}
