import { eventTypes, type EventType } from '../../domain/events/events.js';
import type { presentEvent } from '../../domain/events/present.js';
import {
  cents,
  count,
  exampleId,
  idOf,
  instant,
  listOf,
  named,
  object,
  oneOf,
  openTo,
  orNull,
  text,
  record,
  whole,
  type JsonSchema,
} from '../http/openapi/json-schema.js';
import { operation, type Operation } from '../http/openapi/operation.js';
import { rentalStatus } from '../rentals/describe.js';
import { eventData } from './data.js';
import { closeReasons } from './messages.js';
import { eventsQuery, streamQuery } from './query.js';

const seq = {
  ...whole,
  minimum: 1,
  description: 'Its number in your feed: 1, 2, 3 and so on, with no gap except before a `feed.resync`.',
};

const common = {
  id: idOf('evt'),
  seq,
  entityId: { ...text, description: 'The id of the rental, top-up, invoice … concerned.' },
  createdAt: { ...instant, description: 'When it happened.' },
};

/** `rental.running` is a RentalRunningEvent. */
const nameOf = (type: EventType): string =>
  `${type
    .split(/[._]/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')}Event`;

/** An event as it is kept: its type says what its data hold. */
type AnyEvent = ReturnType<typeof presentEvent>;

/** The events of each type. */
export const eventSchemas = Object.fromEntries(
  eventTypes.map((type) => [
    type,
    named(nameOf(type), object({ ...common, type: { type: 'string', const: type }, data: eventData[type] })),
  ]),
) as Readonly<Record<string, JsonSchema>>;

const unknownEvent = named('OtherEvent', {
  ...object({ ...common, type: named('EventType', oneOf(eventTypes)), data: record }),
  additionalProperties: true,
  description: 'Of a type that is newer than this description.',
});

/** An event, as pages, streams and webhooks tell it. */
export const eventSchema = named<AnyEvent>(
  'Event',
  openTo(
    {
      oneOf: Object.values(eventSchemas),
      discriminator: {
        propertyName: 'type',
        mapping: Object.fromEntries(eventTypes.map((type) => [type, `#/components/schemas/${nameOf(type)}`])),
      },
    },
    unknownEvent,
  ),
);

export const exampleEvent: AnyEvent = {
  id: exampleId('evt'),
  seq: 42,
  type: 'rental.running',
  entityId: exampleId('rent'),
  data: { runningAt: '2026-11-01T09:31:07.000Z', autoStopAt: null, spendLimitAt: null },
  createdAt: '2026-11-01T09:31:07.012Z',
};

/** What the messages of a stream hold beside events, by the name of the message. */
const liveBalance = named(
  'LiveBalance',
  object({
    availableCents: count,
    reservedCents: count,
    totalCents: count,
    burnPerHourCents: { ...count, description: 'What your running rentals cost an hour.' },
    ledgerSeq: { ...count, description: 'Rises with each entry of your ledger; 0 before the first.' },
    readAt: instant,
  }),
);

const liveMeter = named(
  'LiveMeter',
  object({
    rentalId: idOf('rent'),
    status: rentalStatus,
    pricePerHourCents: count,
    chargedCents: cents('What was charged, less what was refunded.'),
    holdCents: count,
    runningAt: orNull(instant, 'Since when it is billed; null before.'),
    endedAt: orNull(instant, 'Until when it is billed; null while it runs.'),
    readAt: instant,
  }),
);

const range = {
  firstSeq: { type: 'integer', minimum: 1, description: 'The oldest event that is kept.' },
  lastSeq: { ...count, description: 'The newest event.' },
};

/** What is kept of a feed. */
export const feedRange = named('FeedRange', object(range));

const readAt = '2026-11-01T09:31:08.000Z';
const exampleBalance = {
  availableCents: 2608,
  reservedCents: 2392,
  totalCents: 5000,
  burnPerHourCents: 2392,
  ledgerSeq: 1,
  readAt,
};
const exampleMeter = {
  rentalId: exampleId('rent'),
  status: 'running',
  pricePerHourCents: 2392,
  chargedCents: 2,
  holdCents: 2390,
  runningAt: '2026-11-01T09:31:07.000Z',
  endedAt: null,
  readAt,
};

/** The data of each message that is no event, with an example. */
export const streamMessages = {
  ready: {
    schema: named(
      'StreamReady',
      object({
        afterSeq: { ...count, description: 'The stream tells what comes after this event.' },
        lastSeq: range.lastSeq,
      }),
    ),
    example: { afterSeq: 41, lastSeq: 42 },
  },
  seen: {
    schema: named(
      'StreamSeen',
      object({ lastSeq: { ...range.lastSeq, description: 'The newest event that `types` left out.' } }),
    ),
    example: { lastSeq: 44 },
  },
  resync: { schema: feedRange, example: { firstSeq: 4200, lastSeq: 4711 } },
  balance: { schema: liveBalance, example: exampleBalance },
  meter: { schema: liveMeter, example: exampleMeter },
  closed: {
    schema: named('StreamClosed', object({ reason: oneOf(closeReasons) })),
    example: { reason: 'server_stopping' },
  },
} as const;

const message = (name: string, data: object, id?: number): string =>
  `${id === undefined ? '' : `id: ${id}\n`}event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;

const STREAM_DESCRIPTION = [
  'Server-sent events, for `EventSource` and every client of the standard. Each message has the name of an event’s type',
  'in `event:`, its `seq` in `id:`, and in `data:` the same JSON as `GET /v1/events`. A client that connects again sends',
  'the last id as `Last-Event-ID`, as browsers do by themselves, and misses nothing; the header wins over `after`. Without',
  'either, the stream begins with what happens from now on.',
  '',
  'The first message is `ready`; its id is the event after which the stream goes on. What comes after the asked one is not',
  'kept (30 days), or it lies beyond your newest event: then it is `resync` with `firstSeq` and `lastSeq`. Read your state',
  'anew; the stream goes on from `lastSeq`. With `types`, `seen` moves the id on past what is left out.',
  '',
  'Beside events come states. They have no id, and come at most once a second, and only when something changed:',
  '`balance`, and `meter` for each rental that runs. Between two of them a client computes: a rental has cost',
  '`pricePerHourCents` times the hours since `runningAt`.',
  '',
  'A comment comes every 15 s. A user has 10 streams at most: one more ends the oldest. The service ends a stream with',
  '`closed` and a reason (`too_many_streams`, `session_ended`, `key_ended`, `session_renewed`: come back with the',
  'new cookie, `key_changed`: come back if the key may still, `server_stopping`), and says in `retry:` when to come',
  'back. A client that does not read is cut.',
].join('\n');

export const listEvents = operation({
  method: 'get',
  path: '/v1/events',
  scope: 'read',
  name: 'listEvents',
  tag: 'Events',
  summary: 'Events of the account, in order',
  description: [
    'Oldest first. Ask again with `after` as the `lastSeq` of the answer: you are at the end when it does not move.',
    'Without `after` the answer begins with the oldest event that is kept (30 days). An `after` that no kept event',
    'follows on is 409 `resync`. With `before` it is newest first: ask again with it as the `lastSeq` of the answer, until',
    'that does not move or is 0.',
  ].join(' '),
  query: eventsQuery,
  answers: [
    {
      description: 'A page of events.',
      schema: named(
        'EventPage',
        object({
          events: listOf(eventSchema),
          lastSeq: {
            ...count,
            description: 'The last event that was looked at, whether or not `types` left it out.',
          },
        }),
      ),
      examples: [{ events: [exampleEvent], lastSeq: exampleEvent.seq }],
    },
  ],
  refusals: ['resync'],
});

export const streamEvents = operation({
  method: 'get',
  path: '/v1/events/stream',
  scope: 'read',
  name: 'streamEvents',
  tag: 'Events',
  summary: 'The same events as they happen, with the balance and the meters',
  description: STREAM_DESCRIPTION,
  query: streamQuery,
  parameters: [
    {
      name: 'Last-Event-ID',
      in: 'header',
      description: 'The id of the last message that arrived.',
      schema: { type: 'string', pattern: '^[0-9]{1,16}$' },
      example: '41',
    },
  ],
  answers: [
    {
      description: 'The stream. It ends when the client leaves, or with `closed`.',
      type: 'text/event-stream',
      schema: {
        type: 'string',
        description: `Messages of events, and: ${Object.keys(streamMessages).join(', ')}.`,
      },
      messages: {
        ...Object.fromEntries(Object.entries(streamMessages).map(([name, { schema }]) => [name, schema])),
        ...eventSchemas,
      },
      examples: [
        message('ready', streamMessages.ready.example, 41),
        message(exampleEvent.type, exampleEvent, exampleEvent.seq),
        message('seen', streamMessages.seen.example, streamMessages.seen.example.lastSeq),
        message('balance', exampleBalance),
        message('meter', exampleMeter),
        message('resync', streamMessages.resync.example, streamMessages.resync.example.lastSeq),
        `retry: 3127\n\n${message('closed', streamMessages.closed.example)}`,
        ':\n\n',
      ],
      headers: {
        'Cache-Control': { type: 'string', const: 'no-store, no-transform' },
        'X-Accel-Buffering': { type: 'string', const: 'no' },
      },
    },
  ],
  refusals: ['forbidden'],
});

export const eventOperations: readonly Operation[] = [listEvents, streamEvents];
