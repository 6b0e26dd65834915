import { labelKeyPattern } from '../../domain/rentals/labels.js';
import {
  instantField,
  joi,
  pageFields,
  fields,
  wordOf,
  wholeFrom,
  needed,
  readAs,
  type Read,
  idField,
} from '../http/fields.js';
import { ledgerEntryTypes } from '../../domain/ledger/ledger.js';
import { paymentLimits } from '../../domain/payments/limits.js';
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
  type ValueOf,
} from '../http/openapi/json-schema.js';
import { downloadProof, listRoots } from './describe-proof.js';
import { showStanding } from './describe-standing.js';
import { showSpending } from './describe-spending.js';
import { leadsTo, nextCursor, operation, type Operation } from '../http/openapi/operation.js';

/** The key of the label that `groupBy` names. */
const groupBy = readAs<string>(joi.string(), (text, helpers) => {
  const key = text.slice('label:'.length);
  if (text.startsWith('label:') && labelKeyPattern.test(key)) return key;
  return helpers.message({
    custom: '{{#label}} must be label: and the key of a label, such as label:team',
  });
}).meta({
  jsonSchema: {
    pattern: '^label:[a-z0-9][a-z0-9_.-]{0,62}$',
    description: 'Sums by the values of a label of your rentals.',
    examples: ['label:team'],
  },
});

export const statementQuery = fields({ from: needed(instantField), to: needed(instantField), groupBy });

export type StatementQuery = Read<typeof statementQuery>;

export const csvQuery = fields({ from: instantField, to: instantField });

export const ledgerQuery = fields({
  type: wordOf(ledgerEntryTypes),
  rentalId: idField('rent'),
  from: instantField,
  to: instantField,
  beforeSeq: wholeFrom(1).description(
    'Only entries with a lower number. The oldest is number 1, and there are no gaps. The answer has the `range`.',
  ),
  ...pageFields,
});

const tag = 'Wallet';

export const ledgerEntryType = named('LedgerEntryType', oneOf(ledgerEntryTypes));

const balance = named(
  'Balance',
  object({
    availableCents: cents('Ready to spend; never below zero.'),
    reservedCents: cents('Held for the first hour of running machines.'),
    totalCents: cents('Available plus reserved; the ledger’s balanceCents.'),
    openInvoicesCents: cents('How much you owe.'),
    openInvoiceCount: count,
    burnPerHourCents: cents('Cost of everything running now.'),
    runwaySeconds: orNull(
      { ...whole, description: 'How long your balance lasts at the current cost.' },
      'Null when no machine runs.',
    ),
    updatedAt: instant,
  }),
);

const entry = named(
  'LedgerEntry',
  object(
    {
      id: idOf('led'),
      type: ledgerEntryType,
      amountCents: cents('Signed.'),
      balanceAfterCents: cents('The wallet’s total right after this entry.'),
      createdAt: instant,
      rentalId: { ...idOf('rent'), description: 'On entries of a rental.' },
      processorChargeId: { ...text, description: 'On top-ups: the charge at the payment processor.' },
    },
    ['rentalId', 'processorChargeId'],
  ),
);

const ledgerRange = named(
  'LedgerRange',
  object({
    oldestSeq: { ...count, description: 'Of the oldest entry; one beyond newestSeq when there is none.' },
    newestSeq: {
      ...count,
      description: 'Of the newest entry, as `ledgerSeq` of the stream says; 0 before the first.',
    },
  }),
);

const statement = named(
  'Statement',
  object(
    {
      from: instant,
      to: instant,
      openingBalanceCents: whole,
      totals: listOf(
        named(
          'StatementTotal',
          object({ type: ledgerEntryType, entries: count, amountCents: cents('Signed.') }),
        ),
      ),
      rentals: listOf(
        named(
          'StatementRental',
          object({
            rentalId: idOf('rent'),
            entries: count,
            chargedCents: whole,
            refundedCents: whole,
            amountCents: cents('Signed: what the wallet was moved by.'),
          }),
        ),
      ),
      groups: {
        ...listOf(
          named(
            'StatementGroup',
            object({
              kind: oneOf(['label', 'unlabelled', 'other']),
              key: { ...text, description: 'The label’s key.' },
              value: orNull(text, 'Null for rentals without the label, and for what is no rental’s.'),
              entries: count,
              chargedCents: cents('Of rentals.'),
              refundedCents: cents('To rentals.'),
              amountCents: cents('Signed; of all groups together, what `totals` add up to.'),
            }),
          ),
        ),
        description: 'Only with groupBy.',
      },
      closingBalanceCents: whole,
    },
    ['groups'],
  ),
);

const exampleEntry: ValueOf<typeof entry> = {
  id: exampleId('led'),
  type: 'rental_charge',
  amountCents: -1,
  balanceAfterCents: 1_999,
  createdAt: '2026-11-01T09:31:53.250Z',
  rentalId: exampleId('rent'),
};

const exampleStatement: ValueOf<typeof statement> = {
  from: '2026-11-01T00:00:00.000Z',
  to: '2026-12-01T00:00:00.000Z',
  openingBalanceCents: 0,
  totals: [
    { type: 'processor_topup', entries: 1, amountCents: 2_000 },
    { type: 'rental_charge', entries: 7, amountCents: -7 },
  ],
  rentals: [{ rentalId: exampleId('rent'), entries: 7, chargedCents: 7, refundedCents: 0, amountCents: -7 }],
  closingBalanceCents: 1_993,
};

const exampleGrouped: ValueOf<typeof statement> = {
  ...exampleStatement,
  groups: [
    {
      ...{ kind: 'label', key: 'team', value: 'research', entries: 7 },
      ...{ chargedCents: 7, refundedCents: 0, amountCents: -7 },
    },
    {
      ...{ kind: 'other', key: 'team', value: null, entries: 1 },
      ...{ chargedCents: 0, refundedCents: 0, amountCents: 2_000 },
    },
  ],
};

const csv = [
  'id,createdAt,type,amountCents,balanceAfterCents,rentalId,processorChargeId',
  `${exampleId('led')},2026-11-01T09:00:00.000Z,processor_topup,2000,2000,,ch_1`,
  '',
].join('\r\n');

export const showBalance = operation({
  method: 'get',
  path: '/v1/billing/balance',
  scope: 'billing',
  name: 'showBalance',
  tag,
  summary: 'The balance',
  answers: [
    {
      description: 'The balance.',
      schema: balance,
      examples: [
        {
          availableCents: 1_950,
          reservedCents: 43,
          totalCents: 1_993,
          openInvoicesCents: 0,
          openInvoiceCount: 0,
          burnPerHourCents: 50,
          runwaySeconds: 143_496,
          updatedAt: '2026-11-01T09:39:05.250Z',
        },
      ],
    },
  ],
});

export const showBillingConfig = operation({
  method: 'get',
  path: '/v1/billing/config',
  scope: 'billing',
  name: 'showBillingConfig',
  tag,
  summary: 'Settings for topping up',
  answers: [
    {
      description: 'The processor’s publishable key, the limits of a top-up, and where to get help.',
      schema: named(
        'BillingConfig',
        object({
          publishableKey: text,
          currency: oneOf(['USD']),
          minTopupCents: whole,
          maxTopupCents: whole,
          supportContact: orNull(text, 'Where to get help: an email address or a page.'),
        }),
      ),
      examples: [
        {
          publishableKey: 'pk_test_example',
          currency: 'USD',
          minTopupCents: paymentLimits.minTopupCents,
          maxTopupCents: paymentLimits.maxTopupCents,
          supportContact: 'help@example.com',
        },
      ],
    },
  ],
});

export const listLedger = operation({
  method: 'get',
  path: '/v1/billing/ledger',
  scope: 'billing',
  name: 'listLedger',
  tag,
  summary: 'Every change to the wallet, newest first',
  description:
    'Each entry’s balanceAfterCents is its amountCents plus the balanceAfterCents of the next older one. An API key with a cap names one of its own rentals.',
  query: ledgerQuery,
  answers: [
    {
      description: 'A page.',
      schema: named(
        'LedgerEntryPage',
        object(
          {
            entries: listOf(entry),
            balanceCents: cents('The wallet’s total now.'),
            range: {
              ...ledgerRange,
              description:
                'Only with beforeSeq: the numbers between `from` and `to`, whatever else is asked for.',
            },
            nextCursor,
          },
          ['range'],
        ),
      ),
      examples: [
        { entries: [exampleEntry], balanceCents: 1_999, nextCursor: 'WzQyXQ' },
        {
          ...{ entries: [exampleEntry], balanceCents: 1_999, nextCursor: 'WzQyXQ' },
          range: { oldestSeq: 1, newestSeq: 42 },
        },
      ],
      links: leadsTo('/entries/0/id', ['explainLedgerEntry']),
    },
  ],
  refusals: ['rental_not_found', 'session_required'],
});

export const showStatement = operation({
  method: 'get',
  path: '/v1/billing/statement',
  scope: 'billing',
  name: 'showStatement',
  tag,
  summary: 'Totals between two instants',
  query: statementQuery,
  description:
    'groupBy=label:team also sums by the values of a label of your rentals: each entry counts in one group.',
  answers: [
    { description: 'The statement.', schema: statement, examples: [exampleStatement, exampleGrouped] },
  ],
});

export const downloadLedger = operation({
  method: 'get',
  path: '/v1/billing/ledger.csv',
  scope: 'billing',
  name: 'downloadLedger',
  tag,
  summary: 'The ledger as a file, oldest first',
  description: [
    'Read it as fast as you like, but at least 16 KiB in each 30 s: a slower reader is cut, and so is one whose session',
    'or key has ended. Two files are sent at once to the keys of an account, and four to the account: one more ends your',
    'oldest. A file that ends without its last chunk is not whole: ask for it again.',
  ].join(' '),
  query: csvQuery,
  answers: [
    {
      description: 'CSV (RFC 4180) with a line of names.',
      type: 'text/csv',
      schema: { type: 'string', pattern: '^id,createdAt,type,' },
      examples: [csv],
      headers: { 'Content-Disposition': text },
    },
  ],
});

export const walletOperations: readonly Operation[] = [
  showBalance,
  showBillingConfig,
  showStanding,
  listLedger,
  showStatement,
  showSpending,
  downloadLedger,
  downloadProof,
  listRoots,
];
