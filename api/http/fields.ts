import type Joi from 'joi';
import { joi } from './validation.js';

declare const always: unique symbol;

/** A field that is always there when a handler reads it. */
type Always<S> = S & { readonly [always]: true };

type Fields = Readonly<Record<string, Joi.Schema>>;

/** The type of what a schema lets through. */
export type Read<S> = S extends Joi.AnySchema<infer T> ? T : never;

type AlwaysOf<F> = { [K in keyof F]: F[K] extends Always<unknown> ? K : never }[keyof F];

/** What a handler reads of a body or a query with these fields. */
export type Asked<F> = {
  readonly [K in AlwaysOf<F>]: Read<F[K]>;
} & { readonly [K in Exclude<keyof F, AlwaysOf<F>>]?: Read<F[K]> };

/** A body or a query of exactly these fields. Their types follow from the schemas below and from Joi's own. */
export function fields<F extends Fields>(own: F): Joi.ObjectSchema<Asked<F>> {
  return joi.object(own);
}

/** A field that must be sent. */
export function needed<S extends Joi.Schema>(schema: S): Always<S> {
  return schema.required() as Always<S>;
}

/** A field that has a value where none is sent. */
export function orElse<S extends Joi.Schema>(schema: S, value: Read<S>): Always<S> {
  return schema.default(value) as Always<S>;
}

/** A field that may be null. */
export function nullable<S extends Joi.Schema>(schema: S): Joi.AnySchema<Read<S> | null> {
  return schema.allow(null) as Joi.AnySchema<Read<S> | null>;
}

/** One of some words. */
export function wordOf<const T extends string>(words: readonly T[]): Joi.StringSchema<T> {
  return joi.string().valid(...words) as Joi.StringSchema<T>;
}

/** A whole number in a range, its ends included. */
export function wholeFrom(min: number, max?: number): Joi.NumberSchema {
  const schema = joi.number().integer().min(min);
  return max === undefined ? schema : schema.max(max);
}

/** Many of one kind. */
export function manyOf<S extends Joi.Schema>(item: S): Joi.ArraySchema<readonly Read<S>[]> {
  return joi.array().items(item) as Joi.ArraySchema<readonly Read<S>[]>;
}

/** A text that a handler reads as something else, or refuses. */
export function readAs<T>(schema: Joi.Schema, read: Joi.CustomValidator<string, T>): Joi.AnySchema<T> {
  return schema.custom(read) as Joi.AnySchema<T>;
}
