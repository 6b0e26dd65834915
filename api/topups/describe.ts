import { pageFields, fields, needed, wholeFrom } from '../http/fields.js';
import { keyFilter } from '../http/idempotency.js';
import { paymentLimits } from '../../domain/payments/limits.js';
import { topupStatuses } from '../../domain/payments/topup.js';
import { autoTopupSchema } from './auto-topup-shapes.js';
import { done } from '../accounts/describe-sign-in.js';
import {
  bool,
  cents,
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
  whole,
  type ValueOf,
  eitherOf,
  type JsonSchema,
} from '../http/openapi/json-schema.js';
import { idParameter, leadsTo, pageOf, operation, type Operation } from '../http/openapi/operation.js';
import { downloadReceipt, putBillingDetails, showBillingDetails } from './describe-receipts.js';
import { idempotencyKey, replayed } from '../rentals/describe.js';

export const checkoutSchema = fields({
  amountCents: needed(wholeFrom(paymentLimits.minTopupCents, paymentLimits.maxTopupCents)),
});

export const topupsQuery = fields({
  idempotencyKey: keyFilter,
  ...pageFields,
});

const tag = 'Payments';
const id = exampleId('top');
const status = named('TopupStatus', oneOf(topupStatuses));
export const topupSource = named('TopupSource', oneOf(['checkout', 'saved_card', 'auto_topup']));
const pageUrl = 'https://pay.example.com/c/pay/cs_test_1';
const nothing: JsonSchema<null> = { type: 'null' };

/** Decision 32, "Checkout and credit": the page of the processor, or the result of the saved card's charge. */
const page = named(
  'CheckoutPage',
  object({ checkoutUrl: url, sessionId: text, topupId: idOf('top'), status }),
);
const charge = named(
  'CheckoutCharge',
  object({
    checkoutUrl: nothing,
    sessionId: nothing,
    topupId: idOf('top'),
    status,
    amountCents: whole,
    processorChargeId: orNull(text, 'Null until the charge succeeded.'),
  }),
);
const checkout = named('Checkout', eitherOf(page, charge));

const topup = named(
  'Topup',
  object({
    id: idOf('top'),
    source: topupSource,
    status,
    amountCents: cents('The amount requested.'),
    creditedCents: orNull(
      cents('The amount received; of a page that was paid twice, what its first payment brought.'),
    ),
    reversedCents: cents('How much of it a refund or dispute has reversed; 0 if none.'),
    checkoutUrl: orNull(url, 'Set while it can be paid.'),
    sessionId: orNull(text),
    processorChargeId: orNull(text),
    receiptUrl: orNull(url),
    error: orNull(text),
    declineCode: orNull(
      text,
      'Why a charge of the saved card failed, in the words of the payment processor: `details.declineCode` of `card_declined`.',
    ),
    createdAt: instant,
    expiresAt: orNull(instant),
    creditedAt: orNull(instant),
  }),
);

const exampleTopup: ValueOf<typeof topup> = {
  id,
  source: 'checkout',
  status: 'succeeded',
  amountCents: 2_000,
  creditedCents: 2_000,
  reversedCents: 0,
  checkoutUrl: null,
  sessionId: 'cs_test_1',
  processorChargeId: 'ch_1',
  receiptUrl: 'https://pay.example.com/receipts/1',
  error: null,
  declineCode: null,
  createdAt: '2026-11-01T09:00:00.000Z',
  expiresAt: '2026-11-02T09:00:00.000Z',
  creditedAt: '2026-11-01T09:01:00.000Z',
};

const card = named(
  'Card',
  object({
    brand: orNull(text),
    last4: orNull(text),
    expMonth: orNull(whole),
    expYear: orNull(whole),
    pmId: orNull({ ...text, description: 'The payment method at the processor.' }),
  }),
);

const autoTopup = {
  enabled: bool,
  thresholdCents: orNull(cents('Charges when your available balance falls below this.')),
  topupAmountCents: orNull(cents('The amount charged.')),
  dailyCapCents: orNull(
    cents('The most it charges in 24 hours. An account may have a lower cap: contact support.'),
  ),
  disabledReason: orNull(
    named(
      'AutoTopupDisabledReason',
      oneOf(['charge_failed', 'card_removed', 'card_expired', 'charges_held']),
    ),
    'Why we turned it off.',
  ),
  nextAttemptAt: orNull(instant, 'The card is not charged again before then. Null: it never was.'),
};
const autoTopupSettings = named('AutoTopup', object(autoTopup));
const exampleAutoTopup: ValueOf<typeof autoTopupSettings> = {
  enabled: true,
  thresholdCents: 500,
  topupAmountCents: 2_000,
  dailyCapCents: null,
  disabledReason: null,
  nextAttemptAt: null,
};

export const createCheckout = operation({
  method: 'post',
  path: '/v1/billing/checkout',
  scope: 'billing',
  name: 'createCheckout',
  tag,
  summary: 'Tops the wallet up',
  description:
    'Opens a payment page, or charges your saved card if you have one. A 5xx has `details.outcome`: `not_done`, or `unknown` with `lookAt`.',
  parameters: [idempotencyKey],
  body: { schema: checkoutSchema, examples: [{ amountCents: 2_000 }] },
  answers: [
    {
      description: 'The page to send the browser to, or the charge.',
      schema: checkout,
      examples: [
        { checkoutUrl: pageUrl, sessionId: 'cs_test_1', topupId: id, status: 'requires_payment' },
        {
          checkoutUrl: null,
          sessionId: null,
          topupId: id,
          status: 'succeeded',
          amountCents: 2_000,
          processorChargeId: 'ch_1',
        },
      ],
      links: leadsTo('/topupId', ['showTopup']),
      headers: replayed,
    },
  ],
  refusals: [
    ...([
      'invalid_amount',
      'billing_disabled',
      'card_declined',
      'blocked',
      'account_closing',
      'charge_in_progress',
    ] as const),
    ...(['idempotency_conflict', 'idempotency_in_progress'] as const),
  ],
});

export const listTopups = operation({
  method: 'get',
  path: '/v1/billing/topups',
  scope: 'billing',
  name: 'listTopups',
  tag,
  summary: 'Your top-ups, newest first',
  query: topupsQuery,
  answers: [{ ...pageOf('topups', topup, exampleTopup), links: leadsTo('/topups/0/id', ['showTopup']) }],
  refusals: ['session_required'],
});

export const showTopup = operation({
  method: 'get',
  path: '/v1/billing/topups/:id',
  scope: 'billing',
  name: 'showTopup',
  tag,
  summary: 'One top-up',
  parameters: [idParameter('top', 'a top-up', id)],
  answers: [{ description: 'The top-up.', schema: topup, examples: [exampleTopup] }],
  refusals: ['topup_not_found'],
});

export const topups: readonly Operation[] = [createCheckout, listTopups, showTopup, downloadReceipt];

export const beginCardSetup = operation({
  method: 'post',
  path: '/v1/billing/setup-intent',
  name: 'beginCardSetup',
  tag,
  summary: 'Starts saving a card',
  description: 'You are not charged. The processor’s own form takes the card; we never see its number.',
  answers: [
    {
      description: 'What the processor’s form needs.',
      schema: named(
        'CardSetup',
        object({
          clientSecret: text,
          publishableKey: text,
          pageUrl: orNull(
            url,
            'A page that takes the card in place of the processor’s own form, and leads back. Null with the real processor.',
          ),
        }),
      ),
      examples: [
        { clientSecret: 'seti_1_secret_1', publishableKey: 'pk_test_example', pageUrl: null },
        {
          clientSecret: 'seti_1_secret_1',
          publishableKey: 'pk_test_example',
          pageUrl: 'http://127.0.0.1:9200/setup/seti_1?client_secret=seti_1_secret_1',
        },
      ],
    },
  ],
  refusals: ['billing_disabled', 'account_closing', 'blocked'],
});

export const showCard = operation({
  method: 'get',
  path: '/v1/billing/card',
  scope: 'billing',
  name: 'showCard',
  tag,
  summary: 'The saved card',
  answers: [
    {
      description: 'The card; all fields are null when none is saved.',
      schema: card,
      examples: [
        { brand: 'visa', last4: '4242', expMonth: 12, expYear: 2040, pmId: 'pm_1' },
        { brand: null, last4: null, expMonth: null, expYear: null, pmId: null },
      ],
    },
  ],
});

export const removeCard = operation({
  method: 'delete',
  path: '/v1/billing/card',
  name: 'removeCard',
  tag,
  summary: 'Removes the saved card',
  answers: [{ description: 'No card is saved any more.', schema: done, examples: [{ ok: true }] }],
});

export const cards: readonly Operation[] = [beginCardSetup, showCard, removeCard];

export const showAutoTopup = operation({
  method: 'get',
  path: '/v1/billing/auto-topup',
  scope: 'billing',
  name: 'showAutoTopup',
  tag,
  summary: 'The settings of auto-topup',
  answers: [
    {
      description: 'As they are stored.',
      schema: autoTopupSettings,
      examples: [exampleAutoTopup],
    },
  ],
});

export const putAutoTopup = operation({
  method: 'put',
  path: '/v1/billing/auto-topup',
  name: 'putAutoTopup',
  tag,
  summary: 'Turns automatic top-ups on or off',
  description:
    'Needs a saved card. Fields that you leave out stay as they are. You can’t turn it on while a dispute or fraud warning stands against the account or its card (`blocked`, `details.reason` `charges_held`).',
  body: {
    schema: autoTopupSchema,
    examples: [
      { enabled: true, thresholdCents: 500, topupAmountCents: paymentLimits.autoTopupDefaultCents },
      { enabled: false },
    ],
  },
  answers: [
    {
      description: 'As they are stored, with warnings for people.',
      schema: named('StoredAutoTopup', object({ ...autoTopup, warnings: listOf(text) })),
      examples: [{ ...exampleAutoTopup, warnings: [] }],
    },
  ],
  refusals: ['billing_disabled', 'no_saved_card', 'blocked', 'account_closing'],
});

export const automatic: readonly Operation[] = [showAutoTopup, putAutoTopup];

export const paymentOperations: readonly Operation[] = [
  ...topups,
  ...[showBillingDetails, putBillingDetails],
  ...cards,
  ...automatic,
];
