import Joi from 'joi';
import { isRegion } from '../../domain/catalog/regions.js';
import type { IdPrefix } from '../../domain/ids.js';
import { instantPattern, monthOf, monthPattern, readInstant } from '../../domain/instants.js';
import { requestLimits } from '../../domain/requests/limits.js';
import { textKinds, type TextKind } from './texts.js';

interface TextSchema extends Joi.StringSchema {
  /** At most this many characters, counted as people and Postgres count them: by code point. */
  maxChars(limit: number): this;
}

interface ExtendedJoi extends Joi.Root {
  /** A string that Postgres can hold and a terminal can show: no control characters, no halves of characters. */
  text(): TextSchema;
  /** The same, of several lines. */
  lines(): TextSchema;
}

// Joi's own typing of extend() is `any`; what it adds is exactly the interface above.
export const joi = Joi.extend(textType('text'), textType('lines')) as ExtendedJoi;

function textType(type: TextKind) {
  const { name, refused } = textKinds[type];
  const pattern = new RegExp(String.raw`^[^${refused}\p{Cs}]*$`, 'u');
  return (base: Joi.Root) => ({
    type,
    base: base.string().pattern(pattern, { name }),
    messages: { 'text.maxChars': '{{#label}} must have at most {{#limit}} characters' },
    rules: {
      maxChars: {
        method(this: { $_addRule(rule: object): unknown }, limit: number) {
          return this.$_addRule({ name: 'maxChars', args: { limit } });
        },
        args: [{ name: 'limit', assert: Number.isSafeInteger, message: 'must be a whole number' }],
        validate(value: string, helpers: Joi.CustomHelpers, args: { limit: number }) {
          return Array.from(value).length <= args.limit ? value : helpers.error('text.maxChars', args);
        },
        jsonSchema: (rule: { args: { limit: number } }, schema: object) => ({
          ...schema,
          maxLength: rule.args.limit,
        }),
      },
    },
  });
}

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

/** An id of the caller's own. A text that is none is answered as one that nobody has. */
export function idField(prefix: IdPrefix): TextSchema {
  return joi
    .text()
    .maxChars(64)
    .meta({ jsonSchema: { 'x-id-prefix': prefix } });
}

/** An ISO country code, or one of us, eu, apac; case does not matter. */
export const regionField: Joi.StringSchema = joi
  .string()
  .custom((value: string, helpers) => {
    if (isRegion(value)) return value;
    return helpers.message({ custom: '{{#label}} must be an ISO country code, or one of us, eu, apac' });
  })
  .meta({
    jsonSchema: {
      pattern: '^([A-Za-z]{2}|[Aa][Pp][Aa][Cc])$',
      description: 'An ISO 3166-1 alpha-2 country code, or one of us, eu, apac. Case does not matter.',
    },
  });

/** A day means its beginning in UTC; a time without an offset could mean anything. */
export const instantField = readAs<Date>(joi.string(), (text, helpers) => {
  const at = readInstant(text);
  if (at) return at;
  return helpers.message({
    custom:
      '{{#label}} must be a day that there is, such as 2026-11-01, or an instant such as 2026-11-01T00:00:00Z',
  });
}).meta({
  jsonSchema: {
    pattern: instantPattern.source,
    description: 'A day, which is its beginning in UTC, or an instant with its offset.',
    examples: ['2026-11-01', '2026-11-01T00:00:00Z'],
  },
});

/** Mailable addresses: ASCII, as nearly every mail server wants them; compared in lower case. */
export const emailField = needed(
  joi
    .string()
    .email({ tlds: { allow: false }, allowUnicode: false })
    .max(254)
    .pattern(/^[!-~]+$/, 'printable ASCII'),
);

/** Query parameters of every list: an opaque cursor and a page size (spec: Limits). */
export const pageFields = {
  cursor: joi.text().maxChars(500).description('The nextCursor of a previous answer.'),
  pageSize: orElse(wholeFrom(1, requestLimits.pageSizeMax), requestLimits.pageSizeDefault),
};

/** A code that was mailed. */
export const sixDigits = joi.string().pattern(/^\d{6}$/, 'six digits');

/** A month as clients send it, such as 2026-10, read as its first instant and that of the next (UTC). */
export const monthField = readAs<NonNullable<ReturnType<typeof monthOf>>>(
  joi.string(),
  (text, helpers) =>
    monthOf(text) ?? helpers.message({ custom: '{{#label}} must be a month, such as 2026-10' }),
).meta({ jsonSchema: { pattern: monthPattern.source, examples: ['2026-10'] } });
