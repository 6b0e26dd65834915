import type { RefusalCode } from '../../../domain/refusal.js';
import { feedRange } from '../../events/describe.js';
import { closedToSetup, type ClosedToSetup } from '../../api-keys/setup.js';
import { apiKeyScope } from '../../api-keys/shapes.js';
import { rentalStatus, stopReason } from '../../rentals/describe.js';
import { alternatives, quote } from '../../rentals/describe-quotes.js';
import { budgetReserved, capReserved } from '../../spending/describe.js';
import {
  cents,
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
} from './json-schema.js';

/** What the details of a refusal hold. */
export interface Details {
  readonly schema: JsonSchema;
  /** Not every refusal of the code has them. */
  readonly isOptional?: true;
}

const fields = named(
  'InvalidFields',
  object({
    fields: listOf(
      named(
        'FieldFault',
        object({
          field: { ...text, description: 'As the request names it: sshKeyIds[0], or body, or query.' },
          message: { ...text, description: 'For people.' },
        }),
      ),
    ),
  }),
);

const ids = { rentalId: idOf('rent'), topupId: idOf('top'), changeId: idOf('chg') };
const retryAfterSeconds: JsonSchema = {
  ...whole,
  minimum: 1,
  description: 'As the header Retry-After says.',
};

const laterAgain = named('LaterAgainDetails', object({ retryAfterSeconds }));

/** What is told with a quote that does not hold any more. */
const newOffer = {
  quote: orNull(quote, 'A new quote. Null when there is nothing to quote.'),
  alternatives: { ...alternatives, description: 'Without a new quote: what is available instead.' },
};

/** Decision 4, "Promise of a 503". */
const outcome: Details = {
  schema: named(
    'OpeningOutcome',
    object(
      {
        outcome: {
          ...oneOf(['not_done', 'unknown']),
          description: 'Whether it may have been done all the same.',
        },
        lookAt: { ...text, description: 'With unknown: the path where it is seen in a minute.' },
        ...ids,
      },
      ['lookAt', 'rentalId', 'topupId', 'changeId'],
    ),
  ),
  isOptional: true,
};

/** What upstreams can’t do of a wish. */
const misfits = {
  schema: object({
    misfits: listOf(
      named(
        'SoftwareMisfit',
        object({
          field: text,
          providerCode: text,
          limit: orNull(whole, 'Null: it can’t at all.'),
          message: { ...text, description: 'For people.' },
        }),
      ),
    ),
  }),
};

/** What the details of each code hold; `undefined` where there never are any. */
export const refusalDetails: Readonly<Record<RefusalCode, Details | undefined>> = {
  validation_failed: { schema: fields, isOptional: true },
  invalid_email: { schema: fields },
  invalid_amount: { schema: fields },
  invalid_count: { schema: fields },
  weak_key: undefined,
  duplicate_key: { schema: object({ fingerprint: { ...text, description: 'Of the key that is there.' } }) },
  duplicate_passkey: undefined,
  too_many_passkeys: { schema: object({ maxPasskeys: whole }) },
  too_many_keys: { schema: object({ maxKeys: whole }) },
  unknown_family: { schema: object({ familyId: text }) },
  model_unavailable: {
    schema: object(
      {
        familyId: text,
        gpuCount: whole,
        region: orNull(text),
        alternatives: { ...alternatives, description: 'What is available instead now.' },
        retryAfterSeconds: {
          ...retryAfterSeconds,
          description:
            'Only when too many others are waiting for the same machines. As the header Retry-After says.',
        },
      },
      ['retryAfterSeconds'],
    ),
  },
  software_unsupported: misfits,
  idle_guard_unsupported: misfits,
  billing_disabled: undefined,
  too_many_webhooks: { schema: object({ maxWebhooks: whole }) },
  webhooks_disabled: undefined,
  unauthorized: undefined,
  passkey_invalid: undefined,
  code_invalid: undefined,
  oauth_state_mismatch: undefined,
  key_unknown: undefined,
  key_expired: { schema: object({ expiredAt: instant }) },
  key_revoked: { schema: object({ revokedAt: instant }) },
  key_suspended: undefined,
  card_declined: {
    schema: object({
      declineCode: { ...text, description: 'Why, in the words of the payment processor.' },
      topupId: idOf('top'),
    }),
  },
  insufficient_balance: {
    schema: object({
      requiredCents: cents('What must be available.'),
      availableCents: cents('What is.'),
    }),
  },
  forbidden: undefined,
  blocked: {
    schema: object(
      {
        reason: {
          type: 'string',
          description:
            'unpaid_invoice, too_many_rentals, too_many_topups, charges_held, account, or what an operator wrote.',
        },
        invoiceId: { ...idOf('inv'), description: 'With unpaid_invoice: the one to pay.' },
        limit: { ...whole, description: 'With too_many_rentals and too_many_topups: how many there may be.' },
      },
      ['invoiceId', 'limit'],
    ),
  },
  account_closing: undefined,
  fresh_sign_in_required: {
    schema: object({
      provedAt: orNull(instant, 'When who you are was last shown. Null: an account elsewhere has not told.'),
    }),
  },
  session_required: undefined,
  key_scope: {
    schema: object({
      scope: { ...apiKeyScope, description: 'What the key needs.' },
      scopes: { ...listOf(apiKeyScope), description: 'What it has.' },
    }),
  },
  key_address: { schema: object({ address: { ...text, description: 'Where the request came from.' } }) },
  key_ends_own: { schema: object({ rentalId: idOf('rent') }) },
  key_setup: {
    schema: object({
      reason: {
        ...oneOf(Object.keys(closedToSetup) as ClosedToSetup[]),
        description: 'What the scope `setup` does not cover.',
      },
    }),
  },
  cap_reserved: { schema: capReserved },
  budget_reserved: { schema: budgetReserved },
  not_found: {
    schema: object({
      reason: {
        ...oneOf(['unknown_route', 'unknown_entry']),
        description:
          'unknown_route: no route is described there. unknown_entry: the route is, the thing is not.',
      },
    }),
  },
  rental_not_found: undefined,
  invoice_not_found: undefined,
  topup_not_found: undefined,
  webhook_not_found: undefined,
  key_not_found: {
    schema: object({ sshKeyId: { ...text, description: 'The one that the request names.' } }),
    isOptional: true,
  },
  passkey_not_found: undefined,
  session_not_found: undefined,
  quote_not_found: undefined,
  endpoint_not_found: undefined,
  method_not_allowed: undefined,
  resync: { schema: feedRange },
  charge_in_progress: {
    schema: object({ topupId: idOf('top'), amountCents: cents('What is being charged.') }),
  },
  already_stopped: {
    schema: object({
      status: rentalStatus,
      finalChargedCents: orNull(cents('The final amount.')),
      refundedCents: orNull(cents('How much of the first hour’s hold was returned.')),
    }),
  },
  quote_expired: {
    schema: object({ quoteId: idOf('quo'), expiresAt: instant, ...newOffer }, ['alternatives']),
  },
  price_changed: {
    schema: object(
      {
        quoteId: idOf('quo'),
        quotedPricePerHourCents: whole,
        pricePerHourCents: cents('What it costs now.'),
        ...newOffer,
      },
      ['alternatives'],
    ),
  },
  rental_ending: {
    schema: object({
      status: rentalStatus,
      stopReason: orNull(stopReason, 'Null until it is known what ended it.'),
    }),
  },
  proof_not_ready: { schema: laterAgain },
  export_running: { schema: laterAgain },
  webhook_not_enabled: { schema: object({ state: oneOf(['pending', 'switched_off']) }) },
  no_idle_guard: undefined,
  no_saved_card: undefined,
  idempotency_conflict: undefined,
  idempotency_in_progress: {
    schema: {
      ...object(ids, ['rentalId', 'topupId', 'changeId']),
      minProperties: 1,
      description: 'What is being opened.',
    },
  },
  payload_too_large: undefined,
  unknown_host: undefined,
  unsupported_media_type: undefined,
  rate_limited: {
    schema: object(
      {
        retryAfterSeconds,
        reason: {
          ...oneOf(['too_many_at_once', 'too_many_free_machines', 'too_many_card_tries']),
          description: 'Left out where a minute’s requests, or another rental being opened, are the reason.',
        },
        costCents: {
          ...whole,
          description:
            'With too_many_free_machines: what those of the last hour cost that nobody was billed for.',
        },
        limitCents: { ...whole, description: 'With too_many_free_machines: what they may cost in an hour.' },
      },
      ['reason', 'costCents', 'limitCents'],
    ),
  },
  code_request_rate_limited: { schema: laterAgain },
  internal_error: outcome,
  temporarily_unavailable: outcome,
};
