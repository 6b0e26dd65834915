import 'uplot/dist/uPlot.min.css';
import { useEffect, useRef } from 'react';
import uPlot from 'uplot';
import { money } from '../../format/money.js';
import { fullTime, hourAndMinute, shortTime, timeOfDay } from '../../format/time.js';
import { watchTheme } from '../../ui/watch-theme.js';
import type { ChargePoint } from './charge-points.js';

const HEIGHT = 200;

interface CostChartProps {
  readonly points: readonly ChargePoint[];
  /** Drawn as a line of its own; null: there is no limit. */
  readonly limitCents: number | null;
  /** What it shows, in a sentence. */
  readonly label: string;
}

/** A line of a running total over time, below that of its limit. It follows the width and the theme. */
export function CostChart({ points, limitCents, label }: CostChartProps) {
  const frame = useRef<HTMLDivElement>(null);
  const readout = useRef<HTMLParagraphElement>(null);
  useEffect(() => {
    const { current } = frame;
    if (!current) return undefined;
    const data: uPlot.AlignedData = [
      points.map(({ at }) => at),
      points.map(({ cents }) => cents),
      points.map(() => limitCents),
    ];
    let chart: uPlot | undefined;
    const draw = (): void => {
      chart?.destroy();
      chart = new uPlot(optionsOf(current, readout.current), data, current);
    };
    draw();
    const stopWatching = watchTheme(draw);
    const resized = new ResizeObserver(() => chart?.setSize({ width: current.clientWidth, height: HEIGHT }));
    resized.observe(current);
    return () => {
      resized.disconnect();
      stopWatching();
      chart?.destroy();
    };
  }, [points, limitCents]);
  return (
    <div>
      <div ref={frame} role="img" aria-label={label} className="h-[200px] w-full overflow-hidden" />
      <p ref={readout} aria-hidden="true" className="h-5 text-right text-[13px] tabular text-muted" />
    </div>
  );
}

function optionsOf(frame: HTMLElement, readout: HTMLElement | null): uPlot.Options {
  const color = colorsOf(frame);
  const axis: uPlot.Axis = {
    stroke: color('--muted'),
    grid: { stroke: color('--line'), width: 1 },
    ticks: { show: false },
    font: `12px ${getComputedStyle(frame).fontFamily}`,
  };
  return {
    width: frame.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    cursor: { y: false, drag: { setScale: false } },
    scales: { y: { range: (_chart, _min, max) => [0, Math.max(1, max * 1.1)] } },
    axes: [
      { ...axis, space: 130, size: 32, values: ({ scales }, instants) => instants.map(ticksOf(scales['x'])) },
      { ...axis, size: 72, values: (_chart, amounts) => amounts.map(atAmount) },
    ],
    series: [
      {},
      { stroke: color('--accent'), width: 2, fill: color('--accent-soft'), points: { show: false } },
      { stroke: color('--warn'), width: 2, dash: [6, 5], points: { show: false } },
    ],
    hooks: {
      setCursor: [
        ({ cursor: { idx }, data: [instants, amounts] }) => {
          const [at, cents] = typeof idx === 'number' ? [instants[idx], amounts?.[idx]] : [];
          if (readout)
            readout.textContent = at === undefined ? '' : `${atInstant(at)} · ${atAmount(cents ?? 0)}`;
        },
      ],
    },
  };
}

/** The instants of an axis, as exactly as its length asks for. */
function ticksOf({ min = 0, max = 0 }: Pick<uPlot.Scale, 'min' | 'max'> = {}): (seconds: number) => string {
  const length = max - min;
  const format = length < 600 ? timeOfDay : length < 86_400 ? hourAndMinute : shortTime;
  return (seconds) => format(isoOf(seconds));
}

const isoOf = (seconds: number): string => new Date(seconds * 1_000).toISOString();
const atInstant = (seconds: number): string => fullTime(isoOf(seconds));
/** An axis may stand between two cents: no amount does. */
const atAmount = (cents: number): string => (Number.isInteger(cents) ? money(cents) : '');

/** Reads the tokens as the colours that they are now: a canvas knows no light-dark(). */
function colorsOf(frame: HTMLElement): (token: string) => string {
  return (token) => {
    const probe = document.createElement('span');
    probe.style.color = `var(${token})`;
    frame.append(probe);
    const { color } = getComputedStyle(probe);
    probe.remove();
    return color;
  };
}
