import type Joi from 'joi';
import { requestLimits } from '../../domain/requests/limits.js';
import { Refusal, type RefusalCode } from '../../domain/refusal.js';
import type { ApiContext } from '../context.js';
import { faultMessages, messageOf } from './messages.js';

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

/**
 * Reads the request's JSON body by a schema. Nothing is coerced, unknown fields are refused.
 * @throws Refusal naming every field that is not right
 */
export function readBody<T>(ctx: ApiContext, schema: Joi.ObjectSchema<T>): T {
  if (ctx.state.body === undefined) {
    throw refusalOfFaults([{ field: 'body', message: 'body is missing: send a JSON object' }]);
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
  return refusalOfFaults([{ field, message }]);
}

/** The refusal of several fields for one reason that the schema can't see; at most as many as are ever told. */
export function manyFieldsRefusal(names: readonly string[], messageOf: (field: string) => string): Refusal {
  const told = names.slice(0, requestLimits.faultsTold).map(cut);
  const faults = told.map((field) => ({ field, message: messageOf(field) }));
  return refusalOfFaults(faults, 'validation_failed');
}

function validated<T>(schema: Joi.ObjectSchema<T>, input: unknown, convert: boolean): T {
  const result = schema.validate(input, {
    abortEarly: false,
    convert,
    errors: { wrap: { label: false, array: false } },
    messages: faultMessages,
  });
  if (result.error === undefined) return result.value;
  throw refusalOfFaults(faultsOf(result.error));
}

/** The first fault of each field: its others say the same in other words. The caller's own text is cut. */
function faultsOf(error: Joi.ValidationError): FieldFault[] {
  const faults = new Map<string, FieldFault>();
  for (const fault of error.details) {
    const { path, type } = fault;
    const field = cut(path.length === 0 ? 'body' : path.join('.'));
    if (faults.size >= requestLimits.faultsTold) break;
    if (!faults.has(field))
      faults.set(field, { field, message: cut(messageOf(fault)), isMissing: type === 'any.required' });
  }
  return [...faults.values()];
}

function cut(text: string): string {
  return text.length <= requestLimits.faultMaxChars ? text : `${text.slice(0, requestLimits.faultMaxChars)}…`;
}

function refusalOfFaults(faults: readonly FieldFault[], said?: RefusalCode): Refusal {
  // The first missing field decides: a narrower code for a later one would send the caller to the wrong field.
  const narrow = faults.find(
    ({ field, isMissing }, index) => Object.hasOwn(NARROW, field) && (index === 0 || isMissing !== true),
  );
  const code = said ?? (narrow && NARROW[narrow.field]) ?? 'validation_failed';
  const text = faults.map((fault) => fault.message).join('; ');
  const fields = faults.map(({ field, message }) => ({ field, message }));
  return new Refusal(code, `The request is invalid: ${text}.`, { fields });
}
