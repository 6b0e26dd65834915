import type { SchemaObject } from 'ajv';

/**
 * What an upstream's published API description demands, as far as we use it, in our own words. Requests may hold
 * nothing that is not described; of answers only what is read is described, and the rest may be anything.
 */
export interface Contract {
  /** By method and path, with `{id}` for an id: the body, or null where none belongs. */
  readonly requests: Readonly<Record<string, SchemaObject | null>>;
  /** By method and path: the query's names with the values that each may have. */
  readonly queries: Readonly<Record<string, SchemaObject>>;
  /** By method and path: the body of the documented success. */
  readonly answers: Readonly<Record<string, SchemaObject>>;
  /** The body of every failure. */
  readonly failure: SchemaObject;
}
