import { softwareLimits } from '../../domain/rentals/software.js';
import { exampleListing, listing, spread } from '../catalog/describe.js';
import {
  cents,
  count,
  exampleId,
  idOf,
  instant,
  listOf,
  named,
  object,
  orNull,
} from '../http/openapi/json-schema.js';
import { jsonSchemaOf } from '../http/openapi/joi-schema.js';
import { operation, type Operation } from '../http/openapi/operation.js';
import { quotedGuard, telemetrySource } from './idle-guard.js';
import { exampleQuotedSoftware, quotedSoftware } from './describe-software.js';
import { rentalSchema } from './request.js';

const tag = 'Rentals';

/** What POST /v1/rentals and POST /v1/quotes ask for alike. */
export const newRental = named('NewRental', jsonSchemaOf(rentalSchema));

/** Machines that can be had instead, as a refusal or a quote tells them. */
export const alternatives = { ...listOf(listing), maxItems: 3 };

/** A quote. */
export const quote = named(
  'Quote',
  object({
    quoteId: idOf('quo'),
    expiresAt: { ...instant, description: 'Until then POST /v1/rentals takes it: a minute.' },
    listing,
    pricePerHourCents: cents('You never pay more with this quote.'),
    holdCents: cents('Reserved while the machine runs its first hour.'),
    maxSpendCents: orNull(
      cents('The spending limit it starts with: yours, or one that a cap or hard budget sets.'),
      'Null without a limit.',
    ),
    capLeftCents: orNull(
      cents('What is left of the API key’s cap, before this rental.'),
      'Null without a cap.',
    ),
    budgetLeftCents: orNull(
      cents('What is left of the month’s hard budget, before this rental.'),
      'Null without one.',
    ),
    worstCaseCents: orNull(
      cents('The most that it is ever charged, by autoStopAfterHours and maxSpendCents.'),
      'Null without a limit.',
    ),
    walletAfterCents: cents('What is available once the hour is reserved; below 0 when it can’t be.'),
    missingCents: { ...count, description: 'How much you have to add first; 0 when your balance suffices.' },
    runwaySecondsAfter: { ...count, description: 'How long your balance lasts with everything running.' },
    expectedReadySeconds: orNull(
      spread,
      'From the request until it runs, measured on machines of the last 30 days. Null when there were too few.',
    ),
    ownSoftware: orNull(quotedSoftware, 'Null for a template alone.'),
    telemetrySource: orNull(
      telemetrySource,
      'Who will tell how much it is used: its provider, or a small script on the machine, only because you asked. Null: nobody.',
    ),
    idleGuard: orNull(quotedGuard, 'Null without stopWhenIdleMinutes.'),
    alternatives: { ...alternatives, description: 'What else is available now.' },
  }),
);

const exampleQuote = {
  quoteId: exampleId('quo'),
  expiresAt: '2026-11-01T09:31:00.000Z',
  listing: exampleListing,
  pricePerHourCents: 50,
  holdCents: 50,
  maxSpendCents: 10_000,
  capLeftCents: null,
  budgetLeftCents: null,
  worstCaseCents: 600,
  walletAfterCents: 950,
  missingCents: 0,
  runwaySecondsAfter: 72_000,
  expectedReadySeconds: { p50: 41, p90: 78 },
  ownSoftware: null,
  telemetrySource: 'upstream' as const,
  idleGuard: null,
  alternatives: [{ ...exampleListing, region: 'Paris, France', regionCode: 'FR', pricePerHourCents: 52 }],
};

export const createQuote = operation({
  method: 'post',
  path: '/v1/quotes',
  scope: 'rentals',
  name: 'createQuote',
  tag,
  summary: 'Quotes a rental, for a minute',
  description:
    'Takes the same body as POST /v1/rentals, and rents nothing. POST /v1/rentals with only its `quoteId` rents at the quoted price or less.',
  body: {
    schema: newRental,
    maxBytes: softwareLimits.bodyMaxBytes,
    examples: [
      { familyId: 'rtx-4090', gpuCount: 1 },
      { familyId: 'h100-80gb', gpuCount: 1, telemetry: true },
      { familyId: 'rtx-4090', gpuCount: 1, region: 'eu', autoStopAfterHours: 12, maxSpendCents: 10_000 },
      {
        ...{ familyId: 'rtx-4090', gpuCount: 1, image: 'ghcr.io/ada/server:1', env: { MODEL: 'small' } },
        ports: [{ name: 'page', port: 8080, kind: 'http', public: true }],
      },
    ],
  },
  answers: [
    {
      description:
        'The quote. A low balance is not refused here: see missingCents, capLeftCents and budgetLeftCents.',
      schema: quote,
      examples: [
        exampleQuote,
        { ...exampleQuote, maxSpendCents: null, worstCaseCents: null, expectedReadySeconds: null },
        { ...exampleQuote, idleGuard: { minutes: 30, looksAt: ['gpu', 'cpu'], ignores: ['sessions'] } },
        { ...exampleQuote, telemetrySource: 'reporter' as const },
        { ...exampleQuote, ownSoftware: exampleQuotedSoftware },
      ],
      links: { createRental: { body: { quoteId: '/quoteId' } } },
    },
  ],
  refusals: [
    ...(['invalid_count', 'weak_key', 'unknown_family', 'model_unavailable'] as const),
    ...([
      'software_unsupported',
      'idle_guard_unsupported',
      'blocked',
      'account_closing',
      'key_not_found',
    ] as const),
  ],
});

export const quoteOperations: readonly Operation[] = [createQuote];
