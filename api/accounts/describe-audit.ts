import { auditKinds } from '../../domain/accounts/audit.js';
import { auditQuery } from './audit.js';
import {
  count,
  exampleId,
  idOf,
  instant,
  listOf,
  named,
  object,
  oneOf,
  orNull,
  text,
} from '../http/openapi/json-schema.js';
import { nextCursor, type Operation } from '../http/openapi/operation.js';

const event = named(
  'AuditEvent',
  object({
    id: idOf('aud'),
    kind: named('AuditKind', oneOf(auditKinds)),
    entityId: orNull(
      text,
      'The rental, top-up, key, card or session that it is about; null when there is none.',
    ),
    details: {
      type: ['object', 'null'],
      additionalProperties: true,
      description: 'What was changed to what, where there is something to tell.',
    },
    apiKeyId: orNull(idOf('key'), 'The API key by which it was asked for; null for a session.'),
    clientAddress: orNull(text, 'Where the request came from; null when none came from the user.'),
    at: instant,
  }),
);

const failedSignIns = {
  ...listOf(named('FailedSignIns', object({ hour: instant, tries: count }))),
  description:
    'Codes that were wrong, by the hour in which the page’s events lie, newest first. They are counted and not told one by one, because strangers make as many as they like, and kept for 90 days. Left empty with `kind`.',
};

const exampleEvent = {
  id: exampleId('aud'),
  kind: 'rental_created',
  entityId: exampleId('rent'),
  details: null,
  apiKeyId: null,
  clientAddress: '203.0.113.7',
  at: '2026-11-01T09:30:00.000Z',
};

export const auditOperations: readonly Operation[] = [
  {
    method: 'get',
    path: '/v1/audit',
    scope: 'read',
    name: 'listAuditEvents',
    tag: 'Account',
    summary: 'What was done to the account and its money',
    description:
      'Newest first. Events are kept for good and never changed. A rental that ended without its user’s request, by a limit, the end of the money, a loss, a failure or an operator, is `rental_ended` and has no client address; `details` tells the reason, what was charged in all and what was given back. An API key with a cap does not read it.',
    query: auditQuery,
    answers: [
      {
        description: 'A page of events.',
        schema: named('AuditEventPage', object({ events: listOf(event), failedSignIns, nextCursor })),
        examples: [
          {
            events: [exampleEvent],
            failedSignIns: [{ hour: '2026-11-01T08:00:00.000Z', tries: 3 }],
            nextCursor: null,
          },
        ],
      },
    ],
  },
];
