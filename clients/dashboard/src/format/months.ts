import { locale, PSEUDO_LOCALE } from '../texts/texts.js';
import { readDay, type Month } from './days.js';

/** Where the browser is. */
export const localZone = (): string => new Intl.DateTimeFormat().resolvedOptions().timeZone;

export const DAY_MS = 86_400_000;

const formats = new Map<string, Intl.DateTimeFormat>();

/** The format is kept: to make one takes longer than to use it. */
function digitsIn(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  if (known) return known;
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    calendar: 'gregory',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  formats.set(timeZone, format);
  return format;
}

/** Reads the digits of a day or an instant as a zone's calendar and clock show it, as if they were UTC. */
function shownIn(atMs: number, timeZone: string): number {
  const parts = new Map(
    digitsIn(timeZone)
      .formatToParts(atMs)
      .map(({ type, value }) => [type, Number(value)]),
  );
  const of = (type: Intl.DateTimeFormatPartTypes): number => parts.get(type) ?? 0;
  return Date.UTC(of('year'), of('month') - 1, of('day'), of('hour'), of('minute'), of('second'));
}

/**
 * The first instant of a day in a zone. Where clocks are set at midnight, that is not always 00:00: the hour may be
 * left out, or come twice.
 */
function startOfDay(dayMs: number, timeZone: string): number {
  const candidates = [dayMs - DAY_MS, dayMs + DAY_MS]
    .map((near) => dayMs - (shownIn(near, timeZone) - near))
    .sort((a, b) => a - b);
  const start = candidates.find((at) => shownIn(at, timeZone) >= dayMs);
  return start ?? candidates.at(-1) ?? dayMs;
}

/** The first instant of a day such as “2026-11-05” in a zone; undefined for what is no day. */
export function dayStart(day: string, timeZone: string): string | undefined {
  const dayMs = readDay(day);
  return dayMs === undefined ? undefined : new Date(startOfDay(dayMs, timeZone)).toISOString();
}

/** The first instant after a day in a zone; undefined for what is no day. */
export function dayEnd(day: string, timeZone: string): string | undefined {
  const dayMs = readDay(day);
  return dayMs === undefined ? undefined : new Date(startOfDay(dayMs + DAY_MS, timeZone)).toISOString();
}

/** The day in which an instant lies: “2026-11-05”. */
export function dayOf(iso: string, timeZone: string): string {
  return new Date(shownIn(Date.parse(iso), timeZone)).toISOString().slice(0, 10);
}

/** The month in which an instant lies. */
export function monthOf(iso: string, timeZone: string): Month {
  return dayOf(iso, timeZone).slice(0, 7) as Month;
}

/** The month after another. */
export function monthAfter(month: Month, count = 1): Month {
  const [year = 0, number = 1] = month.split('-').map(Number);
  return new Date(Date.UTC(year, number - 1 + count, 1)).toISOString().slice(0, 7) as Month;
}

/** The instants at which a month begins and ends in a zone. */
export function monthRange(month: Month, timeZone: string): { readonly from: string; readonly to: string } {
  const startOf = (of: Month) =>
    new Date(startOfDay(Date.parse(`${of}-01T00:00:00Z`), timeZone)).toISOString();
  return { from: startOf(month), to: startOf(monthAfter(month)) };
}

/** All months from one to another, the newest first. */
export function monthsBetween(first: Month, last: Month): Month[] {
  const months: Month[] = [];
  for (let month = last; month >= first; month = monthAfter(month, -1)) months.push(month);
  return months;
}

const monthFormat = new Intl.DateTimeFormat(locale === PSEUDO_LOCALE ? 'en-US' : locale, {
  month: 'long',
  year: 'numeric',
  timeZone: 'UTC',
});

/** A month as people write it: “November 2026”. */
export const monthName = (month: Month): string => monthFormat.format(Date.parse(`${month}-15T00:00:00Z`));
