import { DAY_MS, dayEnd, dayOf } from '../../format/months.js';

/** How many days are looked at together. */
export const SPAN_DAYS = 30;

/** Whole days in UTC, as the service counts them. */
export interface SpendingSpan {
  readonly from: string;
  /** The instant after the last day. */
  readonly to: string;
  /** The last day of the span before. */
  readonly earlier: string;
  /** The last day of the span after; undefined where that ends today, and where this one does. */
  readonly later: string | undefined;
  readonly endsToday: boolean;
}

/** The days up to one, which is included; up to today where it is left out or still to come. */
export function spendingSpan(until: string | undefined, nowMs: number): SpendingSpan {
  const today = dayOf(new Date(nowMs).toISOString(), 'UTC');
  const last = until === undefined || until > today ? today : until;
  const to = dayEnd(last, 'UTC') ?? today;
  const moved = (days: number): string => new Date(Date.parse(to) + days * DAY_MS).toISOString();
  const later = dayOf(moved(SPAN_DAYS - 1), 'UTC');
  return {
    ...{ from: moved(-SPAN_DAYS), to },
    earlier: dayOf(moved(-SPAN_DAYS - 1), 'UTC'),
    later: later < today ? later : undefined,
    endsToday: last === today,
  };
}
