import { monitorPaths } from '../http/middleware/hosts.js';
import { docsFiles, docsPath, documentPath } from './docs-page.js';
import { indexPath, paidPath } from './plain-pages.js';
import { processorEventsPath } from '../processor-events/path.js';
import {
  listOf,
  named,
  object,
  oneOf,
  text,
  url,
  yes,
  type JsonSchema,
} from '../http/openapi/json-schema.js';
import { operation, type Operation } from '../http/openapi/operation.js';

const tag = 'Service';
const anything: JsonSchema = { type: 'object', additionalProperties: true };

const checks = named(
  'ReadinessChecks',
  object({
    postgres: {
      ...oneOf(['ok', 'away', 'read_only']),
      description: 'read_only: a standby; nothing can be changed.',
    },
    schema: { ...oneOf(['ok', 'behind', 'unknown']), description: 'Behind: migrate the database.' },
    temporal: oneOf(['ok', 'away']),
    brakes: { ...listOf(text), description: 'What operators have paused.' },
  }),
);

const readiness = (statuses: readonly string[]) =>
  object({
    status: oneOf(statuses),
    checks,
  });

export const showAlive = operation({
  method: 'get',
  path: monitorPaths.alive,
  name: 'showAlive',
  tag,
  summary: 'Whether the process lives',
  isPublic: true,
  answers: [
    { description: 'It does.', schema: object({ status: oneOf(['ok']) }), examples: [{ status: 'ok' }] },
  ],
});

export const showReady = operation({
  method: 'get',
  path: monitorPaths.ready,
  name: 'showReady',
  tag,
  summary: 'Whether the service can do its work',
  isPublic: true,
  answers: [
    {
      description:
        'PostgreSQL answers and takes changes. Degraded: Temporal does not answer. Reads, sign-in and stops work; nothing can be rented or paid.',
      schema: named('Readiness', readiness(['ready', 'degraded'])),
      examples: [
        { status: 'ready', checks: { postgres: 'ok', schema: 'ok', temporal: 'ok', brakes: [] } },
        { status: 'degraded', checks: { postgres: 'ok', schema: 'ok', temporal: 'away', brakes: [] } },
      ],
    },
    {
      status: 503,
      description: 'PostgreSQL does not answer, takes no changes, or has an older schema.',
      schema: named('Unreadiness', readiness(['unavailable'])),
      examples: [
        {
          status: 'unavailable',
          checks: { postgres: 'away', schema: 'unknown', temporal: 'ok', brakes: [] },
        },
      ],
    },
  ],
});

export const health: readonly Operation[] = [showAlive, showReady];

export const takeProcessorEvent = operation({
  method: 'post',
  path: processorEventsPath,
  name: 'takeProcessorEvent',
  tag,
  summary: 'Takes an event of the payment processor',
  description: 'Called by the processor alone: the signature over the raw bytes stands in for the session.',
  isPublic: true,
  parameters: [
    {
      name: 'Stripe-Signature',
      in: 'header',
      description: 'The processor’s signature.',
      schema: text,
      example: 't=1793523600,v1=5257a869e7ecebeda32affa62cdca3fa51cad7e77a0e56ff536d0ce8e108d8bd',
    },
  ],
  body: {
    schema: named('ProcessorEvent', {
      ...anything,
      description: 'An event as the processor defines it.',
    }),
    examples: [{ id: 'evt_1', object: 'event', type: 'checkout.session.completed' }],
  },
  answers: [
    {
      description: 'It is kept, and will be acted on once. What can’t be read is put aside for operators.',
      schema: object({ received: yes }),
      examples: [{ received: true }],
    },
  ],
  refusals: ['billing_disabled'],
});

/** What is precompressed has a strong ETag for each content coding. */
const tagged = { ETag: text };
const unchanged = { status: 304, description: 'Send it as If-None-Match.', headers: tagged } as const;

export const showOpenApi = operation({
  method: 'get',
  path: documentPath,
  name: 'showOpenApi',
  tag,
  summary: 'This description',
  isPublic: true,
  answers: [
    {
      description: 'OpenAPI 3.1.',
      schema: named('OpenApiDocument', {
        ...object({ openapi: text, info: anything, paths: anything, components: anything }),
        additionalProperties: true,
      }),
      examples: [{ openapi: '3.1.0', info: {}, paths: {}, components: {} }],
      headers: tagged,
    },
    unchanged,
  ],
});

export const showDocs = operation({
  method: 'get',
  path: docsPath,
  name: 'showDocs',
  tag,
  summary: 'This description as a page',
  isPublic: true,
  answers: [
    {
      description: 'The page.',
      type: 'text/html',
      schema: { type: 'string', pattern: '^<!doctype html>' },
      examples: ['<!doctype html>'],
      headers: tagged,
    },
    unchanged,
  ],
});

export const showDocsFile = operation({
  method: 'get',
  path: `${docsPath}/:file`,
  name: 'showDocsFile',
  tag,
  summary: 'What the page is made of',
  isPublic: true,
  parameters: [
    {
      name: 'file',
      in: 'path',
      description: 'One of the page’s files.',
      schema: { type: 'string', enum: docsFiles },
      example: docsFiles[0] ?? '',
    },
  ],
  answers: [
    {
      description: 'The file.',
      type: '*/*',
      schema: {},
      examples: [],
      headers: tagged,
    },
    unchanged,
  ],
  refusals: ['not_found'],
});

export const description: readonly Operation[] = [showOpenApi, showDocs, showDocsFile];

const page = {
  description: 'The page.',
  type: 'text/html',
  schema: { type: 'string', pattern: '^<!doctype html>' },
  examples: ['<!doctype html>'],
} as const;

export const showIndex = operation({
  method: 'get',
  path: indexPath,
  name: 'showIndex',
  tag,
  summary: 'Links to what there is',
  isPublic: true,
  answers: [
    page,
    {
      status: 302,
      description: 'To the dashboard, where there is one.',
      type: '*/*',
      schema: {},
      examples: [],
      headers: { Location: url },
    },
  ],
});

export const showPaid = operation({
  method: 'get',
  path: paidPath,
  name: 'showPaid',
  tag,
  summary: 'Where the payment page leads back to: a page of the dashboard, where there is one',
  isPublic: true,
  parameters: [
    {
      name: 'session',
      in: 'query',
      description: 'What the payment page says of itself: success or cancel.',
      schema: { type: 'string' },
      example: 'success',
    },
  ],
  answers: [page],
});

export const pages: readonly Operation[] = [showIndex, showPaid];

export const serviceOperations: readonly Operation[] = [
  ...health,
  takeProcessorEvent,
  ...description,
  ...pages,
];
