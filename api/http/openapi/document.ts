import Joi from 'joi';
import { refusalStatus, type RefusalCode } from '../../../domain/refusal.js';
import { processorEventsPath } from '../../processor-events/path.js';
import { apiKeyOperations } from '../../api-keys/describe.js';
import { auditOperations } from '../../accounts/describe-audit.js';
import { authOperations } from '../../accounts/describe-sign-in.js';
import { catalogOperations } from '../../catalog/describe.js';
import { eventOperations } from '../../events/describe.js';
import { explainOperations } from '../../wallet/describe-explain.js';
import { invoiceOperations } from '../../invoices/describe.js';
import { hoisted } from './hoist.js';
import { bodySchemaOf, jsonSchemaOf } from './joi-schema.js';
import { definitionOf, named, text, type JsonSchema } from './json-schema.js';
import { noticeOperations } from '../../notices/describe.js';
import { oauthOperations } from '../../accounts/describe-oauth.js';
import { openToCapped } from '../../spending/capped.js';
import {
  deprecationHeaders,
  examplesOf,
  type DescribedAnswer,
  type Links,
  type Operation,
} from './operation.js';
import { budgetOperations } from '../../spending/describe.js';
import { paymentOperations } from '../../topups/describe.js';
import { passkeyOperations } from '../../accounts/describe-passkeys.js';
import { quoteOperations } from '../../rentals/describe-quotes.js';
import { errorSchema, refusalResponses, sharedRefusals } from './refusals.js';
import { tags } from './tags.js';
import { rentalOperations } from '../../rentals/describe.js';
import { rentalListOperations } from '../../rentals/describe-list.js';
import { costOperations } from '../../rentals/describe-costs.js';
import { keepAliveOperations } from '../../rentals/describe-keep-alive.js';
import { telemetryOperations } from '../../rentals/describe-telemetry.js';
import { tokenOperations } from '../../rentals/describe-token.js';
import { serviceOperations } from '../../service/describe.js';
import { sessionOperations } from '../../accounts/describe-sessions.js';
import { closingOperations } from '../../accounts/describe-closing.js';
import { exportAccount } from '../../accounts/describe-export.js';
import { sshKeyOperations } from '../../accounts/describe-ssh-keys.js';
import { sentToWebhooks, webhookOperations } from '../../webhooks/describe.js';
import { walletOperations } from '../../wallet/describe.js';

/** Every route that is described; a new resource adds its own here. */
export const operations: readonly Operation[] = [
  ...authOperations,
  ...oauthOperations,
  ...sessionOperations,
  ...passkeyOperations,
  ...closingOperations,
  exportAccount,
  ...sshKeyOperations,
  ...apiKeyOperations,
  ...catalogOperations,
  ...quoteOperations,
  ...rentalListOperations,
  ...rentalOperations,
  ...costOperations,
  ...telemetryOperations,
  ...tokenOperations,
  ...keepAliveOperations,
  ...walletOperations,
  ...explainOperations,
  ...budgetOperations,
  ...paymentOperations,
  ...invoiceOperations,
  ...webhookOperations,
  ...auditOperations,
  ...noticeOperations,
  ...eventOperations,
  ...serviceOperations,
];

const DESCRIPTION = [
  'Rents GPU machines by the second and bills them from a prepaid wallet.',
  'Amounts are whole US cents, instants are ISO 8601 in UTC.',
  'Sign in with `POST /v1/auth/request-code` and `POST /v1/auth/verify-code`; the session is the cookie `sid`.',
  'Programs send an API key instead, `Authorization: Bearer gpur_…`, where an operation names a scope of keys.',
  'Everything that is not a success has one shape, the schema `ApiError`. At a path that is not described here it is',
  '404 `not_found`, and with a method that is not described 405 `method_not_allowed`. A host that is not served is 421 `unknown_host`.',
  'A HEAD is answered as the GET would be, without a body.',
  'Requests are limited per minute and session or key, or address where there is none: the headers `RateLimit` and',
  '`RateLimit-Policy` of each answer say what is left, and `Retry-After` how long to wait after a 429.',
  'Of one user (or address) a few requests are worked on at once, others wait for up to 5 s: one that gets no turn is',
  '429 `rate_limited` with `details.reason` `too_many_at_once`, and was not started.',
].join(' ');

export type OpenApiDocument = Readonly<Record<string, unknown>> & {
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly components: Readonly<Record<string, unknown>> & {
    readonly schemas: Readonly<Record<string, JsonSchema>>;
  };
};

const largerBodies = new Map(
  operations.flatMap(({ method, path, body }) =>
    body?.maxBytes === undefined ? [] : [[`${method.toUpperCase()} ${path}`, body.maxBytes]],
  ),
);

/** The most bytes that a body may have, where its route says so. @param method such as POST */
export function maxBytesOf(method: string, path: string): number | undefined {
  return largerBodies.get(`${method} ${path}`);
}

/** The description of the whole API: OpenAPI 3.1. */
export function describeApi(): OpenApiDocument {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const operation of operations) {
    const path = operation.path.replaceAll(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [operation.method]: describeOperation(operation) };
  }
  const all = Object.keys(refusalStatus) as RefusalCode[];
  const shared = usedOf(sharedRefusals(), paths);
  const { part, schemas } = hoisted({
    paths,
    shared,
    webhooks: sentToWebhooks,
    anyError: named('ApiError', errorSchema(all)),
  });
  return {
    openapi: '3.1.0',
    info: {
      title: 'GPU rental',
      version: '1.0.0',
      description: DESCRIPTION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    tags: [...new Set(operations.map(({ tag }) => tag))].map((name) => ({ name, description: tags[name] })),
    paths: part.paths,
    webhooks: part.webhooks,
    components: {
      securitySchemes: {
        sid: { type: 'apiKey', in: 'cookie', name: 'sid', description: 'Set by POST /v1/auth/verify-code.' },
        key: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'gpur_ and 36 characters',
          description: 'Made by POST /v1/api-keys. An operation names the scope that the key needs.',
        },
      },
      schemas,
      ...part.shared,
      headers: {
        'X-Request-Id': {
          description: 'Names the request: the caller’s own X-Request-Id when it is sane, else a new one.',
          schema: { type: 'string' },
        },
        'Retry-After': {
          description: 'Whole seconds after which the same request may succeed.',
          schema: { type: 'integer', minimum: 1 },
        },
      },
    },
  };
}

/** The shared parts that something refers to. */
function usedOf(
  { responses, examples }: ReturnType<typeof sharedRefusals>,
  paths: object,
): ReturnType<typeof sharedRefusals> {
  const used = withoutUnused('responses', responses, paths);
  return { responses: used, examples: withoutUnused('examples', examples, { paths, used }) };
}

function withoutUnused(kind: string, parts: Record<string, object>, users: object): Record<string, object> {
  const text = JSON.stringify(users);
  return Object.fromEntries(
    Object.entries(parts).filter(([name]) => text.includes(`"#/components/${kind}/${name}"`)),
  );
}

/** The description of one route. */
export function describeOperation(operation: Operation): Readonly<Record<string, unknown>> {
  const { name, tag, summary, body, deprecated } = operation;
  const description = descriptionOf(operation);
  return {
    operationId: name,
    tags: [tag],
    summary,
    ...(description !== '' && { description }),
    ...(deprecated && deprecated.field === undefined && { deprecated: true }),
    security: securityOf(operation),
    parameters: parametersOf(operation),
    ...(body && {
      requestBody: {
        required: true,
        content: {
          'application/json': {
            schema: namedAfter(typeName(name), bodyOf(body.schema)),
            examples: examplesOf(body.examples),
          },
        },
      },
    }),
    responses: {
      ...Object.fromEntries(
        operation.answers.map((answer) => [answer.status ?? 200, responseOf(answer, operation)]),
      ),
      ...unlessTold(operation, refusalResponses(refusalsOf(operation))),
      // The server's own answer: nothing of such a request is read (server.ts).
      431: {
        description:
          'The address and the headers have more than 16 KiB. The connection is closed, without a body.',
      },
    },
  };
}

function descriptionOf({ description = '', deprecated }: Operation): string {
  if (deprecated === undefined) return description;
  const { since, goesAt, field } = deprecated;
  const what = field === undefined ? 'it' : `\`${field}\``;
  const going = `Deprecated since ${since.slice(0, 10)}: ${what} may go from ${goesAt.slice(0, 10)} on.`;
  return `${description} ${going}`.trim();
}

/** Who may call: everybody, sessions alone, or keys with a scope as well; and where a setting says so, nobody known. */
function securityOf({ isPublic, scope, tellsPrices }: Operation): object[] {
  if (isPublic === true) return [];
  return [
    { sid: [] },
    ...(scope === undefined ? [] : [{ key: [scope] }]),
    ...(tellsPrices === true ? [{}] : []),
  ];
}

/** An answer that an operation describes itself replaces all shared ones with this status. */
function unlessTold({ answers }: Operation, responses: Record<string, object>): Record<string, object> {
  const told = answers.map(({ status = 200 }) => String(status));
  return Object.fromEntries(Object.entries(responses).filter(([status]) => !told.includes(status)));
}

function parametersOf({ parameters = [], query }: Operation): object[] {
  const given = parameters.map((parameter) => ({ ...parameter, required: parameter.in === 'path' }));
  if (!query) return given;
  const { properties, required = [] } = jsonSchemaOf(query) as {
    properties: Record<string, JsonSchema>;
    required?: string[];
  };
  const ofQuery = Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    schema,
    // A list in a query is one text, its items separated by commas.
    ...(schema['type'] === 'array' && { style: 'form', explode: false }),
    ...(typeof schema['description'] === 'string' && { description: schema['description'] }),
  }));
  return [...given, ...ofQuery];
}

function responseOf(answer: DescribedAnswer, { name: operation, deprecated }: Operation): object {
  const {
    status = 200,
    description,
    type = 'application/json',
    schema,
    examples = [],
    headers,
    links,
    messages,
  } = answer;
  const going = Object.keys(deprecated ? deprecationHeaders(deprecated) : {}).map(
    (name) => [name, text] as const,
  );
  const own = [...Object.entries(headers ?? {}), ...going].map(
    ([name, header]) => [name, { schema: header }] as const,
  );
  return {
    description,
    headers: {
      'X-Request-Id': { $ref: '#/components/headers/X-Request-Id' },
      ...Object.fromEntries(own),
    },
    ...(schema && {
      content: {
        [type]: {
          schema: type === 'application/json' ? namedAfter(answerName(operation, status), schema) : schema,
          examples: examplesOf(examples),
          // OpenAPI 3.1 has no word for the messages of a stream.
          ...(messages && { 'x-messages': messages }),
        },
      },
    }),
    ...(links && { links: linksOf(links) }),
  };
}

function linksOf(links: Links): Record<string, object> {
  const inAnswer = (pointers: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(pointers).map(([name, at]) => [name, `$response.body#${at}`]));
  return Object.fromEntries(
    Object.entries(links).map(([operationId, { path, body }]) => [
      operationId,
      {
        operationId,
        ...(path && { parameters: inAnswer(path) }),
        ...(body && { requestBody: inAnswer(body) }),
      },
    ]),
  );
}

/** What has no name of its own is named after the operation, so that clients find a type for it. */
function namedAfter(name: string, schema: JsonSchema): JsonSchema {
  return definitionOf(schema) ? schema : named(name, schema);
}

function answerName(operation: string, status: number): string {
  return `${typeName(operation)}Answer${status === 200 ? '' : status}`;
}

function typeName(operation: string): string {
  return `${operation.charAt(0).toUpperCase()}${operation.slice(1)}`;
}

function bodyOf(schema: Joi.ObjectSchema | JsonSchema): JsonSchema {
  return Joi.isSchema(schema) ? bodySchemaOf(schema) : schema;
}

/** The refusals of every route of this kind and those of this one, in the order of the table. */
function refusalsOf(operation: Operation): RefusalCode[] {
  const { method, isPublic, query, body, refusals = [] } = operation;
  const all = new Set<RefusalCode>(['internal_error', 'temporarily_unavailable', ...refusals]);
  if (isPublic !== true) for (const code of callerRefusals(operation)) all.add(code);
  if (query ?? body) all.add('validation_failed');
  if (isLimited(operation)) all.add('rate_limited');
  // A body is read and checked even where none is asked for (middleware/body.ts, middleware/origins.ts).
  if (method !== 'get') {
    for (const code of ['validation_failed', 'payload_too_large', 'forbidden'] as const) all.add(code);
    all.add('unsupported_media_type');
  }
  return (Object.keys(refusalStatus) as RefusalCode[]).filter((code) => all.has(code));
}

/** How a caller who is not known, or may not, is refused (middleware/caller.ts). */
function callerRefusals({ scope, method, path }: Operation): RefusalCode[] {
  const ofKeys = ['key_unknown', 'key_expired', 'key_revoked', 'key_suspended', 'key_address'] as const;
  const isOpenToCapped = openToCapped.has(`${method.toUpperCase()} ${path}`);
  const ofScope = isOpenToCapped ? (['key_scope'] as const) : (['key_scope', 'session_required'] as const);
  return ['unauthorized', ...ofKeys, ...(scope === undefined ? (['session_required'] as const) : ofScope)];
}

/** Tells whether middleware/request-limits.ts counts an operation: everything under /v1 but the processor's events. */
function isLimited({ path }: Operation): boolean {
  return path.startsWith('/v1/') && path !== processorEventsPath;
}
