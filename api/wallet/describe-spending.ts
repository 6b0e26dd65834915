import { spendingLimits } from '../../domain/spending/limits.js';
import { fields, instantField, needed, type Read } from '../http/fields.js';
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
  text,
  whole,
  type ValueOf,
} from '../http/openapi/json-schema.js';
import { leadsTo, operation } from '../http/openapi/operation.js';

export const spendingQuery = fields({ from: needed(instantField), to: needed(instantField) });

export type SpendingQuery = Read<typeof spendingQuery>;

const { rentalsOfDay, toldDays } = spendingLimits;

const sums = { entries: count, chargedCents: whole, refundedCents: whole };

const day = named(
  'SpendingDay',
  object(
    {
      from: { ...instant, description: 'The beginning of the day, in UTC.' },
      entries: count,
      chargedCents: cents('Of rentals.'),
      refundedCents: cents('To rentals.'),
      amountCents: cents('Signed: what the wallet was moved by, top-ups included.'),
      rentals: {
        ...listOf(
          named(
            'SpendingRental',
            object({
              rentalId: idOf('rent'),
              name: orNull(text),
              family: text,
              gpuCount: count,
              ...sums,
            }),
          ),
        ),
        description: `Costliest first, at most ${rentalsOfDay}.`,
      },
      otherRentals: {
        ...named('SpendingOthers', object({ rentals: count, ...sums })),
        description: 'The rest of the day’s rentals together; only where there are more.',
      },
    },
    ['otherRentals'],
  ),
);

const spending = named(
  'Spending',
  object({
    from: instant,
    to: instant,
    openingBalanceCents: whole,
    days: { ...listOf(day), description: 'Days with an entry, oldest first.' },
    closingBalanceCents: whole,
  }),
);

const example: ValueOf<typeof spending> = {
  from: '2026-11-01T00:00:00.000Z',
  to: '2026-12-01T00:00:00.000Z',
  openingBalanceCents: 0,
  days: [
    {
      from: '2026-11-01T00:00:00.000Z',
      ...{ entries: 8, chargedCents: 7, refundedCents: 0, amountCents: 1_993 },
      rentals: [
        {
          rentalId: exampleId('rent'),
          ...{ name: 'training', family: 'rtx-4090', gpuCount: 1 },
          ...{ entries: 7, chargedCents: 7, refundedCents: 0 },
        },
      ],
    },
  ],
  closingBalanceCents: 1_993,
};

export const showSpending = operation({
  method: 'get',
  path: '/v1/billing/spending',
  scope: 'billing',
  name: 'showSpending',
  tag: 'Wallet',
  summary: 'What you spent, by day and rental',
  description: `At most ${toldDays} days at once. The sums are those of the statement between the same instants.`,
  query: spendingQuery,
  answers: [
    {
      description: 'The days.',
      schema: spending,
      examples: [example],
      links: leadsTo('/days/0/rentals/0/rentalId', ['showRental', 'showCharges']),
    },
  ],
});
