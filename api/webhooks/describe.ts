import { accountLimits } from '../../domain/accounts/limits.js';
import { DAY, HOUR, MINUTE } from '../../domain/durations.js';
import { eventLimits } from '../../domain/events/limits.js';
import { webhookLimits } from '../../domain/webhooks/limits.js';
import { whysOff } from '../../domain/events/events.js';
import { namedTypes, tryOutcomes, webhookStates } from '../../domain/webhooks/webhook.js';
import { done } from '../accounts/describe-sign-in.js';
import { eventSchema, exampleEvent } from '../events/describe.js';
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
  url,
  yes,
  type JsonSchema,
  type ValueOf,
} from '../http/openapi/json-schema.js';
import {
  examplesOf,
  idParameter,
  leadsTo,
  pageOf,
  operation,
  type Operation,
} from '../http/openapi/operation.js';
import { changeSchema, deliveriesQuery, redeliverSchema, webhookSchema } from './request.js';

const tag = 'Webhooks';
const { perUser, overlapMs, shownMs, redeliveriesPerHour, redeliveredAtOnce } = webhookLimits;
const freshMinutes = accountLimits.freshProofMs / MINUTE;
const shownDays = shownMs / DAY;
const secretNote = 'The secret that signs our messages, as `whsec_…`. It is only in this answer.';

const fields = {
  id: idOf('wh'),
  url,
  types: {
    ...listOf(oneOf(namedTypes)),
    description: 'None: all but `session.*`, `passkey.*` and `api_key.*`.',
  },
  description: text,
  state: {
    ...oneOf(webhookStates),
    description: 'pending: it has not answered its challenge yet.',
  },
  deliveredSeq: {
    ...count,
    description:
      'We are done with events up to this number: we sent them, will retry them, or skipped them because of its types or while it was off.',
  },
  createdAt: instant,
  lastSuccessAt: orNull(instant, 'When it last accepted a message.'),
  failingSince: orNull(instant, 'Since when every try has failed; null if the last one succeeded.'),
  switchedOffAt: orNull(instant),
  switchedOffReason: orNull(oneOf(whysOff)),
};
const webhook = named('Webhook', object(fields));
const example: ValueOf<typeof webhook> = {
  id: exampleId('wh'),
  url: 'https://example.com/hooks/gpu',
  types: ['rental.running', 'rental.stopped'],
  description: 'deployments',
  state: 'enabled',
  deliveredSeq: 41,
  createdAt: '2026-11-01T09:30:00.000Z',
  lastSuccessAt: '2026-11-01T10:12:31.250Z',
  failingSince: null,
  switchedOffAt: null,
  switchedOffReason: null,
};
const fresh: typeof example = { ...example, state: 'pending', lastSuccessAt: null };
const secret = 'whsec_' + 'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=';

const delivery = named(
  'WebhookDelivery',
  object({
    id: idOf('dlv'),
    eventId: orNull(idOf('evt'), 'Null for a challenge.'),
    seq: orNull(count, 'Null for a challenge.'),
    type: text,
    attempt: { ...count, description: 'Counted from 1 for each event.' },
    outcome: { ...oneOf(tryOutcomes), description: 'given_up: it failed, and was the last try.' },
    httpStatus: orNull(count, 'Null when no answer came.'),
    fault: orNull(
      text,
      'Why no answer came, or what was wrong with it: `timeout`, `connection`, `tls`, `unresolved`, `private_address`, `own_address`, `url_refused`, `challenge_not_answered`.',
    ),
    durationMs: count,
    at: instant,
  }),
);
const exampleDelivery: ValueOf<typeof delivery> = {
  id: exampleId('dlv'),
  eventId: exampleId('evt'),
  seq: 41,
  type: 'rental.running',
  attempt: 1,
  outcome: 'delivered',
  httpStatus: 204,
  fault: null,
  durationMs: 87,
  at: '2026-11-01T10:12:31.250Z',
};

const parameters = [idParameter('wh', 'a webhook', example.id)];

export const listWebhooks = operation({
  method: 'get',
  path: '/v1/webhooks',
  scope: 'read',
  name: 'listWebhooks',
  tag,
  summary: 'Your webhooks',
  answers: [
    {
      description: 'All of them.',
      schema: object({ webhooks: listOf(webhook) }),
      examples: [{ webhooks: [example] }],
    },
  ],
});

export const addWebhook = operation({
  method: 'post',
  path: '/v1/webhooks',
  scope: 'setup',
  name: 'addWebhook',
  tag,
  summary: 'Creates a webhook',
  description: `At most ${perUser}; https on port 443, at a public address. Messages are signed as Standard Webhooks says. The first one is a \`webhook.challenge\`: the receiver answers it with 200 and \`{"challenge": <data.challenge>}\`, and is enabled. Any 2xx accepts an event. Without \`types\`, it gets everything except \`session.*\`, \`passkey.*\` and \`api_key.*\`. This needs a sign-in less than ${freshMinutes} minutes old.`,
  body: {
    schema: webhookSchema,
    examples: [
      { url: example.url },
      { url: example.url, types: example.types, description: example.description },
    ],
  },
  answers: [
    {
      description: 'The webhook, before its challenge.',
      schema: named('AddedWebhook', object({ ...fields, secret: { ...text, description: secretNote } })),
      examples: [{ ...fresh, secret }],
      links: leadsTo('/id', ['getWebhook', 'listWebhookDeliveries', 'pingWebhook', 'removeWebhook']),
    },
  ],
  refusals: ['too_many_webhooks', 'webhooks_disabled', 'fresh_sign_in_required', 'key_setup'],
});

export const getWebhook = operation({
  method: 'get',
  path: '/v1/webhooks/:id',
  scope: 'read',
  name: 'getWebhook',
  tag,
  summary: 'One webhook',
  parameters,
  answers: [{ description: 'The webhook.', schema: webhook, examples: [example] }],
  refusals: ['webhook_not_found'],
});

export const changeWebhook = operation({
  method: 'patch',
  path: '/v1/webhooks/:id',
  scope: 'setup',
  name: 'changeWebhook',
  tag,
  summary: 'Changes a webhook, or turns it back on',
  description: `Fields that you leave out stay as they are. Setting an address sends it a challenge: a new address, or the same one of a webhook that is not enabled. A webhook that was off continues with new events; \`redeliver\` sends those that it missed. Setting an address, or adding types of sessions, passkeys or API keys, needs a sign-in less than ${freshMinutes} minutes old.`,
  parameters,
  body: { schema: changeSchema, examples: [{ types: [] }, { url: example.url }] },
  answers: [{ description: 'The webhook.', schema: webhook, examples: [{ ...example, types: [] }] }],
  refusals: ['webhook_not_found', 'fresh_sign_in_required', 'key_setup'],
});

export const removeWebhook = operation({
  method: 'delete',
  path: '/v1/webhooks/:id',
  scope: 'setup',
  name: 'removeWebhook',
  tag,
  summary: 'Removes a webhook',
  parameters,
  answers: [{ description: 'Removed.', schema: done, examples: [{ ok: true }] }],
  refusals: ['webhook_not_found', 'key_setup'],
});

export const listWebhookDeliveries = operation({
  method: 'get',
  path: '/v1/webhooks/:id/deliveries',
  scope: 'read',
  name: 'listWebhookDeliveries',
  tag,
  summary: 'Each delivery try',
  description: `Newest first, for ${shownDays} days. We keep only the status of the receiver’s answer.`,
  parameters,
  query: deliveriesQuery,
  answers: [pageOf('deliveries', delivery, exampleDelivery)],
  refusals: ['webhook_not_found'],
});

export const pingWebhook = operation({
  method: 'post',
  path: '/v1/webhooks/:id/ping',
  name: 'pingWebhook',
  tag,
  summary: 'Sends it a webhook.ping',
  description: 'To this webhook alone, whatever types it names.',
  parameters,
  answers: [{ description: 'It will be sent.', schema: done, examples: [{ ok: true }] }],
  refusals: ['webhook_not_found', 'webhook_not_enabled'],
});

export const redeliverWebhook = operation({
  method: 'post',
  path: '/v1/webhooks/:id/redeliver',
  name: 'redeliverWebhook',
  tag,
  summary: 'Resends all events after a number',
  description: `Those of its types that are kept (${eventLimits.keptMs / DAY} days), in their order. An event has the same \`webhook-id\` each time. At most ${redeliveredAtOnce.toLocaleString('en-US')} events at once, and ${redeliveriesPerHour} times an hour; read older ones by \`GET /v1/events\`.`,
  parameters,
  body: { schema: redeliverSchema, examples: [{ afterSeq: 40 }] },
  answers: [
    {
      description: 'They will be sent.',
      schema: named('WebhookRedelivery', object({ ok: yes, afterSeq: count })),
      examples: [{ ok: true, afterSeq: 40 }],
    },
  ],
  refusals: ['webhook_not_found', 'webhook_not_enabled'],
});

export const rotateWebhookSecret = operation({
  method: 'post',
  path: '/v1/webhooks/:id/rotate-secret',
  scope: 'setup',
  name: 'rotateWebhookSecret',
  tag,
  summary: 'Creates a new secret',
  description: `For ${overlapMs / HOUR} hours we sign with both secrets, so a receiver can use either. Rotating again in that time ends the older one at once.`,
  parameters,
  answers: [
    {
      description: 'The webhook, with its new secret.',
      schema: named(
        'RotatedWebhook',
        object({
          ...fields,
          secret: { ...text, description: secretNote },
          previousSecretValidUntil: instant,
        }),
      ),
      examples: [{ ...example, secret, previousSecretValidUntil: '2026-11-02T10:12:31.250Z' }],
    },
  ],
  refusals: ['webhook_not_found', 'webhooks_disabled', 'fresh_sign_in_required', 'key_setup'],
});

export const webhookOperations: readonly Operation[] = [
  listWebhooks,
  addWebhook,
  getWebhook,
  changeWebhook,
  removeWebhook,
  listWebhookDeliveries,
  pingWebhook,
  redeliverWebhook,
  rotateWebhookSecret,
];

const signed = [
  ['webhook-id', 'The same each time that an event is sent.', exampleEvent.id],
  ['webhook-timestamp', 'When this try began, in seconds since 1970.', '1793525467'],
  ['webhook-signature', 'By each secret that holds: HMAC-SHA256 as Standard Webhooks says.', 'v1,K5oZ…'],
].map(([name, description, value]) => ({
  ...{ name, in: 'header', required: true, description, example: value },
  schema: { type: 'string' },
}));

const challengeMessage = object({
  id: text,
  type: { type: 'string', const: 'webhook.challenge' },
  entityId: fields.id,
  data: object({ challenge: text }),
  createdAt: instant,
});
const exampleChallenge = {
  id: 'challenge_Zk3mQm1uJ8kQ0x2b',
  type: 'webhook.challenge',
  entityId: example.id,
  data: { challenge: 'q1u9Tf5w0i3mJkZl8V2c7XyB4nAeRsDh' },
  createdAt: example.createdAt,
};

/** What we send to webhooks, as OpenAPI's `webhooks` says it. */
export const sentToWebhooks = {
  event: sent('receiveEvent', 'An event of one of its types', eventSchema, exampleEvent, {
    description: 'Any 2xx: it is not sent again.',
  }),
  challenge: sent(
    'receiveChallenge',
    'Asks whether the address wants our messages',
    named('WebhookChallenge', challengeMessage),
    exampleChallenge,
    {
      description: 'Yes: the webhook is enabled.',
      content: {
        'application/json': {
          schema: named('WebhookChallengeAnswer', object({ challenge: text })),
          examples: examplesOf([exampleChallenge.data]),
        },
      },
    },
  ),
};

function sent(
  operationId: string,
  summary: string,
  schema: JsonSchema,
  value: unknown,
  accepted: object,
): object {
  const content = { 'application/json': { schema, examples: examplesOf([value]) } };
  return {
    post: {
      ...{ operationId, summary, tags: [tag], security: [], parameters: signed },
      requestBody: { required: true, content },
      responses: { 200: accepted, 410: { description: 'We send to it no more: the webhook is turned off.' } },
    },
  };
}
