import { useQuery } from '@tanstack/react-query';
import { useRef, useState, type ReactNode, type RefObject } from 'react';
import { historyQuery } from '../../data/catalog.js';
import { money } from '../../format/money.js';
import { shortTime } from '../../format/time.js';
import { rentTexts } from '../../texts/rent.js';
import { nearestPlace, sliderProps } from '../../ui/slider.js';
import { useSeen } from '../../ui/use-seen.js';
import { drawSpark, type PricedHour, type Spark } from './sparkline-points.js';

const [WIDTH, HEIGHT, EDGE] = [120, 28, 2];

interface HistoryProps {
  readonly familyId: string;
  readonly days: number;
}

/** The lowest price of a family over the last days. It is read once it can be seen. */
export function Sparkline({ familyId, days }: HistoryProps) {
  const frame = useRef<HTMLDivElement>(null);
  const { spark, isNone } = useSpark(frame, familyId, days);
  return (
    <div ref={frame} className="h-8 w-full max-w-40">
      {spark && (
        <div role="img" aria-label={labelOf(spark, days)} className="size-full">
          <Line path={spark.path} />
        </div>
      )}
      {isNone && <None />}
    </div>
  );
}

/** The same, hour by hour for the pointer and the keyboard. */
export function PriceHistory({ familyId, days }: HistoryProps) {
  const frame = useRef<HTMLDivElement>(null);
  const { spark, isNone } = useSpark(frame, familyId, days);
  return (
    <div ref={frame} className="h-22">
      {spark && <WalkedLine spark={spark} days={days} />}
      {isNone && <None />}
    </div>
  );
}

function useSpark(
  frame: RefObject<HTMLDivElement | null>,
  familyId: string,
  days: number,
): { readonly spark: Spark | undefined; readonly isNone: boolean } {
  const isSeen = useSeen(frame);
  const { data, isSuccess } = useQuery({ ...historyQuery(familyId), enabled: isSeen });
  const spark = data && drawSpark(data.points, { hours: days * 24, width: WIDTH, height: HEIGHT });
  return { spark, isNone: isSuccess && !spark };
}

function WalkedLine({ spark, days }: { readonly spark: Spark; readonly days: number }) {
  const [pointed, setPointed] = useState<number>();
  const { prices, path } = spark;
  const at = Math.min(pointed ?? Infinity, prices.length - 1);
  const shown = pointed === undefined ? undefined : prices[at];
  return (
    <>
      <div
        {...sliderProps({
          label: labelOf(spark, days),
          ...{ count: prices.length, at, text: prices[at] ? told(prices[at]) : '', page: 24 },
          move: setPointed,
        })}
        onPointerMove={(event) =>
          setPointed(
            nearestPlace(
              event,
              prices.map(({ x }) => x),
              WIDTH,
            ),
          )
        }
        onPointerLeave={() => setPointed(undefined)}
        className="h-16"
      >
        <Line path={path}>
          {shown && (
            <path
              d={`M${shown.x} ${-EDGE}V${HEIGHT + EDGE}`}
              className="stroke-muted"
              vectorEffect="non-scaling-stroke"
            />
          )}
        </Line>
      </div>
      <p aria-hidden="true" className="mt-1 h-5 text-right text-[13px] tabular text-muted">
        {shown && told(shown)}
      </p>
    </>
  );
}

function Line({ path, children }: { readonly path: string; readonly children?: ReactNode }) {
  return (
    <svg
      aria-hidden="true"
      viewBox={`${-EDGE} ${-EDGE} ${WIDTH + 2 * EDGE} ${HEIGHT + 2 * EDGE}`}
      preserveAspectRatio="none"
      className="size-full text-accent"
      fill="none"
      stroke="currentColor"
      strokeWidth={1.5}
      strokeLinecap="round"
      strokeLinejoin="round"
    >
      <path d={path} vectorEffect="non-scaling-stroke" />
      {children}
    </svg>
  );
}

function None() {
  return <span className="text-[13px] text-muted">{rentTexts.sparkNone}</span>;
}

const labelOf = ({ lowestCents, highestCents }: Spark, days: number): string =>
  rentTexts.spark(days, money(lowestCents), money(highestCents));

const told = ({ at, cents }: PricedHour): string => rentTexts.sparkAt(shortTime(at), money(cents));
