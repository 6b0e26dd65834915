import type Joi from 'joi';
import type { ApiKeyScope } from '../../../domain/accounts/api-keys.js';
import type { IdPrefix } from '../../../domain/ids.js';
import type { RefusalCode } from '../../../domain/refusal.js';
import { definitionOf, listOf, named, object, orNull, text, type JsonSchema } from './json-schema.js';
import type { Tag } from './tags.js';

/** The description of one route; document.ts adds what all routes share. */
export interface Operation<Answer = unknown> {
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** As the router writes it: /v1/rentals/:id. */
  readonly path: string;
  /** The name of the operation, from which clients are generated. */
  readonly name: string;
  readonly tag: Tag;
  readonly summary: string;
  readonly description?: string;
  /** Needs no caller. */
  readonly isPublic?: true;
  /** API keys with this scope may call it, beside sessions; left out: no key may. */
  readonly scope?: ApiKeyScope;
  /** Answers strangers as well where `PUBLIC_PRICES` is on (decision 162, "Public prices"). */
  readonly tellsPrices?: true;
  readonly deprecated?: Deprecation;
  readonly parameters?: readonly Parameter[];
  /** The schema by which the handler validates the query. */
  readonly query?: Joi.ObjectSchema;
  /** Its schema is named after the operation: createRental takes a CreateRental. */
  readonly body?: {
    readonly schema: Joi.ObjectSchema | JsonSchema;
    readonly examples: readonly unknown[];
    /** The most bytes, for a private route whose path has no parameters; default: `requestLimits.bodyMaxBytes`. */
    readonly maxBytes?: number;
  };
  /** The first is the answer of the usual case. */
  readonly answers: readonly DescribedAnswer<Answer>[];
  /** The route's own refusals; the document adds those of every such route. */
  readonly refusals?: readonly RefusalCode[];
}

/** What is going: told by each answer of the route for a year at least (docs/api, "/v1 stays"). */
export interface Deprecation {
  /** ISO 8601, as is the other. */
  readonly since: string;
  readonly goesAt: string;
  /** What of the route goes; left out: all of it. */
  readonly field?: string;
}

/** The headers that tell it (RFC 9745, RFC 8594). */
export function deprecationHeaders({ since, goesAt }: Deprecation) {
  return {
    Deprecation: `@${Date.parse(since) / 1_000}`,
    Sunset: new Date(goesAt).toUTCString(),
  };
}

/** Declares a route, and takes the type of its answers from their schemas. */
export function operation<Answer>(declared: Operation<Answer>): Operation<Answer> {
  return declared;
}

/** The type of a route's answers. */
export type AnswerOf<O> = O extends Operation<infer Answer> ? Answer : never;

/**
 * The operations that an answer leads to, by name. Clients are shown the way by them, and `npm run verify:api` walks it.
 */
export type Links = Readonly<Record<string, Link>>;

/** Where in the answer the path parameters of the next request stand, and fields of its body: a JSON pointer each. */
export interface Link {
  readonly path?: Readonly<Record<string, string>>;
  readonly body?: Readonly<Record<string, string>>;
}

/** Links to operations whose path has the one parameter `id`. @param pointer where in the answer the id stands */
export function leadsTo(pointer: string, operations: readonly string[]): Links {
  return Object.fromEntries(operations.map((name) => [name, { path: { id: pointer } }]));
}

export interface DescribedAnswer<Answer = unknown> {
  readonly status?: number;
  readonly description: string;
  /** Default: application/json. */
  readonly type?: string;
  /**
   * A thing is `named('Rental', …)`; an answer without a name is named after the operation: ShowMeterAnswer. Left out
   * where there is no body.
   */
  readonly schema?: JsonSchema<Answer>;
  readonly examples?: readonly Answer[];
  /** What may be asked next, with what this answer tells. */
  readonly links?: Links;
  /** What `data:` of each message of a stream holds, by the message's name. */
  readonly messages?: Readonly<Record<string, JsonSchema>>;
  /** The answer's own headers, by name. */
  readonly headers?: Readonly<Record<string, JsonSchema>>;
}

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'header' | 'query';
  readonly description: string;
  readonly schema: JsonSchema;
  readonly example: string;
}

/** The id in a path. A text that is no id of the caller's own is answered with "not found". */
export function idParameter(prefix: IdPrefix, what: string, example: string): Parameter {
  return {
    name: 'id',
    in: 'path',
    description: `The id of ${what} of yours.`,
    schema: { type: 'string', 'x-id-prefix': prefix },
    example,
  };
}

/** The next cursor of a list that is read page by page (decision 7, "Times and cursors"). */
export const nextCursor = orNull(
  { ...text, description: 'Opaque; what `cursor` takes for the next page.' },
  'Null on the last page.',
);

/** A page of a list, whose items stand under `Name`. */
type Page<Name extends string, T> = Readonly<Record<Name, readonly T[]>> & {
  readonly nextCursor: string | null;
};

/**
 * The answer of a list that holds nothing beside its items, under `name`, and the next cursor. Of a named item it is
 * named too: a page of Rental is a RentalPage.
 */
export function pageOf<const Name extends string, T>(
  name: Name,
  item: JsonSchema<T>,
  example: T,
  description = 'A page.',
): DescribedAnswer<Page<Name, T>> & { readonly schema: JsonSchema<Page<Name, T>> } {
  const page = object({ [name]: listOf(item), nextCursor }) as unknown as JsonSchema<Page<Name, T>>;
  const itemName = definitionOf(item)?.name;
  return {
    description,
    schema: itemName === undefined ? page : named(`${itemName}Page`, page),
    examples: [{ [name]: [example], nextCursor: null } as unknown as Page<Name, T>],
  };
}

/** Examples by their names. */
export function examplesOf(examples: readonly unknown[]): Record<string, object> {
  return Object.fromEntries(examples.map((value, index) => [`example${index + 1}`, { value }]));
}
