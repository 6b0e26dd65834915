const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/**
 * Writes a length of time in its two largest units: 7,500 -> "2 h 5 min", 59 -> "59 s".
 * @param seconds at least 0; parts of a second are left out
 */
export function duration(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  if (whole < MINUTE) return `${whole} s`;
  if (whole < HOUR) return two(whole, [MINUTE, 'min'], [1, 's']);
  if (whole < DAY) return two(whole, [HOUR, 'h'], [MINUTE, 'min']);
  const days = Math.floor(whole / DAY);
  const hours = Math.floor((whole % DAY) / HOUR);
  const told = days === 1 ? '1 day' : `${days.toLocaleString('en-US')} days`;
  return hours === 0 || days > 6 ? told : `${told} ${hours} h`;
}

type Unit = readonly [seconds: number, name: string];

function two(whole: number, [larger, name]: Unit, [smaller, other]: Unit): string {
  const rest = Math.floor((whole % larger) / smaller);
  return `${Math.floor(whole / larger)} ${name}${rest === 0 ? '' : ` ${rest} ${other}`}`;
}

/** The seconds from one instant to another; below 0 when the second one is the earlier. */
export function secondsBetween(from: string | number | Date, to: string | number | Date): number {
  return (new Date(to).getTime() - new Date(from).getTime()) / 1000;
}

/** Writes an instant in the time of this machine: "2026-11-21 09:30". */
export function localTime(at: string | number | Date): string {
  return `${localDate(at)} ${clockTime(at).slice(0, 5)}`;
}

/** Writes the day of an instant in the time of this machine: "2026-11-21". */
export function localDate(at: string | number | Date): string {
  const date = new Date(at);
  return [date.getFullYear(), date.getMonth() + 1, date.getDate()].map(twoDigits).join('-');
}

/** Writes the time of day of an instant in the time of this machine: "09:30:07". */
export function clockTime(at: string | number | Date): string {
  const date = new Date(at);
  return [date.getHours(), date.getMinutes(), date.getSeconds()].map(twoDigits).join(':');
}

/** Writes how long ago an instant was: "3 min 20 s ago". */
export function ago(at: string, nowMs: number): string {
  return `${duration(secondsBetween(at, nowMs))} ago`;
}

const units: Readonly<Record<string, number>> = { s: 1, m: MINUTE, min: MINUTE, h: HOUR, d: DAY };

/**
 * Reads a length of time as people write it: "90m", "2h", "1h30m", "3 d"; a bare number is hours.
 * @returns seconds, or undefined when it is none, or not above 0
 */
export function secondsOf(text: string): number | undefined {
  const trimmed = text.trim().toLowerCase();
  if (/^\d+(\.\d+)?$/.test(trimmed)) return positive(Number(trimmed) * HOUR);
  if (!/^(\d+(\.\d+)?\s*(min|[smhd])\s*)+$/.test(trimmed)) return undefined;
  const parts = [...trimmed.matchAll(/(\d+(?:\.\d+)?)\s*(min|[smhd])/g)];
  return positive(parts.reduce((sum, [, count, unit = 's']) => sum + Number(count) * (units[unit] ?? 0), 0));
}

function positive(seconds: number): number | undefined {
  return seconds > 0 && Number.isFinite(seconds) ? Math.round(seconds) : undefined;
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}
