import { SECOND } from '../../../domain/durations.js';
import { exportRunning } from '../../../domain/accounts/export.js';
import { accountLimits } from '../../../domain/accounts/limits.js';
import { accountClosing } from '../../../domain/accounts/closing.js';
import { webhookLimits } from '../../../domain/webhooks/limits.js';
import { Refusal, refusalStatus, type RefusalCode } from '../../../domain/refusal.js';
import {
  definitionOf,
  exampleId,
  named,
  object,
  oneOf,
  openTo,
  record,
  text,
  type JsonSchema,
} from './json-schema.js';
import { exampleReserved } from '../../spending/describe.js';
import { closedToSetup } from '../../api-keys/setup.js';
import { refusalDetails, type Details } from './refusal-details.js';

interface Meaning {
  readonly message: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

function invalid(field: string, message: string): Meaning {
  return { message: `The request is invalid: ${message}.`, details: { fields: [{ field, message }] } };
}

/** An example of each refusal. The code decides which facts the details hold. */
const examples: Readonly<Record<RefusalCode, Meaning>> = {
  validation_failed: invalid('pageSize', 'pageSize must be at most 200'),
  invalid_email: invalid('email', 'email must be an email address, such as ada@example.com'),
  invalid_amount: invalid('amountCents', 'amountCents must be at least 100'),
  invalid_count: invalid('gpuCount', 'gpuCount must be one of these: 1, 2, 4, 8'),
  weak_key: { message: 'This RSA key has 1024 bits; at least 2048 are needed.' },
  duplicate_key: {
    message: 'You already have this key.',
    details: { fingerprint: 'SHA256:3q2+7wEjRWeJq83vEjRWeJq83vEjRWeJq83vEjRWeJo' },
  },
  duplicate_passkey: { message: 'This passkey is in use already.' },
  too_many_passkeys: {
    message: 'You have 20 passkeys, the most you can have. Remove one that you no longer use.',
    details: { maxPasskeys: accountLimits.maxPasskeys },
  },
  too_many_keys: {
    message: 'You have 100 keys, the most you can have. Remove one that you no longer use.',
    details: { maxKeys: accountLimits.maxSshKeys },
  },
  unknown_family: {
    message: 'There is no GPU family abacus. GET /v1/catalog/families lists them.',
    details: { familyId: 'abacus' },
  },
  model_unavailable: {
    message: 'No available machine matches. Try another family, region, GPU count or price.',
    details: { familyId: 'h100-80gb', gpuCount: 8, region: null, alternatives: [] },
  },
  software_unsupported: {
    message:
      'No provider with such a machine can do all of this (startScript: runpod runs no start script). Change what does not fit, or ask for another machine.',
    details: {
      misfits: [
        { field: 'startScript', providerCode: 'runpod', limit: null, message: 'runs no start script' },
      ],
    },
  },
  idle_guard_unsupported: {
    message:
      'No provider with such a machine can guard it (stopWhenIdleMinutes: lambda does not tell how busy GPUs are). Rent it without a guard, or ask for another machine.',
    details: {
      misfits: [
        {
          ...{ field: 'stopWhenIdleMinutes', providerCode: 'lambda', limit: null },
          message: 'does not tell how busy GPUs are',
        },
      ],
    },
  },
  too_many_webhooks: {
    message: 'You have 10 webhooks, the most you can have. Remove one that you no longer use.',
    details: { maxWebhooks: webhookLimits.perUser },
  },
  webhooks_disabled: { message: 'Webhooks are turned off here. Read GET /v1/events instead.' },
  billing_disabled: { message: 'Payments are turned off here. Ask support how to pay.' },
  unauthorized: { message: 'Sign in first: POST /v1/auth/request-code.' },
  passkey_invalid: {
    message: 'This passkey did not work. Try again, or use a code that we email you.',
  },
  code_invalid: {
    message: 'This code is wrong or has expired. Check it, or ask for a new one.',
  },
  oauth_state_mismatch: { message: 'This sign-in was not started in this browser. Start it again.' },
  key_unknown: {
    message: 'This API key does not exist. Check that you copied all of it: gpur_ and 36 characters.',
  },
  key_expired: {
    message: 'This API key has expired. Sign in and create another one.',
    details: { expiredAt: '2026-11-01T09:30:00.000Z' },
  },
  key_revoked: {
    message: 'This API key was revoked. Sign in and create another one.',
    details: { revokedAt: '2026-11-01T09:30:00.000Z' },
  },
  key_suspended: {
    message: 'This API key is suspended until its owner signs in once: POST /v1/auth/request-code.',
  },
  card_declined: {
    message: 'The bank declined the card. Use another card.',
    details: { declineCode: 'insufficient_funds', topupId: exampleId('top') },
  },
  insufficient_balance: {
    message: 'Your balance does not cover one hour of this machine. Top up your wallet first.',
    details: { availableCents: 12, requiredCents: 249 },
  },
  forbidden: { message: 'Pages from this origin can’t make changes. Add it to the allowed origins.' },
  blocked: { message: 'This account is blocked. Contact support.', details: { reason: 'account' } },
  account_closing: { message: accountClosing().message },
  fresh_sign_in_required: {
    message:
      'This needs a sign-in less than 15 minutes old. POST /v1/auth/refresh-proof emails you a code: send it there, then repeat this request.',
    details: { provedAt: '2026-11-01T09:30:00.000Z' },
  },
  session_required: {
    message: 'API keys can’t do this, whatever their scopes. Sign in: POST /v1/auth/request-code.',
  },
  key_scope: {
    message: 'This needs an API key with the scope rentals. Create one with POST /v1/api-keys, or sign in.',
    details: { scope: 'rentals', scopes: ['read'] },
  },
  key_address: {
    message: 'This API key is not allowed from this address. Its owner can allow it: PATCH /v1/api-keys/:id.',
    details: { address: '203.0.113.7' },
  },
  key_ends_own: {
    message:
      'This API key can stop and limit only machines that it opened, and it did not open this one. Sign in, or use a key that can stop all machines.',
    details: { rentalId: exampleId('rent') },
  },
  key_setup: {
    message: closedToSetup.budget_raised,
    details: { reason: 'budget_raised' },
  },
  cap_reserved: {
    message:
      'This key’s rentals may cost 500 cents in total: 20 are spent and 300 are reserved, so another 400 would exceed it. Ask for a lower maxSpendCents, stop a rental of the key, or ask its owner to raise the cap.',
    details: { apiKeyId: exampleId('key'), ...exampleReserved },
  },
  budget_reserved: {
    message:
      'The budget for 2026-11 is 500 cents: 20 are spent and 300 are reserved, so another 400 would exceed it. Ask for a lower maxSpendCents, stop a rental, or raise the budget: PUT /v1/billing/budget.',
    details: { month: '2026-11', ...exampleReserved },
  },
  not_found: {
    message: 'There is nothing at /v1/nothing. GET /v1/openapi.json lists every route.',
    details: { reason: 'unknown_route' },
  },
  rental_not_found: { message: 'You have no such rental: GET /v1/rentals lists yours.' },
  invoice_not_found: { message: 'You have no such invoice: GET /v1/billing/invoices lists yours.' },
  topup_not_found: { message: 'You have no such top-up: GET /v1/billing/topups lists yours.' },
  key_not_found: { message: 'You have no such key: GET /v1/ssh-keys lists yours.' },
  passkey_not_found: { message: 'You have no such passkey: GET /v1/auth/passkeys lists yours.' },
  session_not_found: { message: 'You have no such session: GET /v1/auth/sessions lists yours.' },
  endpoint_not_found: {
    message:
      'This rental has no such endpoint with a token. GET /v1/rentals/:id lists its endpoints while it runs.',
  },
  quote_not_found: { message: 'You have no such quote. Get one with POST /v1/quotes.' },
  webhook_not_found: { message: 'You have no such webhook: GET /v1/webhooks lists yours.' },
  method_not_allowed: { message: 'PUT is not supported at /v1/rentals. Use one of these: HEAD, GET, POST.' },
  resync: {
    message:
      'We no longer have the events after this one, or it is not yours. Read your rentals and balance again, then continue with after=4711.',
    details: { firstSeq: 4200, lastSeq: 4711 },
  },
  charge_in_progress: {
    message:
      'We are already charging your card for another amount. Check that top-up, and try again when it is done.',
    details: { topupId: exampleId('top'), amountCents: 2_000 },
  },
  already_stopped: {
    message: 'This rental has already ended.',
    details: { status: 'stopped', finalChargedCents: 100, refundedCents: 30 },
  },
  quote_expired: {
    message: 'This quote has expired, and nothing was rented with it.',
    details: {
      quoteId: exampleId('quo'),
      expiresAt: '2026-11-01T09:31:00.000Z',
      quote: null,
      alternatives: [],
    },
  },
  price_changed: {
    message: 'No machine is available at the quoted price any more.',
    details: {
      quoteId: exampleId('quo'),
      quotedPricePerHourCents: 50,
      pricePerHourCents: 55,
      quote: null,
      alternatives: [],
    },
  },
  rental_ending: {
    message: 'This rental is ending, so you can’t change its limits.',
    details: { status: 'running', stopReason: null },
  },
  no_idle_guard: {
    message:
      'This rental has no idle guard, so it doesn’t stop for being idle. Set stopWhenIdleMinutes first if you want one.',
  },
  no_saved_card: {
    message: 'Save a card that has not expired first: POST /v1/billing/setup-intent.',
  },
  proof_not_ready: {
    message:
      'This month has no proof yet. Where the service proves its ledger, it comes in the night after the month’s end.',
    details: { retryAfterSeconds: 3_600 },
  },
  export_running: {
    message: exportRunning().message,
    details: { retryAfterSeconds: accountLimits.exportLeaseMs / SECOND },
  },
  webhook_not_enabled: {
    message: 'This webhook is off. PATCH it with its url, and we send it a new challenge.',
    details: { state: 'switched_off' },
  },
  idempotency_conflict: {
    message: 'You already used this Idempotency-Key with a different body. Use a new key for a new request.',
  },
  idempotency_in_progress: {
    message: 'The first request with this Idempotency-Key is still in progress. Try again in a few seconds.',
    details: { rentalId: exampleId('rent') },
  },
  unknown_host: {
    message: 'This service is not available as gpu.example. Open 127.0.0.1:8080.',
  },
  payload_too_large: { message: 'The body can have at most 16384 bytes.' },
  unsupported_media_type: {
    message: 'Send the body as application/json in UTF-8, uncompressed.',
  },
  rate_limited: {
    message: 'We are still opening another rental for you. Try again in a few seconds.',
    details: { retryAfterSeconds: 2 },
  },
  code_request_rate_limited: {
    message:
      'You asked for a code too recently or too often. Check your last email, or try again in 30 seconds.',
    details: { retryAfterSeconds: accountLimits.codeRequestEveryMs / 1000 },
  },
  internal_error: {
    message: 'Something went wrong on our side. Try again. If it happens again, send support the requestId.',
  },
  temporarily_unavailable: {
    message: 'We can’t do this right now. Try again in a few seconds.',
  },
};

/** A refusal as the document describes it: its code, and the message and facts of its example. */
export function exampleRefusal(code: RefusalCode): Refusal {
  return new Refusal(code, examples[code].message, examples[code].details);
}

const message: JsonSchema = {
  type: 'string',
  minLength: 1,
  description: 'For people: what happened, and what to do next.',
};
const requestId: JsonSchema = {
  type: 'string',
  pattern: '^[A-Za-z0-9._-]{1,64}$',
  description: 'Identifies the request for support, as X-Request-Id does.',
};

const support: JsonSchema = {
  ...text,
  description:
    'Where to get help, an email address or a page, if this needs a person and the service names one.',
};

/** One code's shape: RentalNotFoundError. */
function refusalSchema(code: RefusalCode): JsonSchema {
  const details = detailsOf(code);
  const error = { type: 'string', const: code, description: 'The code for clients to act on.' };
  return named(
    schemaName(code),
    object(
      { error, message, ...(details && { details: details.schema }), requestId, support },
      details?.isOptional === true ? ['details', 'support'] : ['support'],
    ),
  );
}

/** The details of a code under a name of their own: RateLimitedDetails. */
function detailsOf(code: RefusalCode): Details | undefined {
  const details = refusalDetails[code];
  if (details === undefined || definitionOf(details.schema)) return details;
  return { ...details, schema: named(`${wordsOf(code)}Details`, details.schema) };
}

/** What a code has that a newer service answers. */
const otherError = named(
  'OtherError',
  object(
    {
      error: named('ErrorCode', oneOf(Object.keys(refusalStatus) as RefusalCode[])),
      message,
      details: record,
      requestId,
      support,
    },
    ['details', 'support'],
  ),
);

function schemaName(code: RefusalCode): string {
  return `${wordsOf(code)}Error`;
}

function wordsOf(code: RefusalCode): string {
  const words = code.replace(/_error$/, '').split('_');
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
}

/**
 * The shape of a failure with one of some codes (decision 2, "Shape of an error"): the code, which is the field
 * `error`, tells what the details hold.
 */
export function errorSchema(codes: readonly RefusalCode[]): JsonSchema {
  const schemas = codes.map((code) => [code, refusalSchema(code)] as const);
  const [only, ...others] = schemas;
  if (only !== undefined && others.length === 0) return openTo(only[1], otherError);
  const known = {
    oneOf: schemas.map(([, schema]) => schema),
    discriminator: {
      propertyName: 'error',
      mapping: Object.fromEntries(schemas.map(([code, schema]) => [code, schema['$ref']])),
    },
  };
  return openTo(known, otherError);
}

/** The answers of some refusals, one per status: its codes, and an example of each. */
export function refusalResponses(codes: readonly RefusalCode[]): Record<string, object> {
  const statuses = [...new Set(codes.map((code) => refusalStatus[code]))].toSorted((a, b) => a - b);
  return Object.fromEntries(
    statuses.map((status) => {
      const ofStatus = codes.filter((code) => refusalStatus[code] === status);
      const [only, ...others] = ofStatus;
      const isShared = only !== undefined && others.length === 0;
      return [status, isShared ? { $ref: `${RESPONSES}${schemaName(only)}` } : responseOf(ofStatus)];
    }),
  );
}

const RESPONSES = '#/components/responses/';
const EXAMPLES = '#/components/examples/';

/** The parts of the document that refusalResponses refers to, of all codes. */
export function sharedRefusals(): Record<'responses' | 'examples', Record<string, object>> {
  const codes = Object.keys(refusalStatus) as RefusalCode[];
  return {
    responses: Object.fromEntries(codes.map((code) => [schemaName(code), responseOf([code])])),
    examples: Object.fromEntries(codes.map((code) => [code, { value: exampleOf(code) }])),
  };
}

function responseOf(codes: readonly RefusalCode[]): object {
  const tellsWait = codes.some((code) => 'retryAfterSeconds' in (examples[code].details ?? {}));
  return {
    description: codes.join(', '),
    headers: {
      'X-Request-Id': { $ref: '#/components/headers/X-Request-Id' },
      ...(tellsWait && { 'Retry-After': { $ref: '#/components/headers/Retry-After' } }),
    },
    content: {
      'application/json': {
        schema: errorSchema(codes),
        examples: Object.fromEntries(codes.map((code) => [code, { $ref: `${EXAMPLES}${code}` }])),
      },
    },
  };
}

function exampleOf(code: RefusalCode): object {
  const { message, details } = examples[code];
  return {
    error: code,
    message,
    ...(details && { details }),
    requestId: 'b7c1f0a2-5d3e-4a57-9c55-6f1a0f0f7e11',
  };
}
