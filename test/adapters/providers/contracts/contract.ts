import type { SchemaObject } from 'ajv';

/**
 * The requirements of an upstream's published API description, for the parts that we use, in our own words. Requests
 * may hold nothing that is not described. Of answers, only the fields that we read are described; the rest may be
 * anything.
 */
export interface Contract {
  /** By method and path, with `{id}` for an id: the body, or null for a request without one. */
  readonly requests: Readonly<Record<string, SchemaObject | null>>;
  /** By method and path: the query's names with their allowed values. */
  readonly queries: Readonly<Record<string, SchemaObject>>;
  /** By method and path: the body of the documented success. */
  readonly answers: Readonly<Record<string, SchemaObject>>;
  /** The body of every failure. */
  readonly failure: SchemaObject;
}
