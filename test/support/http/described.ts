import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { describeApi } from '../../../api/http/openapi/document.js';
import { closed } from '../../../api/http/openapi/json-schema.js';

/** Checks answers against the API's description: every answer must match it. */

export interface Seen {
  readonly method: string;
  /** With or without a query. */
  readonly path: string;
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
}

export interface DescribedOperation {
  readonly operationId: string;
  /** Who may call: one of these. */
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters: readonly {
    readonly name: string;
    readonly in: string;
    readonly schema: Record<string, unknown>;
    readonly example?: string;
  }[];
  readonly requestBody?: { readonly content: Record<string, Content> };
  /** An answer without a body has no content. */
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, Content>>; readonly links?: Links }>
  >;
}

type Expressions = Readonly<Record<string, string>>;
export type Links = Readonly<
  Record<
    string,
    { readonly operationId: string; readonly parameters?: Expressions; readonly requestBody?: Expressions }
  >
>;

export interface Content {
  readonly schema: Record<string, unknown>;
  readonly examples: Record<string, { readonly value: unknown }>;
}

export const document = describeApi();

const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

const settings = {
  strict: true,
  strictTypes: false,
  strictRequired: false,
  allErrors: true,
  keywords: ['x-id-prefix', 'x-open', 'discriminator'],
  formats: {
    'date-time': (text: string) => DATE_TIME.test(text) && !Number.isNaN(Date.parse(text)),
    uri: (text: string) => URL.canParse(text),
    email: /^[^@\s]+@[^@\s]+$/,
  },
};

/**
 * A check of values by schemas of the description, read in some way. The named ones are added once, and references lead to
 * them.
 * @returns the fault of a value; undefined when it is valid
 */
function checkBy(
  read: <T>(part: T) => T,
): (schema: Record<string, unknown>, value: unknown) => string | undefined {
  const withSchemaIds = (schema: object): object =>
    JSON.parse(
      JSON.stringify(read(schema)).replaceAll('"$ref":"#/components/schemas/', '"$ref":"urn:schema:'),
    ) as object;
  const ajv = new Ajv2020(settings);
  for (const [name, schema] of Object.entries(document.components.schemas)) {
    ajv.addSchema(withSchemaIds(schema), `urn:schema:${name}`);
  }
  const compiled = new WeakMap<object, ValidateFunction>();
  return (schema, value) => {
    const validate = compiled.get(schema) ?? ajv.compile(withSchemaIds(schema));
    compiled.set(schema, validate);
    return validate(value) ? undefined : ajv.errorsText(validate.errors, { dataVar: 'body' });
  };
}

/** The fault of what this service says: it answers no word that is not described. */
export const faultOf = checkBy(closed);

/** The fault of what a newer service may answer as well. */
export const faultOfNewer = checkBy((part) => part);

/** The fault of what was sent to a webhook of a user. */
export function faultOfSent(kind: 'event' | 'challenge', body: unknown): string | undefined {
  const webhooks = document['webhooks'] as Readonly<
    Record<typeof kind, { readonly post: Required<Pick<DescribedOperation, 'requestBody'>> }>
  >;
  const { schema } = webhooks[kind].post.requestBody.content['application/json'] ?? { schema: {} };
  return faultOf(schema, body);
}

/** Every described operation, as `get /v1/rentals/{id}`, with the answers and examples that it refers to. */
export function describedOperations(): Map<string, DescribedOperation> {
  const all = new Map<string, DescribedOperation>();
  for (const [path, item] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(item)) {
      all.set(`${method} ${path}`, resolved(operation) as DescribedOperation);
    }
  }
  return all;
}

/** Replaces references by what they lead to, except those to schemas, which faultOf knows. */
function resolved(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(resolved);
  if (typeof part !== 'object' || part === null) return part;
  const { $ref } = part as { $ref?: string };
  const place = /^#\/components\/(responses|examples)\/(.+)$/.exec($ref ?? '');
  if (!place) return Object.fromEntries(Object.entries(part).map(([key, value]) => [key, resolved(value)]));
  const [, kind = '', name = ''] = place;
  return resolved((document.components[kind] as Record<string, unknown>)[name]);
}

const operations = describedOperations();
const templates = Object.keys(document.paths).map((path) => ({
  path,
  // Paths without parameters go before paths with them.
  isPlain: !path.includes('{'),
  pattern: new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`),
}));
templates.sort((a, b) => Number(b.isPlain) - Number(a.isPlain));

/** @throws Error when an answer does not match the description */
export function checkDescribed(seen: Seen): void {
  const fault = faultOfAnswer(seen);
  if (fault === undefined) return;
  throw new Error(
    `${seen.method} ${seen.path} answered ${seen.status}, which its OpenAPI description does not allow (describe.ts of its noun): ${fault}\n${seen.text.slice(0, 2_000)}`,
  );
}

function faultOfAnswer(seen: Seen): string | undefined {
  const plain = seen.path.replace(/\?.*$/s, '');
  const path = templates.find(({ pattern }) => pattern.test(plain))?.path;
  if (seen.method === 'OPTIONS') return seen.status === 204 ? undefined : 'OPTIONS is answered with 204';
  const method = seen.method === 'HEAD' ? 'get' : seen.method.toLowerCase();
  const operation = operations.get(`${method} ${path ?? plain}`);
  const content = operation ? contentOf(operation, seen) : unroutedContent(seen);
  if (typeof content === 'string') return content;
  if (seen.method === 'HEAD') return undefined;
  return faultOf(content.schema, seen.contentType === 'application/json' ? json(seen.text) : seen.text);
}

const NOTHING: Content = { schema: {}, examples: {} };

function contentOf(operation: DescribedOperation, seen: Seen): Content | string {
  const response = operation.responses[String(seen.status)];
  if (!response) return `it describes ${Object.keys(operation.responses).join(', ')} only`;
  if (!response.content) return seen.text === '' ? NOTHING : 'it describes no body';
  const content = response.content[seen.contentType] ?? response.content['*/*'];
  return content ?? `it describes ${Object.keys(response.content).join(', ')}, not ${seen.contentType}`;
}

/** The only errors answered where nothing is described: those from before the router, and the router's own two. */
const UNROUTED: Readonly<Record<number, readonly string[]>> = {
  400: ['validation_failed'],
  403: ['forbidden'],
  404: ['not_found'],
  405: ['method_not_allowed'],
  413: ['payload_too_large'],
  415: ['unsupported_media_type'],
  429: ['rate_limited'],
};
const unrouted = new Map<number, Content>();

function unroutedContent({ status }: Seen): Content | string {
  const codes = UNROUTED[status];
  if (!codes) return 'no such route is described: add it in a describe.ts of api/';
  const content = unrouted.get(status) ?? {
    schema: {
      allOf: [{ $ref: '#/components/schemas/ApiError' }, { properties: { error: { enum: codes } } }],
    },
    examples: {},
  };
  unrouted.set(status, content);
  return content;
}

function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
