/**
 * Finds which of these fields have another value than before.
 * @param fields in the order of the answer
 */
export function changedFields(fields: readonly string[], before: object, after: object): string[] {
  const textIn = (one: object, field: string) => JSON.stringify((one as Record<string, unknown>)[field]);
  return fields.filter((field) => textIn(before, field) !== textIn(after, field));
}
