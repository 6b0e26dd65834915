/** A day, or an instant with its offset: a time without one could mean anything. */
export const instantPattern = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d))?$/;

/** Reads such a text; a day means its beginning in UTC. @returns undefined for any other */
export function readInstant(text: string): Date | undefined {
  const at = new Date(text);
  // An offset may lead out of the years that have four digits.
  const year = at.getUTCFullYear();
  return instantPattern.test(text) && year >= 1 && year <= 9999 ? at : undefined;
}
