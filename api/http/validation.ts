import Joi from 'joi';
import { instantPattern, readInstant } from '../../domain/instants.js';
import { requestLimits } from '../../domain/requests/limits.js';
import { Refusal, type RefusalCode } from '../../domain/refusal.js';
import { isRegion } from '../../domain/catalog/regions.js';
import type { ApiContext } from '../context.js';

/** One fault of one field, as `details.fields` names it. */
interface FieldFault {
  readonly field: string;
  readonly message: string;
  readonly isMissing?: boolean;
}

/** Fields with a code of their own: the narrow code wins over validation_failed (decision 3, "Table of codes"). */
const NARROW: Readonly<Record<string, RefusalCode>> = {
  email: 'invalid_email',
  amountCents: 'invalid_amount',
  gpuCount: 'invalid_count',
};

interface TextSchema extends Joi.StringSchema {
  /** At most this many characters, counted as people and Postgres count them: by code point. */
  maxChars(limit: number): this;
}

interface ExtendedJoi extends Joi.Root {
  /** A string that Postgres can hold and a terminal can show: no control characters, no halves of characters. */
  text(): TextSchema;
}

// Joi's own typing of extend() is `any`; what it adds is exactly the interface above.
export const joi = Joi.extend((base: Joi.Root) => ({
  type: 'text',
  base: base.string().pattern(/^[^\p{Cc}\p{Cs}]*$/u, { name: 'text without control characters' }),
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
})) as ExtendedJoi;

/** An ISO country code, or one of us, eu, apac; case does not matter. */
export const regionField = joi
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
export const instantField = joi
  .string()
  .custom((text: string, helpers) => {
    const at = readInstant(text);
    if (at) return at;
    return helpers.message({
      custom:
        '{{#label}} must be a day that there is, such as 2026-11-01, or an instant such as 2026-11-01T00:00:00Z',
    });
  })
  .meta({
    jsonSchema: {
      pattern: instantPattern.source,
      description: 'A day, which is its beginning in UTC, or an instant with its offset.',
      examples: ['2026-11-01', '2026-11-01T00:00:00Z'],
    },
  });

/** Mailable addresses: ASCII, as nearly every mail server wants them; compared in lower case. */
export const emailField = joi
  .string()
  .email({ tlds: { allow: false }, allowUnicode: false })
  .max(254)
  .pattern(/^[!-~]+$/, 'printable ASCII')
  .required();

/** Query parameters of every list: an opaque cursor and a page size (spec: Limits). */
export const pageFields = {
  cursor: joi.text().maxChars(500).description('The nextCursor of a previous answer.'),
  pageSize: joi
    .number()
    .integer()
    .min(1)
    .max(requestLimits.pageSizeMax)
    .default(requestLimits.pageSizeDefault),
};

/**
 * Reads the request's JSON body by a schema. Nothing is coerced, unknown fields are refused.
 * @throws Refusal naming every field that is not right
 */
export function readBody<T>(ctx: ApiContext, schema: Joi.ObjectSchema<T>): T {
  if (ctx.state.body === undefined) {
    throw refusalOf([{ field: 'body', message: 'a JSON object is required' }]);
  }
  return validated(schema, ctx.state.body, false);
}

/**
 * Reads the request's query by a schema: texts become numbers where the schema says so.
 * @throws Refusal naming every parameter that is not right
 */
export function readQuery<T>(ctx: ApiContext, schema: Joi.ObjectSchema<T>): T {
  const { queryMaxChars, queryMaxParameters } = requestLimits;
  const isLong = ctx.querystring.length > queryMaxChars;
  if (isLong || Object.keys(ctx.query).length > queryMaxParameters) {
    throw fieldRefusal(
      'query',
      `query may have at most ${queryMaxParameters} parameters and ${queryMaxChars} characters`,
    );
  }
  return validated(schema, { ...ctx.query }, true);
}

/** The refusal of one field for a reason that the schema can't see. */
export function fieldRefusal(field: string, message: string): Refusal {
  return refusalOf([{ field, message }]);
}

/** The refusal of several fields for one reason that the schema can't see; at most as many as are ever told. */
export function manyFieldsRefusal(names: readonly string[], messageOf: (field: string) => string): Refusal {
  const told = names.slice(0, requestLimits.faultsTold).map(cut);
  const faults = told.map((field) => ({ field, message: messageOf(field) }));
  return refusalOf(faults, 'validation_failed');
}

function validated<T>(schema: Joi.ObjectSchema<T>, input: unknown, convert: boolean): T {
  const result = schema.validate(input, {
    abortEarly: false,
    convert,
    errors: { wrap: { label: false } },
  });
  if (result.error === undefined) return result.value;
  throw refusalOf(faultsOf(result.error));
}

/** The first fault of each field: its others say the same in other words. The caller's own text is cut. */
function faultsOf(error: Joi.ValidationError): FieldFault[] {
  const faults = new Map<string, FieldFault>();
  for (const { path, message, type } of error.details) {
    const field = cut(path.length === 0 ? 'body' : path.join('.'));
    if (faults.size >= requestLimits.faultsTold) break;
    if (!faults.has(field))
      faults.set(field, { field, message: cut(message), isMissing: type === 'any.required' });
  }
  return [...faults.values()];
}

function cut(text: string): string {
  return text.length <= requestLimits.faultMaxChars ? text : `${text.slice(0, requestLimits.faultMaxChars)}…`;
}

function refusalOf(faults: readonly FieldFault[], said?: RefusalCode): Refusal {
  // The first missing field decides: a narrower code for a later one would send the caller to the wrong field.
  const narrow = faults.find(
    ({ field, isMissing }, index) => Object.hasOwn(NARROW, field) && (index === 0 || isMissing !== true),
  );
  const code = said ?? (narrow && NARROW[narrow.field]) ?? 'validation_failed';
  const text = faults.map((fault) => fault.message).join('; ');
  const fields = faults.map(({ field, message }) => ({ field, message }));
  return new Refusal(code, `The request is invalid: ${text}.`, { fields });
}
