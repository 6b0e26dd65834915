import type { FamilyHistory } from '@gpu-rental/client';

type Hour = FamilyHistory['points'][number];

/** The lowest price of an hour, and where it is drawn. */
export interface PricedHour {
  readonly at: string;
  readonly cents: number;
  readonly x: number;
}

/** A line of prices that was drawn, with what it says in figures. */
export interface Spark {
  /** The data of an SVG path. Hours without a price leave a gap. */
  readonly path: string;
  /** The hours that had a price, in order. */
  readonly prices: readonly PricedHour[];
  readonly lowestCents: number;
  readonly highestCents: number;
  /** The newest price. */
  readonly latestCents: number;
}

const HOUR_MS = 3_600_000;

/**
 * Draws the prices of the last hours into a box, the newest at the right edge.
 * @returns undefined when there was no price in that time
 */
export function drawSpark(
  points: readonly Hour[],
  { hours, width, height }: { readonly hours: number; readonly width: number; readonly height: number },
): Spark | undefined {
  const last = points.at(-1);
  if (!last) return undefined;
  const fromMs = Date.parse(last.at) - (hours - 1) * HOUR_MS;
  const xOf = (hour: number): number => round((hour / Math.max(1, hours - 1)) * width);
  const priced = points.flatMap(({ at, lowestPricePerHourCents: cents }) => {
    const hour = (Date.parse(at) - fromMs) / HOUR_MS;
    return cents === null || hour < 0 ? [] : [{ at, hour, cents, x: xOf(hour) }];
  });
  const latest = priced.at(-1);
  if (!latest) return undefined;
  const amounts = priced.map(({ cents }) => cents);
  const [lowestCents, highestCents] = [Math.min(...amounts), Math.max(...amounts)];
  const y = (cents: number): number =>
    highestCents === lowestCents
      ? round(height / 2)
      : round(height - ((cents - lowestCents) / (highestCents - lowestCents)) * height);
  const path = priced
    .map(({ hour, cents, x }, index) => {
      const isJoined = priced[index - 1]?.hour === hour - 1;
      // A stroke of no length has round ends: a lonely hour is a dot.
      const alone = !isJoined && priced[index + 1]?.hour !== hour + 1 ? 'h0' : '';
      return `${isJoined ? 'L' : 'M'}${x} ${y(cents)}${alone}`;
    })
    .join('');
  return { path, prices: priced, lowestCents, highestCents, latestCents: latest.cents };
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
