import { useState } from 'react';
import { money } from '../../format/money.js';
import { fullTime, hourAndMinute, shortTime, timeOfDay } from '../../format/time.js';
import { Axis } from '../../ui/axis.js';
import { nearestPlace, sliderProps } from '../../ui/slider.js';
import type { ChargePoint } from './charge-points.js';

/** The drawing's own units. */
const [WIDTH, HEIGHT] = [600, 100];
const thin = { vectorEffect: 'non-scaling-stroke' } as const;

interface CostChartProps {
  /** At least one. */
  readonly points: readonly ChargePoint[];
  /** Drawn as a line of its own; null: there is no limit. */
  readonly limitCents: number | null;
  /** What it shows, in a sentence. */
  readonly label: string;
}

/** A line of a running total over time, below that of its limit; point by point for the pointer and the keyboard. */
export function CostChart({ points, limitCents, label }: CostChartProps) {
  const [pointed, setPointed] = useState<number>();
  const at = Math.min(pointed ?? Infinity, points.length - 1);
  const [first, last, shown] = [points[0], points.at(-1), points[at]];
  if (!first || !last || !shown) return null;
  const highest = Math.max(1, limitCents ?? 0, ...points.map(({ cents }) => cents));
  const xOf = (point: ChargePoint): number =>
    ((point.at - first.at) / Math.max(1, last.at - first.at)) * WIDTH;
  const yOf = (cents: number): number => HEIGHT * (1 - cents / highest);
  const line = points.map((point) => `${xOf(point)},${yOf(point.cents)}`).join(' ');
  const tick = tickOf(last.at - first.at);
  return (
    <div className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-2 text-[13px] tabular text-muted">
      <p aria-hidden="true" className="col-span-2 mb-3 h-5 truncate text-right">
        {pointed !== undefined && told(shown)}
      </p>
      <Axis amounts={[highest, Math.round(highest / 2), 0]} />
      <div
        {...sliderProps({
          label,
          ...{ count: points.length, at, text: told(shown), page: 24 },
          move: setPointed,
        })}
        onPointerMove={(event) => setPointed(nearestPlace(event, points.map(xOf), WIDTH))}
        onPointerLeave={() => setPointed(undefined)}
        className="h-40 border-y border-line"
      >
        <svg
          aria-hidden="true"
          viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
          preserveAspectRatio="none"
          className="size-full overflow-visible fill-none"
        >
          <polygon points={`${line} ${WIDTH},${HEIGHT} 0,${HEIGHT}`} className="fill-accent-soft" />
          <polyline
            points={line}
            className="stroke-accent"
            strokeWidth={2}
            strokeLinejoin="round"
            {...thin}
          />
          {limitCents !== null && (
            <path
              d={`M0 ${yOf(limitCents)}H${WIDTH}`}
              className="stroke-warn"
              strokeWidth={2}
              strokeDasharray="6 5"
              {...thin}
            />
          )}
          {pointed !== undefined && (
            <path d={`M${xOf(shown)} 0V${HEIGHT}`} className="stroke-muted" {...thin} />
          )}
        </svg>
      </div>
      <div aria-hidden="true" className="col-start-2 mt-2 flex justify-between">
        <span>{tick(isoOf(first.at))}</span>
        <span>{tick(isoOf(last.at))}</span>
      </div>
    </div>
  );
}

/** How an axis of so many seconds names its instants. */
function tickOf(seconds: number): (iso: string) => string {
  if (seconds < 600) return timeOfDay;
  return seconds < 86_400 ? hourAndMinute : shortTime;
}

const isoOf = (seconds: number): string => new Date(seconds * 1_000).toISOString();
const told = ({ at, cents }: ChargePoint): string => `${fullTime(isoOf(at))} · ${money(cents)}`;
