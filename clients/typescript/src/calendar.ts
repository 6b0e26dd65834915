const written = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(?::\d\d(?:\.\d{1,3})?)?(Z|[+-]\d\d:\d\d)?)?$/;

/**
 * Reads a day, or an instant, as a person writes it. Without an offset the clock of this place counts, and a day begins
 * there.
 * @returns undefined for what is none: a day that no calendar has, or an hour that the clock skips
 */
export function readWritten(text: string): Date | undefined {
  const [, day, time, zone] = written.exec(text) ?? [];
  if (day === undefined) return undefined;
  const at = new Date(time === undefined ? `${day}T00:00` : text.replace(' ', 'T'));
  if (Number.isNaN(at.getTime())) return undefined;
  // What is shown by the same clock is what was written, or it is another time than was meant.
  const offsetMinutes = zone === undefined ? -at.getTimezoneOffset() : minutesOf(zone);
  const shown = new Date(at.getTime() + offsetMinutes * 60_000).toISOString();
  return shown.startsWith(time === undefined ? day : `${day}T${time}`) ? at : undefined;
}

function minutesOf(zone: string): number {
  if (zone === 'Z') return 0;
  const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(4));
  return zone.startsWith('-') ? -minutes : minutes;
}
