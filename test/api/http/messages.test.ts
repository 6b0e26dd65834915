import assert from 'node:assert/strict';
import Joi from 'joi';
import type { ApiContext } from '../../../api/context.js';
import { showPasskeySchema } from '../../../api/accounts/describe-passkeys.js';
import { fields, joi, manyOf, needed } from '../../../api/http/fields.js';
import { otherFault } from '../../../api/http/messages.js';
import { operations } from '../../../api/http/openapi/document.js';
import { readBody } from '../../../api/http/validation.js';
import { quoteBodySchema } from '../../../api/rentals/by-quote.js';
import { rentalSchema } from '../../../api/rentals/request.js';
import { Refusal } from '../../../domain/refusal.js';

/** The parts of Schema.describe() that lead to other schemas. */
interface Described {
  readonly type?: string;
  readonly keys?: Readonly<Record<string, Described>>;
  readonly items?: readonly Described[];
  readonly invalid?: readonly unknown[];
}

const long = 'y'.repeat(9_000);
const bad: readonly unknown[] = [
  ...[null, true, 0, -1, 1.5, 1e15, 1e300, '', ' ', 'x', 'é', '1', '\u0000', long, [], {}, { zz: 1 }],
  Array.from({ length: 300 }, () => 'x'),
  Object.fromEntries(Array.from({ length: 60 }, (_, nth) => [`zz${nth}`, 1])),
];

/** Bad values in each place of a schema. */
function* badValues({ keys = {}, items = [], invalid = [] }: Described): Generator {
  yield* bad;
  yield* invalid;
  for (const item of items) {
    for (const value of badValues(item)) yield* [[value], [value, value]];
  }
  const all: Record<string, unknown> = {};
  for (const [name, key] of Object.entries(keys)) {
    all[name] = 'x';
    for (const value of badValues(key)) yield { [name]: value };
  }
  yield all;
  for (const enabled of [true, 'true']) yield { enabled };
}

/** Joi's own templates, each by its code, as what they come to. */
const phrases = new Map(
  Object.values(Joi.types() as unknown as Record<string, Joi.Schema>).flatMap((schema) => {
    const { messages } = (schema as unknown as { _definition: { messages: Record<string, unknown> } })
      ._definition;
    return Object.entries(messages).map(([code, template]) => {
      const source = (template as { source?: string }).source ?? String(template);
      const parts = source.split(/\{[^}]*\}+/).map((part) => part.replace(/[$()*+.?[\\\]^{|}]/g, '\\$&'));
      return [code, new RegExp(`^${parts.join('.*')}$`, 's')] as const;
    });
  }),
);

/** What people would be told of a value, by its field. */
function toldOf(schema: Joi.ObjectSchema, value: unknown): Map<string, string> {
  try {
    readBody({ state: { body: value } } as ApiContext, schema);
    return new Map();
  } catch (error) {
    assert.ok(error instanceof Refusal, String(error));
    const { fields: faults } = error.details as { fields: { field: string; message: string }[] };
    return new Map(faults.map(({ field, message }) => [field, message]));
  }
}

/** The first fault of each field, in joi's own words. */
function theirsOf(schema: Joi.ObjectSchema, value: unknown): [string, Joi.ValidationErrorItem][] {
  const errors = { wrap: { label: false } } as const;
  const { error } = schema.validate(value, { abortEarly: false, convert: false, errors });
  const byField = new Map<string, Joi.ValidationErrorItem>();
  for (const fault of error?.details ?? []) {
    const field = fault.path.length === 0 ? 'body' : fault.path.join('.');
    if (!byField.has(field)) byField.set(field, fault);
  }
  return [...byField];
}

/** What is wrong with what people would be told, with joi's name for the fault. */
function* wrongWords(schema: Joi.ObjectSchema, value: unknown): Generator<string> {
  const told = toldOf(schema, value);
  for (const [field, { type, message, path, context }] of theirsOf(schema, value)) {
    const ours = told.get(field);
    if (ours === undefined) continue;
    const isTheirs = ours === message && phrases.get(type)?.test(message) === true;
    const namesField = path.length === 0 || ours.includes(String(context?.label));
    const wrongs = {
      'has no words of its own': isTheirs || ours.includes(otherFault),
      'names no field': !namesField,
      'repeats the value': ours.includes('y'.repeat(20)),
    };
    for (const [what, isSo] of Object.entries(wrongs)) if (isSo) yield `${type} ${what}: ${ours}`;
  }
}

function findingsOf(schema: Joi.ObjectSchema): string[] {
  const found = new Set<string>();
  for (const value of badValues(schema.describe())) {
    for (const wrong of wrongWords(schema, value)) found.add(wrong);
  }
  return [...found];
}

describe('the messages of faults', () => {
  const ofRoutes = operations.flatMap(({ name, query, body }) => [
    ...(query ? [[name, query] as const] : []),
    ...(Joi.isSchema(body?.schema) ? [[name, body.schema] as const] : []),
  ]);

  it('are checked for the request of every route', () => {
    const others = operations.filter(({ body }) => body !== undefined && !Joi.isSchema(body.schema));
    assert.deepEqual(
      others.map(({ name }) => name),
      ['signInByPasskey', 'proveByPasskey', 'createQuote', 'createRental', 'takeProcessorEvent'],
      'add their schemas below',
    );
    assert.ok(ofRoutes.length > 30, String(ofRoutes.length));
  });

  const all = [
    ...ofRoutes,
    ['signInByPasskey, proveByPasskey', showPasskeySchema],
    ['createQuote', rentalSchema],
    ['createRental', quoteBodySchema],
  ] as const;
  for (const [name, schema] of all) {
    it(`are ours, and name the field: ${name}`, () => {
      assert.deepEqual(findingsOf(schema), []);
    });
  }

  it('say what to do', () => {
    const schema = fields({ name: needed(joi.text().maxChars(3)), items: manyOf(joi.number().valid(1, 2)) });
    assert.deepEqual(Object.fromEntries(toldOf(schema, { items: [3], nme: 'x' })), {
      name: 'name is missing: add it',
      'items.0': 'items[0] must be one of these: 1, 2',
      nme: 'nme is not part of this request: check its spelling, or remove it',
    });
    assert.equal(toldOf(schema, 7).get('body'), 'body must be a JSON object');
  });

  it('would be refused here, were they joi’s', () => {
    assert.deepEqual(findingsOf(fields({ at: joi.date() })), [
      `date.base has no words of its own: at ${otherFault}`,
    ]);
  });
});
