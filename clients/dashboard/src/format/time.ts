import { locale, PSEUDO_LOCALE } from '../texts/texts.js';
import { isTwice } from './twice.js';

const timeLocale = locale === PSEUDO_LOCALE ? 'en-US' : locale;

type Format = Intl.DateTimeFormatOptions;

/**
 * A format of local time.
 * @param named the same with the zone, for the hour that the clock shows twice
 */
function localTime(plain: Format, named: Format): (iso: string) => string {
  const usual = new Intl.DateTimeFormat(timeLocale, plain);
  return (iso) => {
    const at = new Date(iso);
    return (isTwice(at.getTime()) ? new Intl.DateTimeFormat(timeLocale, named) : usual).format(at);
  };
}

const toTheMinute = { hour: 'numeric', minute: '2-digit' } as const;
const ofDay = { month: 'short', day: 'numeric', ...toTheMinute } as const;
const day = new Intl.DateTimeFormat(timeLocale, { dateStyle: 'medium' });
const utcMonth = new Intl.DateTimeFormat(timeLocale, { month: 'long', year: 'numeric', timeZone: 'UTC' });
const utcDate = new Intl.DateTimeFormat(timeLocale, { dateStyle: 'medium', timeZone: 'UTC' });
const relative = new Intl.RelativeTimeFormat(timeLocale, { numeric: 'auto', style: 'long' });

/** An instant with its seconds, for where it is exact: “Nov 22, 2026, 2:05:09 PM”. */
export const fullTime = localTime(
  { dateStyle: 'medium', timeStyle: 'medium' },
  { dateStyle: 'medium', timeStyle: 'long' },
);
const exact = new Intl.DateTimeFormat(timeLocale, {
  year: 'numeric',
  month: 'short',
  day: 'numeric',
  hour: 'numeric',
  minute: '2-digit',
  second: '2-digit',
  fractionalSecondDigits: 3,
  timeZoneName: 'short',
});
/** An instant to the millisecond, with its zone, for sums that are checked by hand. */
export const exactTime = (iso: string): string => exact.format(new Date(iso));
/** An instant as a zone's calendar and clock show it, with that zone. */
export const zonedTime = (iso: string, timeZone: string): string =>
  new Intl.DateTimeFormat(timeLocale, {
    year: 'numeric',
    month: 'short',
    day: 'numeric',
    hour: 'numeric',
    minute: '2-digit',
    timeZoneName: 'short',
    timeZone,
  }).format(new Date(iso));
/** An instant as lists show it. */
export const shortTime = localTime(ofDay, { ...ofDay, timeZoneName: 'short' });
/** The day of an instant. */
export const date = (iso: string): string => day.format(new Date(iso));
/** A month of the service's, which counts in UTC: 2026-11 is “November 2026”. */
export const monthName = (month: string): string => utcMonth.format(new Date(`${month}-01T00:00:00Z`));
/** The day of an instant in UTC, where the service counts so. */
export const utcDay = (iso: string): string => utcDate.format(new Date(iso));
/** The time of day of an instant without its seconds: “2:05 PM”. */
export const hourAndMinute = localTime({ timeStyle: 'short' }, { ...toTheMinute, timeZoneName: 'short' });
/** The time of day of an instant. */
export const timeOfDay = localTime({ timeStyle: 'medium' }, { timeStyle: 'long' });

const STEPS = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['week', 604_800],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const;

/** How long ago, or in how long: “5 minutes ago”, “in 2 hours”. */
export function ago(iso: string, nowMs: number): string {
  const seconds = Math.round((Date.parse(iso) - nowMs) / 1_000);
  const [unit, size] = STEPS.find(([, size]) => Math.abs(seconds) >= size) ?? (['second', 1] as const);
  return relative.format(Math.trunc(seconds / size), unit);
}

/** A span as clocks show it: 3,725 s is “1:02:05”, 65 s is “1:05”. */
export function clockSpan(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  const pad = (part: number): string => part.toString().padStart(2, '0');
  const hours = Math.floor(whole / 3_600);
  const minutes = Math.floor((whole % 3_600) / 60);
  return hours > 0 ? `${hours}:${pad(minutes)}:${pad(whole % 60)}` : `${minutes}:${pad(whole % 60)}`;
}

/** A span in its two largest units: “2 d 4 h”, “3 h 12 min”, “45 s”. */
export function span(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  const parts: readonly (readonly [number, string])[] = [
    [Math.floor(whole / 86_400), 'd'],
    [Math.floor((whole % 86_400) / 3_600), 'h'],
    [Math.floor((whole % 3_600) / 60), 'min'],
    [whole % 60, 's'],
  ];
  const first = parts.findIndex(([count]) => count > 0);
  if (first === -1) return '0 s';
  return parts
    .slice(first, first + 2)
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${count} ${unit}`)
    .join(' ');
}
