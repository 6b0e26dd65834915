import { useState } from 'react';
import { money } from '../../format/money.js';
import { utcDay } from '../../format/time.js';
import { ledgerTexts } from '../../texts/ledger.js';
import { Axis } from '../../ui/axis.js';
import { classes } from '../../ui/classes.js';
import { Money } from '../../ui/money.js';
import { sliderProps } from '../../ui/slider.js';
import type { ChartDay, SpendingChartData } from './spending-chart-data.js';

const texts = ledgerTexts.spending;

/** The colours of the machines, in the order of the legend. */
const fills = ['bg-series-1', 'bg-series-2', 'bg-series-3', 'bg-series-4', 'bg-series-5'];
const fillOf = (machine: number | undefined): string => fills[machine ?? fills.length] ?? 'bg-muted';

/** What each day cost, with the kinds of machines one above the other; the days below tell the same in words. */
export function SpendingChart({ chart }: { readonly chart: SpendingChartData }) {
  const { machines, otherCents, days } = chart;
  const [pointedFrom, setPointedFrom] = useState<string>();
  const pointed = days.find(({ from }) => from === pointedFrom);
  const highest = Math.max(...days.map(({ cents }) => cents));
  const [first, last] = [days[0], days.at(-1)];
  if (!first || !last || highest === 0) return <p className="text-muted">{texts.none}</p>;
  const at = pointed === undefined ? days.length - 1 : days.indexOf(pointed);
  return (
    <div
      onPointerLeave={() => setPointedFrom(undefined)}
      className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-2 text-[13px] text-muted tabular"
    >
      <p aria-hidden="true" className="col-span-2 mb-3 h-5 truncate text-right">
        {pointed && told(pointed)}
      </p>
      <Axis amounts={[highest, Math.round(highest / 2), 0]} />
      <div
        {...sliderProps({
          label: texts.chart(money(highest)),
          ...{ count: days.length, at, text: told(pointed ?? last), page: 7 },
          move: (to) => setPointedFrom(days[to ?? -1]?.from),
        })}
        className="flex h-36 items-stretch border-y border-line"
      >
        {days.map((day) => (
          <Bar
            key={day.from}
            day={day}
            highest={highest}
            isPointedAt={day === pointed}
            onPoint={setPointedFrom}
          />
        ))}
      </div>
      <div className="col-start-2 mt-2 flex justify-between">
        <span>{utcDay(first.from)}</span>
        <span>{utcDay(last.from)}</span>
      </div>
      <ul className="col-span-2 mt-3 flex flex-wrap gap-x-5 gap-y-1.5 text-ink">
        {machines.map(({ name, cents }, machine) => (
          <Key key={name} fill={fillOf(machine)} name={name} cents={cents} />
        ))}
        {otherCents > 0 && <Key fill={fillOf(undefined)} name={texts.otherMachines} cents={otherCents} />}
      </ul>
      <BalanceLine days={days} />
    </div>
  );
}

const told = ({ from, cents, balanceCents }: ChartDay): string =>
  texts.pointed(utcDay(from), money(cents), money(balanceCents));

interface BarProps {
  readonly day: ChartDay;
  readonly highest: number;
  readonly isPointedAt: boolean;
  readonly onPoint: (from: string) => void;
}

function Bar({ day: { from, parts }, highest, isPointedAt, onPoint }: BarProps) {
  return (
    <span
      onPointerEnter={() => onPoint(from)}
      className={classes('flex flex-1 flex-col-reverse px-px sm:px-0.5', isPointedAt && 'bg-sunken')}
    >
      {parts.map(({ machine, cents }) => (
        <span
          key={machine ?? 'other'}
          className={classes('min-h-px border-t border-surface', fillOf(machine))}
          style={{ height: `${(cents / highest) * 100}%` }}
        />
      ))}
    </span>
  );
}

const [STEP, HEIGHT, EDGE] = [10, 28, 2];

/** The balance, each day's end below the day's bar. */
function BalanceLine({ days }: Pick<SpendingChartData, 'days'>) {
  const balances = days.map(({ balanceCents }) => balanceCents);
  const [lowest, highest] = [Math.min(...balances), Math.max(...balances)];
  const points = balances.map(
    (cents, day) => `${(day + 0.5) * STEP},${HEIGHT * (1 - cents / Math.max(1, highest))}`,
  );
  return (
    <>
      <p className="col-span-2 mt-4 mb-3">{texts.balance}</p>
      <Axis amounts={[Math.max(1, highest), 0]} />
      <svg
        role="img"
        aria-label={texts.balanceLine(money(lowest), money(highest))}
        viewBox={`0 ${-EDGE} ${days.length * STEP} ${HEIGHT + 2 * EDGE}`}
        preserveAspectRatio="none"
        className="h-12 w-full border-y border-line text-soft"
        fill="none"
        stroke="currentColor"
        strokeWidth={1.5}
        strokeLinejoin="round"
      >
        <polyline points={points.join(' ')} vectorEffect="non-scaling-stroke" />
      </svg>
    </>
  );
}

interface KeyProps {
  readonly fill: string;
  readonly name: string;
  readonly cents: number;
}

function Key({ fill, name, cents }: KeyProps) {
  return (
    <li className="flex items-center gap-2 text-[13px]">
      <span aria-hidden="true" className={classes('size-2.5 rounded-xs', fill)} />
      <span>{name}</span>
      <Money cents={cents} className="text-muted" />
    </li>
  );
}
