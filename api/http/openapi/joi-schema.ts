import type Joi from 'joi';
import { textKinds, textPattern, type TextKind } from '../texts.js';
import type { JsonSchema } from './json-schema.js';

/** The parts of Schema.describe() that are read. */
interface Described {
  readonly type?: string;
  readonly keys?: Readonly<Record<string, Described>>;
  readonly items?: readonly Described[];
  readonly allow?: readonly unknown[];
  readonly flags?: { readonly presence?: string };
  readonly rules?: readonly { readonly name: string }[];
  readonly metas?: readonly { readonly jsonSchema?: JsonSchema }[];
  readonly dependencies?: readonly { readonly rel: string; readonly peers: readonly string[] }[];
  readonly whens?: readonly {
    readonly ref?: { readonly path: readonly string[] };
    readonly is?: Described;
    readonly then?: Described;
  }[];
}

/**
 * The JSON Schema of what a Joi schema accepts. It is Joi's own output with its known gaps mended: `null` next to an
 * enum, the type of `joi.text()`, `when`, `xor`, and `custom`, which describes itself by `.meta({ jsonSchema: { … }
 * })`.
 * @throws Error for a rule that neither Joi nor this can describe, so that no description is silently wider
 */
export function jsonSchemaOf(schema: Joi.Schema): JsonSchema {
  const raw = schema['~standard'].jsonSchema.input({ target: 'draft-2020-12' }) as JsonSchema;
  return mended(raw, schema.describe());
}

/**
 * The JSON Schema of a body. Its defaults are told in words: generators of clients take a field with a `default` for one
 * that is always there, and would demand it of every request.
 */
export function bodySchemaOf(schema: Joi.Schema): JsonSchema {
  const { properties, ...rest } = jsonSchemaOf(schema);
  if (properties === undefined) return rest;
  const told = Object.entries(properties as Record<string, JsonSchema>).map(([name, property]) => [
    name,
    withToldDefault(property),
  ]);
  return { ...rest, properties: Object.fromEntries(told) as Record<string, JsonSchema> };
}

function withToldDefault({ default: value, ...property }: JsonSchema): JsonSchema {
  if (value === undefined) return property;
  const said = typeof property['description'] === 'string' ? `${property['description']} ` : '';
  return { ...property, description: `${said}Default: ${JSON.stringify(value)}.` };
}

function mended(raw: JsonSchema, described: Described): JsonSchema {
  const said = (described.metas ?? []).flatMap((meta) => meta.jsonSchema ?? []);
  if (described.rules?.some((rule) => rule.name === 'custom') === true && said.length === 0) {
    throw new Error('A custom rule must say what it is: .meta({ jsonSchema: { … } }).');
  }
  return Object.assign(
    {},
    withNull(plain(raw, described)),
    propertiesOf(raw, described),
    itemsOf(raw, described),
    peersOf(described),
    ...said,
  ) as JsonSchema;
}

/**
 * Unwraps Joi's output: Joi puts a condition, and a text that may be empty, in an `anyOf`, and does not know what a
 * text is.
 */
function plain(raw: JsonSchema, described: Described): JsonSchema {
  const { anyOf, ...rest } = raw;
  const kind = kindOf(described);
  if (kind !== undefined) return textOf(raw, described, kind);
  const inner = described.whens !== undefined ? firstOf(anyOf) : { anyOf };
  return anyOf === undefined ? raw : { ...rest, ...inner };
}

function textOf({ anyOf, ...rest }: JsonSchema, { allow = [] }: Described, kind: TextKind): JsonSchema {
  const said = Array.isArray(anyOf) ? (anyOf as JsonSchema[]).find((one) => 'pattern' in one) : {};
  const type = allow.includes(null) ? ['string', 'null'] : 'string';
  return { type, ...(!allow.includes('') && { minLength: 1 }), ...rest, ...said, pattern: textPattern(kind) };
}

function kindOf({ type = '' }: Described): TextKind | undefined {
  return Object.hasOwn(textKinds, type) ? (type as TextKind) : undefined;
}

function firstOf(list: unknown): JsonSchema {
  return Array.isArray(list) ? (list[0] as JsonSchema) : {};
}

function withNull(schema: JsonSchema): JsonSchema {
  const { type, enum: values } = schema;
  if (!Array.isArray(values) || !Array.isArray(type) || !type.includes('null') || values.includes(null)) {
    return schema;
  }
  return { ...schema, enum: [...(values as unknown[]), null] };
}

function propertiesOf(raw: JsonSchema, { keys }: Described): JsonSchema {
  if (keys === undefined) return {};
  const properties = raw['properties'] as Record<string, JsonSchema>;
  const conditions = Object.entries(keys).flatMap(([name, key]) => conditionsOf(name, key));
  return {
    properties: Object.fromEntries(
      Object.entries(keys).map(([name, key]) => [name, mended(properties[name] ?? {}, key)]),
    ),
    ...(conditions.length > 0 && { allOf: conditions }),
  };
}

/** Describes the one condition in use: a field is required when another field has one of some values. */
function conditionsOf(name: string, { whens = [] }: Described): JsonSchema[] {
  return whens.map(({ ref, is, then }) => {
    const other = ref?.path[0];
    const values = (is?.allow ?? []).filter((value) => typeof value !== 'object');
    if (other === undefined || values.length === 0 || then?.flags?.presence !== 'required') {
      throw new Error(`The condition on ${name} can’t be said in JSON Schema yet: joi-schema.ts.`);
    }
    return {
      if: { properties: { [other]: { enum: values } }, required: [other] },
      then: { required: [name] },
    };
  });
}

function itemsOf(raw: JsonSchema, { items }: Described): JsonSchema {
  const [only, ...others] = items ?? [];
  if (only === undefined) return {};
  if (others.length > 0) throw new Error('A list of several kinds can’t be said yet: joi-schema.ts.');
  return { items: mended(raw['items'] as JsonSchema, only) };
}

function peersOf({ dependencies = [] }: Described): JsonSchema {
  const [only, ...others] = dependencies;
  if (only === undefined) return {};
  if (only.rel !== 'xor' || others.length > 0) {
    throw new Error(`“${only.rel}” between fields can’t be said yet: joi-schema.ts.`);
  }
  return { oneOf: only.peers.map((name) => ({ required: [name] })) };
}
