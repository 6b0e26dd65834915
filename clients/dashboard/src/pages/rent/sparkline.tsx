import { useQuery } from '@tanstack/react-query';
import { useRef } from 'react';
import { historyQuery } from '../../data/catalog.js';
import { money } from '../../format/money.js';
import { rentTexts } from '../../texts/rent.js';
import { classes } from '../../ui/classes.js';
import { useSeen } from '../../ui/use-seen.js';
import { drawSpark } from './sparkline-points.js';

const [WIDTH, HEIGHT, EDGE] = [120, 28, 2];

interface SparklineProps {
  readonly familyId: string;
  readonly days: number;
  readonly className?: string;
}

/** The lowest price of a family over the last days. It is read once it can be seen. */
export function Sparkline({ familyId, days, className }: SparklineProps) {
  const frame = useRef<HTMLDivElement>(null);
  const isSeen = useSeen(frame);
  const { data, isSuccess } = useQuery({ ...historyQuery(familyId), enabled: isSeen });
  const spark = data && drawSpark(data.points, { hours: days * 24, width: WIDTH, height: HEIGHT });
  return (
    <div ref={frame} className={classes('h-8 w-full max-w-40', className)}>
      {spark && (
        <svg
          role="img"
          aria-label={rentTexts.spark(days, money(spark.lowestCents), money(spark.highestCents))}
          viewBox={`${-EDGE} ${-EDGE} ${WIDTH + 2 * EDGE} ${HEIGHT + 2 * EDGE}`}
          preserveAspectRatio="none"
          className="size-full text-accent"
          fill="none"
          stroke="currentColor"
          strokeWidth={1.5}
          strokeLinecap="round"
          strokeLinejoin="round"
        >
          <path d={spark.path} vectorEffect="non-scaling-stroke" />
        </svg>
      )}
      {isSuccess && !spark && <span className="text-[13px] text-muted">{rentTexts.sparkNone}</span>}
    </div>
  );
}
