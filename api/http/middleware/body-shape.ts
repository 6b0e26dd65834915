import { limits } from '../../../domain/limits.js';

/**
 * What makes a body too costly to validate, whatever its schema: rules about each field and each pair of items would
 * hold every other request up (decision 83). Looked at before any schema is.
 * @returns undefined for a body that may be validated
 */
export function shapeFault(body: unknown): string | undefined {
  let level: unknown[] = [body];
  for (let depth = 0; level.length > 0; depth += 1) {
    const parts = level.filter((value) => typeof value === 'object' && value !== null);
    if (parts.length > 0 && depth >= limits.bodyMaxDepth) {
      return `may be nested at most ${limits.bodyMaxDepth} deep`;
    }
    if (parts.some((part) => Array.isArray(part) && part.length > limits.bodyMaxItems)) {
      return `may hold lists of at most ${limits.bodyMaxItems} items`;
    }
    if (parts.some((part) => !Array.isArray(part) && Object.keys(part).length > limits.bodyMaxFields)) {
      return `may hold at most ${limits.bodyMaxFields} fields`;
    }
    level = parts.flatMap((part): unknown[] => Object.values(part));
  }
  return undefined;
}
