import type { Spending } from '@gpu-rental/client';
import { DAY_MS } from '../../format/months.js';
import type { SpendingSpan } from './spending-span.js';

type Day = Spending['days'][number];

/** A part of a day's bar. */
export interface ChartPart {
  /** A place in the chart's machines; undefined for all others. */
  readonly machine: number | undefined;
  readonly cents: number;
}

export interface ChartDay {
  readonly from: string;
  readonly cents: number;
  readonly parts: readonly ChartPart[];
  /** At the day's end. */
  readonly balanceCents: number;
}

/** What a chart of days shows, gaps included. */
export interface SpendingChartData {
  /** The kinds of machines that cost the most, the dearest first. */
  readonly machines: readonly { readonly name: string; readonly cents: number }[];
  readonly otherCents: number;
  readonly days: readonly ChartDay[];
}

/** As many as can be told apart by their colours. */
const MACHINES = 5;

/**
 * Puts what was spent into days and kinds of machines.
 * @param nameOf the kind of machine that a rental is
 */
export function chartOf(
  { days, openingBalanceCents }: Pick<Spending, 'days' | 'openingBalanceCents'>,
  { from, to }: Pick<SpendingSpan, 'from' | 'to'>,
  nameOf: (rental: Day['rentals'][number]) => string,
): SpendingChartData {
  const sums = new Map<string, number>();
  for (const rental of days.flatMap(({ rentals }) => rentals)) {
    const name = nameOf(rental);
    sums.set(name, (sums.get(name) ?? 0) + rental.chargedCents);
  }
  const machines = [...sums]
    .filter(([, cents]) => cents > 0)
    .toSorted(([, a], [, b]) => b - a)
    .slice(0, MACHINES)
    .map(([name, cents]) => ({ name, cents }));
  const byDay = new Map(days.map((day) => [Date.parse(day.from), day]));
  const shown: ChartDay[] = [];
  let balance = openingBalanceCents;
  for (let atMs = Date.parse(from); atMs < Date.parse(to); atMs += DAY_MS) {
    const day = byDay.get(atMs);
    balance += day?.amountCents ?? 0;
    shown.push({
      from: new Date(atMs).toISOString(),
      cents: day?.chargedCents ?? 0,
      parts: day ? partsOf(day, (rental) => machines.findIndex(({ name }) => name === nameOf(rental))) : [],
      balanceCents: balance,
    });
  }
  const all = shown.reduce((total, { cents }) => total + cents, 0);
  return { machines, otherCents: machines.reduce((rest, { cents }) => rest - cents, all), days: shown };
}

function partsOf(day: Day, placeOf: (rental: Day['rentals'][number]) => number): ChartPart[] {
  const sums = new Map<number, number>();
  for (const rental of day.rentals) {
    const place = placeOf(rental);
    if (place !== -1) sums.set(place, (sums.get(place) ?? 0) + rental.chargedCents);
  }
  const parts = [...sums].toSorted(([a], [b]) => a - b).map(([machine, cents]) => ({ machine, cents }));
  const otherCents = parts.reduce((rest, { cents }) => rest - cents, day.chargedCents);
  return [...parts, { machine: undefined, cents: otherCents }].filter(({ cents }) => cents > 0);
}
