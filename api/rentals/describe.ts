import { softwareLimits } from '../../domain/rentals/software.js';
import { catalogLimits } from '../../domain/catalog/limits.js';
import { requestLimits } from '../../domain/requests/limits.js';
import { lastingWords, namesIn, noWords } from '../../domain/rentals/words.js';
import { rentalPhases } from '../../domain/rentals/progress.js';
import { rentalFailures } from '../../domain/events/events.js';
import { rentalStatuses, stopReasons } from '../../domain/rentals/rental.js';
import { changeSchema } from './change-request.js';
import { quoteBodySchema } from './by-quote.js';
import { newRental } from './describe-quotes.js';
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
  orNull,
  text,
  whole,
  type JsonSchema,
  type ValueOf,
} from '../http/openapi/json-schema.js';
import { jsonSchemaOf } from '../http/openapi/joi-schema.js';

import { shownGuard } from './idle-guard.js';
import { endpoint, exampleEndpoint, exampleSoftware, software } from './describe-software.js';
import { exampleWords, wordsShown } from './word-fields.js';
import {
  idParameter,
  leadsTo,
  operation,
  type Operation,
  type Parameter,
} from '../http/openapi/operation.js';

const tag = 'Rentals';
export const rentalsTag = tag;
const id = exampleId('rent');
export const rentalId = idParameter('rent', 'a rental', id);

/** Decision 6, "Idempotent retries". */
export const idempotencyKey: Parameter = {
  name: 'Idempotency-Key',
  in: 'header',
  description:
    'Makes retries safe: for a day, a request with the same key and body gets the first one’s answer. Printable ASCII.',
  schema: {
    type: 'string',
    pattern: '^[ -~]+$',
    maxLength: requestLimits.idempotencyKeyMaxChars,
  },
  example: '2f1c9d0e-6a4b-4a53-9a41-0c7b6f1d2e3a',
};

/** The header of an answer that was given to an earlier request before. */
export const replayed: Readonly<Record<string, JsonSchema>> = {
  'Idempotent-Replayed': { type: 'string', const: 'true' },
};

const warnings = listOf(
  named('RentalWarning', oneOf(['no_ssh_key', 'ssh_unreachable', 'host_key_changed', 'public_port'])),
);
const port = orNull(
  { type: 'integer', minimum: 1, maximum: 65_535, description: 'SSH port.' },
  'Null until ready.',
);
const host = orNull(
  { ...text, description: 'SSH host.' },
  'Null until provisioning finishes, and while own software runs that SSH does not enter.',
);
export const rentalStatus = named('RentalStatus', oneOf(rentalStatuses));
export const stopReason = named('StopReason', oneOf(stopReasons));

export const rental = named(
  'Rental',
  object({
    id: idOf('rent'),
    ...wordsShown,
    status: rentalStatus,
    phase: orNull(
      named('RentalPhase', oneOf(rentalPhases)),
      'How far its machine is; null once it ends. Phases only go forward, except when `attempt` rises.',
    ),
    phaseSince: orNull(instant, 'Null without a phase.'),
    attempt: orNull(
      count,
      'Which machine the phase is about: it rises when we order another one because the last did not start. Null once it is ready, and without a phase.',
    ),
    expectedReadyAt: orNull(
      {
        ...instant,
        description:
          'When half of such machines were ready recently; after that time, when nine of ten were.',
      },
      'Null once it is ready, when both have passed, and when too few such machines are known.',
    ),
    familyId: text,
    family: { ...text, description: 'The same, as listings name it.' },
    model: text,
    gpuCount: oneOf(catalogLimits.gpuCounts),
    region: text,
    provider: text,
    providerCode: { ...text, description: 'The same, as listings name it.' },
    templateId: text,
    software: orNull(software, 'Null for a template alone.'),
    endpoints: {
      ...listOf(endpoint),
      description: 'The ports of its own software. Open a URL without a referrer, and never in a frame.',
    },
    interconnect: text,
    pricePerHourCents: cents('Locked for this rental.'),
    host,
    port,
    username: orNull(text),
    hostKeyFingerprint: orNull(text),
    startedAt: { ...instant, description: 'When you requested it.' },
    runningAt: orNull({ ...instant, description: 'When billing started.' }),
    stoppedAt: orNull(instant),
    terminatedAt: orNull({ ...instant, description: 'When the machine was gone at the upstream.' }),
    autoStopAt: orNull(instant),
    maxSpendCents: orNull(whole),
    stopWhenIdleMinutes: orNull(whole, 'Null without an idle guard.'),
    idleGuard: orNull(shownGuard),
    totalChargedCents: cents('So far, less what was refunded.'),
    writtenOffCents: cents(
      'What your balance did not cover and you don’t owe, because it is less than the smallest invoice.',
    ),
    error: orNull(text, 'Set when status is failed.'),
    failure: orNull(
      named('RentalFailure', object({ code: oneOf(rentalFailures), message: text })),
      'Set when status is failed: whether the machine never started, or was lost within a minute.',
    ),
    stopReason: orNull(stopReason),
    warnings,
  }),
);

/** A rental on read (decision 16, "A rental on read"). */
export type Rental = ValueOf<typeof rental>;

export const exampleRental: ValueOf<typeof rental> = {
  id,
  ...exampleWords,
  status: 'running',
  phase: 'ready',
  phaseSince: '2026-11-01T09:30:41.250Z',
  attempt: null,
  expectedReadyAt: null,
  familyId: 'rtx-4090',
  family: 'rtx-4090',
  model: 'RTX_4090',
  gpuCount: 1,
  region: 'Oslo, Norway',
  provider: 'acme',
  providerCode: 'acme',
  templateId: 'ubuntu-24-04',
  software: null,
  endpoints: [],
  interconnect: 'pcie',
  pricePerHourCents: 50,
  host: '203.0.113.7',
  port: 22022,
  username: 'ubuntu',
  hostKeyFingerprint: 'SHA256:3q2+7wEjRWeJq83vEjRWeJq83vEjRWeJq83vEjRWeJo',
  startedAt: '2026-11-01T09:30:00.000Z',
  runningAt: '2026-11-01T09:30:41.250Z',
  stoppedAt: null,
  terminatedAt: null,
  autoStopAt: null,
  maxSpendCents: null,
  stopWhenIdleMinutes: null,
  idleGuard: null,
  totalChargedCents: 7,
  writtenOffCents: 0,
  error: null,
  failure: null,
  stopReason: null,
  warnings: [],
};

const exampleOwn: ValueOf<typeof rental> = {
  ...exampleRental,
  ...{ templateId: 'own-software', software: exampleSoftware, endpoints: [exampleEndpoint] },
  ...{ host: null, port: null, username: null, hostKeyFingerprint: null, warnings: ['public_port'] },
};

const opened = named(
  'OpenedRental',
  object(
    {
      id: idOf('rent'),
      status: rentalStatus,
      host,
      port,
      pricePerHourCents: cents('Locked for this rental.'),
      startedAt: instant,
      warnings: { ...warnings, description: 'Only when there are any.' },
    },
    ['warnings'],
  ),
);
export type OpenedRental = ValueOf<typeof opened>;

const exampleOpened: ValueOf<typeof opened> = {
  id,
  status: 'provisioning',
  host: null,
  port: null,
  pricePerHourCents: 50,
  startedAt: '2026-11-01T09:30:00.000Z',
};

const stopped = named(
  'StoppedRental',
  object({
    id: idOf('rent'),
    status: rentalStatus,
    finalChargedCents: orNull(cents('The final amount.'), 'Null until the final bill.'),
    refundedCents: orNull(
      cents('How much of the first hour’s hold was returned.'),
      'Null until the final bill.',
    ),
  }),
);

export const createRental = operation({
  method: 'post',
  path: '/v1/rentals',
  scope: 'rentals',
  name: 'createRental',
  tag,
  summary: 'Rents one of the cheapest machines that match',
  description:
    'Takes the cheapest or, if that one failed to start lately, one at most 10 % above it. While those have no capacity, the next one up to `maxPricePerHourCents`. Reserves one hour of its cost. Poll GET /v1/rentals/{id} every 2 seconds until it is running; from then on it is charged by the second. A 5xx has `details.outcome`: `not_done`, or `unknown` with `lookAt`. With only a `quoteId` it rents what was quoted, at that price or less; sending it again returns the same rental.',
  parameters: [idempotencyKey],
  body: {
    schema: { oneOf: [newRental, named('TakenQuote', jsonSchemaOf(quoteBodySchema))] },
    // Scripts and variables are larger than anything else.
    maxBytes: softwareLimits.bodyMaxBytes,
    examples: [
      { familyId: 'rtx-4090', gpuCount: 1 },
      { familyId: 'h100-80gb', gpuCount: 8, region: 'eu', name: 'training', autoStopAfterHours: 12 },
      { quoteId: exampleId('quo') },
    ],
  },
  answers: [
    {
      description: 'It is being provisioned.',
      schema: opened,
      examples: [exampleOpened],
      links: leadsTo('/id', ['showRental', 'showMeter', 'showCharges', 'changeRental', 'stopRental']),
      headers: replayed,
    },
  ],
  refusals: [
    ...([
      'invalid_count',
      'weak_key',
      'unknown_family',
      'model_unavailable',
      'software_unsupported',
      'idle_guard_unsupported',
      'insufficient_balance',
      'account_closing',
      'blocked',
      'key_not_found',
    ] as const),
    ...(['quote_not_found', 'quote_expired', 'price_changed', 'cap_reserved', 'budget_reserved'] as const),
    ...(['idempotency_conflict', 'idempotency_in_progress'] as const),
  ],
});

export const showRental = operation({
  method: 'get',
  path: '/v1/rentals/:id',
  scope: 'read',
  name: 'showRental',
  tag,
  summary: 'One rental',
  parameters: [rentalId],
  answers: [{ description: 'The rental.', schema: rental, examples: [exampleRental, exampleOwn] }],
  refusals: ['rental_not_found'],
});

export const changeRental = operation({
  method: 'patch',
  path: '/v1/rentals/:id',
  scope: 'rentals',
  name: 'changeRental',
  tag,
  summary: `Changes a rental’s ${namesIn(noWords).join(', ')} and limits`,
  description:
    'Changes only what you send; null removes a limit. Times count from `runningAt`. A limit below what was already used stops the rental now, and you pay for what was used. Under the cap of its API key or a hard budget, a rental always has a limit, and raising it reserves the difference.' +
    ` You can change labels until the final bill, and the ${lastingWords.join(' and ')} at any time.`,
  parameters: [rentalId, idempotencyKey],
  body: {
    schema: changeSchema,
    examples: [
      { name: 'training', labels: { team: 'research' } },
      { autoStopAfterHours: 48, maxSpendCents: 20_000 },
      { autoStopAt: null },
      { stopWhenIdleMinutes: 30, idleIgnores: ['sessions'] },
    ],
  },
  answers: [
    { description: 'The rental, changed.', schema: rental, examples: [exampleRental], headers: replayed },
  ],
  refusals: [
    ...([
      'rental_not_found',
      'key_ends_own',
      'idle_guard_unsupported',
      'rental_ending',
      'already_stopped',
      'cap_reserved',
      'budget_reserved',
    ] as const),
    ...(['idempotency_conflict', 'idempotency_in_progress'] as const),
  ],
});

export const stopRental = operation({
  method: 'post',
  path: '/v1/rentals/:id/stop',
  scope: 'rentals',
  name: 'stopRental',
  tag,
  summary: 'Stops a rental',
  description: 'You are not charged for the time after this request, whatever else fails.',
  parameters: [rentalId],
  answers: [
    {
      description: 'It is stopping. The amounts appear with the final bill.',
      schema: stopped,
      examples: [
        { id, status: 'stopping', finalChargedCents: 20, refundedCents: 30 },
        { id, status: 'running', finalChargedCents: null, refundedCents: null },
      ],
    },
  ],
  refusals: ['rental_not_found', 'key_ends_own', 'already_stopped'],
});

export const rentalOperations: readonly Operation[] = [createRental, showRental, changeRental, stopRental];
