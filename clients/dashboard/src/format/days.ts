/** A month of the calendar: “2026-11”. */
export type Month = `${number}-${number}`;

/** Tells whether a text is a month. */
export function isMonth(text: unknown): text is Month {
  return typeof text === 'string' && /^\d{4}-(?:0[1-9]|1[0-2])$/.test(text);
}

/** Reads a day such as “2026-11-05” as the milliseconds at which it begins in UTC; undefined for what is no day. */
export function readDay(day: string): number | undefined {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(day)) return undefined;
  const dayMs = Date.parse(`${day}T00:00:00Z`);
  return Number.isNaN(dayMs) || new Date(dayMs).toISOString().slice(0, 10) !== day ? undefined : dayMs;
}
