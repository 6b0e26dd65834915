import { requestLimits } from '../../../domain/requests/limits.js';

/**
 * Finds what makes a body too costly to validate, whatever its schema: rules about each field and each pair of items
 * would hold up every other request (decision 83, "Cost of one caller"). The check comes before any schema.
 * @returns undefined for a body that may be validated
 */
export function shapeFault(body: unknown): string | undefined {
  let level: unknown[] = [body];
  for (let depth = 0; level.length > 0; depth += 1) {
    const parts = level.filter((value) => typeof value === 'object' && value !== null);
    if (parts.length > 0 && depth >= requestLimits.bodyMaxDepth) {
      return `may be nested at most ${requestLimits.bodyMaxDepth} deep`;
    }
    if (parts.some((part) => Array.isArray(part) && part.length > requestLimits.bodyMaxItems)) {
      return `may hold lists of at most ${requestLimits.bodyMaxItems} items`;
    }
    if (
      parts.some((part) => !Array.isArray(part) && Object.keys(part).length > requestLimits.bodyMaxFields)
    ) {
      return `may hold at most ${requestLimits.bodyMaxFields} fields`;
    }
    level = parts.flatMap((part): unknown[] => Object.values(part));
  }
  return undefined;
}
