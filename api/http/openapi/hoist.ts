import { definitionOf, type Definition, type JsonSchema } from './json-schema.js';

interface Found {
  /** What each name stands for, as describe.ts wrote it. */
  readonly sources: Map<string, JsonSchema>;
  /** The same with references alone. */
  readonly schemas: Map<string, JsonSchema>;
}

/**
 * Takes the named schemas out of a part of the document.
 * @returns the part with references alone, and the schemas that it refers to by name
 * @throws Error when two different schemas have one name
 */
export function hoisted<T>(part: T): { readonly part: T; readonly schemas: Record<string, JsonSchema> } {
  const found: Found = { sources: new Map(), schemas: new Map() };
  const bare = walk(part, found) as T;
  const byName = [...found.schemas].toSorted(([one], [other]) => (one < other ? -1 : 1));
  return { part: bare, schemas: Object.fromEntries(byName) };
}

function walk(part: unknown, found: Found): unknown {
  if (Array.isArray(part)) return part.map((each) => walk(each, found));
  if (typeof part !== 'object' || part === null) return part;
  const definition = definitionOf(part);
  if (definition) keep(definition, found);
  return Object.fromEntries(Object.entries(part).map(([key, value]) => [key, walk(value, found)]));
}

function keep({ name, schema }: Definition, found: Found): void {
  const before = found.sources.get(name);
  if (before === schema) return;
  if (before === undefined) found.sources.set(name, schema);
  const bare = walk(schema, found) as JsonSchema;
  if (before === undefined) found.schemas.set(name, bare);
  else if (JSON.stringify(found.schemas.get(name)) !== JSON.stringify(bare)) {
    throw new Error(`Two different schemas are named ${name}. Give one another name, or use the one schema.`);
  }
}
