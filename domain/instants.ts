/** A day, or an instant with its offset: a time without one could mean anything. */
export const instantPattern =
  /^(\d{4})-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])(T([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d))?$/;

/**
 * Reads such a text; a day means its beginning in UTC.
 * @returns undefined for any other, and for a day that its month does not have: JavaScript would read the 31st of November as
 * the 1st of December
 */
export function readInstant(text: string): Date | undefined {
  const [, year, month, day] = instantPattern.exec(text) ?? [];
  const lastDay = new Date(0);
  lastDay.setUTCFullYear(Number(year), Number(month), 0);
  if (!(Number(day) <= lastDay.getUTCDate())) return undefined;
  const at = new Date(text);
  // An offset may lead out of the years that have four digits, as the year 0000 does by itself.
  return at.getUTCFullYear() >= 1 && at.getUTCFullYear() <= 9999 ? at : undefined;
}
