import type Joi from 'joi';
import { joi } from './fields.js';

/** What a fault is called that has no words below: a test refuses schemas that come to this. */
export const otherFault = 'is not valid: see its description in GET /v1/openapi.json';

const words: Readonly<Record<string, string>> = {
  'any.invalid': '{{#label}} can’t be {{#invalids}}: choose another',
  'any.only': '{{#label}} {if(#valids.length == 1, "can only be ", "must be one of these: ")}{{#valids}}',
  'any.required': '{{#label}} is missing: add it',
  'any.unknown': '{{#label}} is not part of this request: check its spelling, or remove it',
  'array.base': '{{#label}} must be a list',
  'array.max': '{{#label}} can have at most {{#limit}} {if(#limit == 1, "entry", "entries")}',
  'array.min': '{{#label}} needs at least {{#limit}} {if(#limit == 1, "entry", "entries")}',
  'array.unique': '{{#label}} repeats an earlier entry: remove it',
  'boolean.base': '{{#label}} must be true or false',
  'number.base': '{{#label}} must be a number, written in digits',
  'number.greater': '{{#label}} must be more than {{#limit}}',
  'number.infinity': '{{#label}} is too large: send a smaller number',
  'number.integer': '{{#label}} must be a whole number',
  'number.max': '{{#label}} must be at most {{#limit}}',
  'number.min': '{{#label}} must be at least {{#limit}}',
  'number.unsafe': '{{#label}} is too large: send a smaller number',
  'object.base': '{{#label}} must be a JSON object',
  'object.max': '{{#label}} can have at most {{#limit}} {if(#limit == 1, "field", "fields")}',
  'object.min': '{{#label}} needs at least {{#limit}} {if(#limit == 1, "field", "fields")}',
  'object.missing': '{{#label}} needs one of these: {{#peersWithLabels}}',
  'object.unknown': '{{#label}} is not part of this request: check its spelling, or remove it',
  'object.xor': '{{#label}} can have only one of these: {{#peersWithLabels}}',
  'string.base': '{{#label}} must be text',
  'string.email': '{{#label}} must be an email address, such as ada@example.com',
  'string.empty': '{{#label}} is empty: give it a value',
  'string.max': '{{#label}} can have at most {{#limit}} characters',
  'string.min': '{{#label}} needs at least {{#limit}} characters',
  'string.pattern.name': '{{#label}} must be {{#name}}',
  'text.maxChars': '{{#label}} can have at most {{#limit}} characters',
};

/** What people read about a fault, by joi's name for it. No message repeats the value, which may be a secret. */
export const faultMessages = {
  // What the whole request is called.
  root: 'body',
  ...Object.fromEntries(Object.entries(words).map(([code, text]) => [code, joi.x(text)])),
};

/** What people read about a fault that joi found. joi's own words never reach them. */
export function messageOf({ type, message, context }: Joi.ValidationErrorItem): string {
  const isOurs = type === 'custom' || Object.hasOwn(words, type);
  return isOurs ? message : `${context?.label ?? 'body'} ${otherFault}`;
}
