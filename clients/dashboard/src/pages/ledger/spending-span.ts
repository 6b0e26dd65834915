import { DAY_MS, dayEnd, dayOf } from '../../format/months.js';

/** How many days may be looked at together. */
export const spanDays = [7, 30] as const;
export type SpanDays = (typeof spanDays)[number];
export const DEFAULT_SPAN_DAYS: SpanDays = 30;

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

/** So many days up to one, which is included; up to today where it is left out or still to come. */
export function spendingSpan(
  until: string | undefined,
  nowMs: number,
  days: SpanDays = DEFAULT_SPAN_DAYS,
): SpendingSpan {
  const today = dayOf(new Date(nowMs).toISOString(), 'UTC');
  const last = until === undefined || until > today ? today : until;
  const to = dayEnd(last, 'UTC') ?? today;
  const moved = (by: number): string => new Date(Date.parse(to) + by * DAY_MS).toISOString();
  const later = dayOf(moved(days - 1), 'UTC');
  return {
    ...{ from: moved(-days), to },
    earlier: dayOf(moved(-days - 1), 'UTC'),
    later: later < today ? later : undefined,
    endsToday: last === today,
  };
}
