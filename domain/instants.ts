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

/** Months of which there may be entries, such as 2026-10. */
export const monthPattern = /^20\d{2}-(0[1-9]|1[0-2])$/;

/** Reads a month as its first instant and that of the next (UTC); undefined for any other text. */
export function monthOf(text: string): { readonly from: Date; readonly to: Date } | undefined {
  if (!monthPattern.test(text)) return undefined;
  const [year = 0, month = 0] = text.split('-').map(Number);
  return { from: new Date(Date.UTC(year, month - 1)), to: new Date(Date.UTC(year, month)) };
}

/** Reads an instant as toISOString() writes it, and in no other form. */
export function instantOf(text: string): Date | undefined {
  const at = new Date(text);
  return Number.isNaN(at.getTime()) || at.toISOString() !== text ? undefined : at;
}
