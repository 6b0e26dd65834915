import { pageFields, fields, wordOf } from '../http/fields.js';
import { auditKinds } from '../../domain/accounts/audit.js';
import { accountLimits } from '../../domain/accounts/limits.js';
import { DAY } from '../../domain/durations.js';
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
  record,
  type ValueOf,
} from '../http/openapi/json-schema.js';
import { nextCursor, operation, type Operation } from '../http/openapi/operation.js';

export const auditQuery = fields({
  kind: wordOf(auditKinds),
  ...pageFields,
});

const event = named(
  'AuditEvent',
  object({
    id: idOf('aud'),
    kind: named('AuditKind', oneOf(auditKinds)),
    entityId: orNull(text, 'The rental, top-up, key, card or session concerned; null when there is none.'),
    details: orNull({ ...record, description: 'What changed, where there is something to say.' }),
    apiKeyId: orNull(idOf('key'), 'The API key that made the request; null for a session.'),
    clientAddress: orNull(text, 'The address of the request; null when the user made none.'),
    at: instant,
  }),
);

const failedSignIns = {
  ...listOf(named('FailedSignIns', object({ hour: instant, tries: count }))),
  description: `Wrong codes, counted per hour for the hours of this page’s events, newest first. Kept for ${accountLimits.failedSignInsKeptMs / DAY} days. Empty with \`kind\`.`,
};

const exampleEvent: ValueOf<typeof event> = {
  id: exampleId('aud'),
  kind: 'rental_created',
  entityId: exampleId('rent'),
  details: null,
  apiKeyId: null,
  clientAddress: '203.0.113.7',
  at: '2026-11-01T09:30:00.000Z',
};

export const listAuditEvents = operation({
  method: 'get',
  path: '/v1/audit',
  scope: 'read',
  name: 'listAuditEvents',
  tag: 'Account',
  summary: 'Changes to the account and its money',
  description:
    'Newest first. Events are kept forever and never change, except that client addresses are removed after 90 days. A rental that its user did not stop (it reached a limit, the balance ran out, the machine was lost or failed, or an operator stopped it) is `rental_ended` and has no client address; `details` has the reason, the total charged and the amount refunded. API keys with a cap can’t read it.',
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
});

export const auditOperations: readonly Operation[] = [listAuditEvents];
