import type { Telemetry } from '@gpu-rental/client';
import { useState } from 'react';
import { shortTime } from '../../../format/time.js';
import { usageTexts as texts } from '../../../texts/usage.js';

type Point = Telemetry['points'][number];

/** The drawing's own units: a per cent is one of them. */
const WIDTH = 600;
const HEIGHT = 100;

/** The use of all GPUs over time in percent. A minute that nobody told leaves a gap. */
export function UsageChart({ told: { points, from, to } }: { readonly told: Telemetry }) {
  const [chosen, setChosen] = useState<number>();
  const point = chosen === undefined ? undefined : points[chosen];
  const values = points.flatMap(({ gpuPercent }) => gpuPercent ?? []);
  const mean = Math.round(values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length));
  const label = texts.chart(
    shortTime(from),
    shortTime(to),
    texts.percent(mean),
    texts.percent(Math.max(...values)),
  );
  return (
    <div className="tabular text-[12px] text-muted">
      <div className="grid grid-cols-[3rem_minmax(0,1fr)] gap-x-2">
        <div aria-hidden="true" className="flex h-40 flex-col justify-between text-right leading-none">
          {[100, 50, 0].map((value) => (
            <span key={value}>{texts.percent(value)}</span>
          ))}
        </div>
        <Lines points={points} chosen={chosen} label={label} />
        <span />
        <div>
          <input
            type="range"
            aria-label={texts.slider}
            aria-valuetext={point && readoutOf(point)}
            min={0}
            max={points.length - 1}
            value={chosen ?? points.length - 1}
            onChange={({ target }) => setChosen(Number(target.value))}
            className="w-full accent-accent"
          />
          <div aria-hidden="true" className="flex justify-between">
            <span>{shortTime(from)}</span>
            <span>{shortTime(to)}</span>
          </div>
        </div>
      </div>
      <p aria-hidden="true" className="h-5 text-right text-[13px]">
        {point && readoutOf(point)}
      </p>
    </div>
  );
}

interface LinesProps {
  readonly points: readonly Point[];
  readonly chosen: number | undefined;
  readonly label: string;
}

function Lines({ points, chosen, label }: LinesProps) {
  const x = (index: number): number => (index / Math.max(1, points.length - 1)) * WIDTH;
  const thin = { vectorEffect: 'non-scaling-stroke' } as const;
  return (
    <svg
      role="img"
      aria-label={label}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      className="h-40 w-full overflow-visible"
    >
      {[0, 50, 100].map((y) => (
        <line key={y} x1={0} x2={WIDTH} y1={y} y2={y} className="stroke-line" {...thin} />
      ))}
      {runsOf(points).map(([first, run]) => (
        <polyline
          key={first}
          points={run.map((value, index) => `${x(first + index)},${HEIGHT - value}`).join(' ')}
          className="fill-none stroke-accent"
          strokeWidth={2}
          strokeLinecap="round"
          {...thin}
        />
      ))}
      {chosen !== undefined && (
        <line x1={x(chosen)} x2={x(chosen)} y1={0} y2={HEIGHT} className="stroke-muted" {...thin} />
      )}
    </svg>
  );
}

function readoutOf({ at, gpuPercent }: Point): string {
  return texts.at(shortTime(at), texts.percent(gpuPercent));
}

/** The points in runs without a gap, each with the place of its first. */
function runsOf(points: readonly Point[]): [first: number, run: number[]][] {
  const runs: [number, number[]][] = [];
  points.forEach(({ gpuPercent }, index) => {
    if (gpuPercent === null) return;
    const run = runs.at(-1);
    if (run && run[0] + run[1].length === index) run[1].push(gpuPercent);
    else runs.push([index, [gpuPercent]]);
  });
  return runs;
}
