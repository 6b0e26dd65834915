import type { IdPrefix } from '../../../domain/ids.js';

declare const described: unique symbol;

/** A JSON Schema (2020-12) as plain data, as OpenAPI 3.1 takes it, and the type of what it describes. */
export type JsonSchema<T = unknown> = Readonly<Record<string, unknown>> & { readonly [described]?: T };

/** The type of what a schema describes: `type Rental = ValueOf<typeof rental>`. */
export type ValueOf<S> = S extends JsonSchema<infer T> ? T : never;

/** Where a named schema keeps what it stands for: JSON leaves it out, and a spread keeps it. */
const definition = Symbol('definition');

export interface Definition {
  readonly name: string;
  readonly schema: JsonSchema;
}

/**
 * A schema that has a name in the description: whoever uses it refers to `#/components/schemas/<name>`, and generated
 * clients have a type of this name. A thing's name is a singular noun (`Rental`), a request's is what it does
 * (`CreateRental`, given by itself: document.ts).
 */
export function named<T>(name: string, schema: JsonSchema<T>): JsonSchema<T> {
  const stored: Definition = { name, schema };
  return { $ref: `#/components/schemas/${name}`, [definition]: stored };
}

/** @returns what a named schema is called and stands for; undefined for any other */
export function definitionOf(schema: object): Definition | undefined {
  return (schema as { [definition]?: Definition })[definition];
}

/** The parts of the answers' schemas. Every field says what it means where the name does not. */
export const text: JsonSchema<string> = { type: 'string' };
export const yes: JsonSchema<true> = { type: 'boolean', const: true };
export const bool: JsonSchema<boolean> = { type: 'boolean' };
export const whole: JsonSchema<number> = { type: 'integer' };
export const count: JsonSchema<number> = { type: 'integer', minimum: 0 };

/** An object of any fields, which its description tells. */
export const record: JsonSchema<Readonly<Record<string, unknown>>> = {
  ...{ type: 'object', additionalProperties: true },
};

/** An instant as the API writes it: UTC, with milliseconds. */
export const instant: JsonSchema<string> = {
  ...{ type: 'string', format: 'date-time', pattern: String.raw`\.\d{3}Z$` },
};

/** An address of a page that somebody opens in a browser. */
export const url: JsonSchema<string> = { type: 'string', format: 'uri' };

/** Cents of a US dollar, signed where the description says nothing else. */
export function cents(description: string): JsonSchema<number> {
  return { type: 'integer', description };
}

/** Says that a newer service may answer `other` beside what is `known` now: generated clients read both. */
export function openTo<T>(known: JsonSchema<T>, other: JsonSchema): JsonSchema<T> {
  return { [OPEN]: true, anyOf: [known, other] };
}

const OPEN = 'x-open';

/** A word (or number) of an answer. What a request takes is a closed list: `valid()` of its Joi schema. */
export function oneOf<const T extends string>(values: readonly T[]): JsonSchema<T>;
export function oneOf(values: readonly number[]): JsonSchema<number>;
export function oneOf(values: readonly string[] | readonly number[]): JsonSchema {
  const { type } = typeof values[0] === 'number' ? whole : text;
  return openTo({ type, enum: values }, { type });
}

/** A copy of a part of the document that holds only what this release may answer. */
export function closed<T>(part: T): T {
  if (Array.isArray(part)) return part.map(closed) as T;
  if (typeof part !== 'object' || part === null) return part;
  const entries = Object.entries(part).map(([key, value]): [string, unknown] => [key, closed(value)]);
  const { [OPEN]: isOpen, anyOf, ...rest } = Object.fromEntries(entries);
  if (isOpen !== true) return Object.fromEntries(entries) as T;
  const [known, , ...orNull] = anyOf as JsonSchema[];
  return (orNull.length > 0 ? { ...rest, anyOf: [known, ...orNull] } : { ...known, ...rest }) as T;
}

export function listOf<T>(items: JsonSchema<T>): JsonSchema<readonly T[]> {
  return { type: 'array', items };
}

/** One of two shapes. */
export function eitherOf<A, B>(one: JsonSchema<A>, other: JsonSchema<B>): JsonSchema<A | B> {
  return { anyOf: [one, other] };
}

/** A schema, or null. @param when says when it is null */
export function orNull<T>(schema: JsonSchema<T>, when?: string): JsonSchema<T | null> {
  const said = [schema['description'], when].filter((part) => typeof part === 'string').join(' ');
  const description = said !== '' && { description: said };
  if (definitionOf(schema)) return { anyOf: [schema, { type: 'null' }], ...description };
  const { anyOf } = schema as { anyOf?: readonly JsonSchema[] };
  if (anyOf) return { ...schema, anyOf: [...anyOf, { type: 'null' }], ...description };
  return { ...schema, type: [schema['type'], 'null'], ...description };
}

/** An id that the service minted (decision 1, "Public ids"). */
export function idOf<P extends IdPrefix>(prefix: P): JsonSchema<`${P}_${string}`> {
  return { type: 'string', pattern: `^${prefix}_[0-9A-HJKMNP-TV-Z]{26}$` };
}

/** One object type of several, as an editor shows it. */
type Flat<T> = { [K in keyof T]: T[K] };

/** An object of exactly these fields. @param optional the fields that may be left out */
export function object<P extends Readonly<Record<string, JsonSchema>>, O extends keyof P = never>(
  properties: P,
  optional: readonly O[] = [],
): JsonSchema<
  Flat<{ readonly [K in Exclude<keyof P, O>]: ValueOf<P[K]> } & { readonly [K in O]?: ValueOf<P[K]> }>
> {
  const required = Object.keys(properties).filter((name) => !(optional as readonly string[]).includes(name));
  return { type: 'object', properties, required, additionalProperties: false };
}

/** Ids for examples: each is well-formed, and none exists. */
export function exampleId<P extends IdPrefix>(prefix: P): `${P}_${string}` {
  return `${prefix}_01JZ8Q4M6T3V5X7Y9A1B2C3D4E`;
}
