import Joi from 'joi';

declare const valueType: unique symbol;

/** One variable of the environment: the schema that reads it, and as a type its value. */
export interface Variable<Value> {
  readonly schema: Joi.Schema;
  readonly [valueType]?: Value;
}

/** The variables of one section, by their names in the environment. */
export type Variables = Readonly<Record<string, Variable<unknown>>>;

/** The values of a section's variables. */
export type ValuesOf<Section extends Variables> = {
  readonly [Name in keyof Section]: Section[Name] extends Variable<infer Value> ? Value : never;
};

/** Thrown when the environment is not usable; its message names every fault at once and what to set. */
export class ConfigError extends Error {
  constructor(readonly faults: readonly string[]) {
    super(
      ['The configuration is not usable. Set these environment variables (.env.example explains each):']
        .concat(faults.map((fault) => `  - ${fault}`))
        .join('\n'),
    );
    this.name = 'ConfigError';
  }
}

/** Must be set. */
export function required<Value>(schema: Joi.AnySchema<Value>): Variable<Value> {
  return { schema: schema.required() };
}

/** Gives this value where it is not set. */
export function withDefault<Value extends string | number | boolean>(
  schema: Joi.AnySchema<Value>,
  value: NoInfer<Value>,
): Variable<Value> {
  return { schema: schema.default(value) };
}

/** Gives null where it is not set. */
export function optional<Value>(schema: Joi.AnySchema<Value>): Variable<Value | null> {
  return { schema: schema.default(null) };
}

/** Must be set where another variable is. Elsewhere it may be anything, because nobody reads it. */
export function requiredWith(other: string, schema: Joi.StringSchema): Variable<string> {
  return {
    schema: Joi.when(other, {
      is: filled.required(),
      then: schema.required(),
      otherwise: trimmed.default(''),
    }),
  };
}

/** A text that is not empty. */
export const text = Joi.string();

/** A text without spaces around it; it may be empty. */
export const trimmed = text.trim().allow('');

/** A text with more in it than spaces. */
export const filled = text.trim().min(1);

export const yesOrNo = Joi.boolean();

export const port = Joi.number().port();

export function integer(min: number, max?: number): Joi.NumberSchema {
  const schema = Joi.number().integer().min(min);
  return max === undefined ? schema : schema.max(max);
}

/** An address; default: of any scheme. */
export function url(...schemes: string[]): Joi.StringSchema {
  return text.uri(schemes.length === 0 ? {} : { scheme: schemes });
}

/** Where people get help: a mail address or a page. */
export const contact = Joi.alternatives<string>()
  .try(text.trim().email({ tlds: false }), url('https'))
  .empty('')
  .messages({ 'alternatives.match': '{{#label}} must be an email address or an https:// address' });

/** The items of a text that separates them by commas. */
export function itemsOf(list: string): string[] {
  return list
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

/** Takes the slash at the end off an address, so that a path can follow. */
export function withoutSlash(address: string): string {
  return address.replace(/\/$/, '');
}

/**
 * Reads and checks the variables of an environment; it reads no others.
 * @throws ConfigError with a sentence about each fault
 */
export function readVariables<Section extends Variables>(
  variables: Section,
  env: NodeJS.ProcessEnv,
): ValuesOf<Section> {
  const schemas = Object.entries(variables).map(([name, { schema }]) => [name, schema] as const);
  const { error, value } = Joi.object(Object.fromEntries(schemas)).validate(env, {
    abortEarly: false,
    stripUnknown: true,
    convert: true,
  }) as { error?: Joi.ValidationError; value: ValuesOf<Section> };
  if (error) throw new ConfigError(error.details.map(({ message }) => message));
  return value;
}
