/**
 * Reads fields of foreign JSON. An upstream's published schema refuses its own answers (a pending machine has no
 * address), so answers are read field by field. A field that is missing or of another type is null.
 */
export type Fields = Readonly<Record<string, unknown>>;

/** Returns the value as an object; an empty one when it is none. */
export function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}

/** Returns a text that is not empty, or null. */
export function textField(fields: Fields, name: string): string | null {
  const value = fields[name];
  return isText(value) && value !== '' ? value : null;
}

/** Tells whether a value is a text that a database takes: without NUL, and without half of a character. */
function isText(value: unknown): value is string {
  return typeof value === 'string' && !value.includes('\0') && !/\p{Cs}/u.test(value);
}

/** Returns a finite number, or null. */
export function numberField(fields: Fields, name: string): number | null {
  const value = fields[name];
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

const WITH_ZONE = /\d:\d\d.*(Z|UTC|GMT|[+-]\d\d:?\d\d)$/;

/** Returns the instant of a text that tells one of this century, with its zone, or null: a database does not take any other. */
export function dateField(fields: Fields, name: string): Date | null {
  const text = textField(fields, name) ?? '';
  return dateOrNull(new Date(WITH_ZONE.test(text) ? text : NaN));
}

/** Returns an instant of this century, or null. */
export function dateOrNull(at: Date): Date | null {
  const year = at.getUTCFullYear();
  return year >= 2000 && year < 2100 ? at : null;
}

/** Returns a list, or undefined when there is none: an empty list and no list mean different things. */
export function findList(fields: Fields, name: string): readonly unknown[] | undefined {
  const value = fields[name];
  return Array.isArray(value) ? value : undefined;
}

/** Returns the texts of a list; everything else in it is left out. */
export function textsField(fields: Fields, name: string): string[] {
  return (findList(fields, name) ?? []).filter(isText);
}
