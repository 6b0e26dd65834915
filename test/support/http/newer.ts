import { describedOperations, document } from './described.js';

/** A word that no list has. */
export const UNKNOWN_WORD = 'a_newer_word';

type Schema = Readonly<Record<string, unknown>>;

export interface NewerAnswer {
  readonly operationId: string;
  readonly status: number;
  readonly schema: Schema;
  readonly body: unknown;
}

/** Every described example of an answer in JSON, as a newer service could send it: each open list tells another word. */
export function newerAnswers(): NewerAnswer[] {
  return [...describedOperations().values()].flatMap(({ operationId, responses }) =>
    Object.entries(responses).flatMap(([status, response]) => {
      const { schema, examples = {} } = response.content?.['application/json'] ?? {};
      if (!schema) return [];
      return Object.values(examples).map(({ value }) => ({
        operationId,
        status: Number(status),
        schema,
        body: newer(schema, value),
      }));
    }),
  );
}

/** What a newer service may answer in the place of an example. */
function newer(schema: Schema, value: unknown): unknown {
  if (value === null) return null;
  const { $ref, anyOf, oneOf } = schema as Parts;
  if ($ref !== undefined) return newer(document.components.schemas[$ref.split('/').at(-1)!]!, value);
  if (schema['x-open'] === true) return unknownOf(value);
  const [one] = [...(anyOf ?? []), ...(oneOf ?? [])];
  if (one) return newer(one, value);
  return typeof value === 'object' ? newerParts(schema, value) : value;
}

function unknownOf(value: unknown): unknown {
  if (typeof value === 'string') return UNKNOWN_WORD;
  if (typeof value === 'number') return value + 1_000;
  const kind = 'error' in (value as object) ? 'error' : 'type';
  return { ...(value as object), [kind]: UNKNOWN_WORD };
}

function newerParts({ properties = {}, items = {}, additionalProperties }: Parts, value: object): unknown {
  if (Array.isArray(value)) return value.map((item) => newer(items, item));
  const rest = typeof additionalProperties === 'object' ? additionalProperties : {};
  const parts = Object.entries(value);
  return Object.fromEntries(parts.map(([name, part]) => [name, newer(properties[name] ?? rest, part)]));
}

interface Parts {
  readonly $ref?: string;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: boolean | Schema;
}
