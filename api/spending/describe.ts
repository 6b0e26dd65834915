import { spendingLimits } from '../../domain/spending/limits.js';
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
  type JsonSchema,
} from '../http/openapi/json-schema.js';
import { operation, type Operation } from '../http/openapi/operation.js';
import { budgetSchema } from './budget-shapes.js';

const tag = 'Wallet';

const month: JsonSchema = {
  type: 'string',
  pattern: '^[0-9]{4}-[0-9]{2}$',
  description: 'The month in UTC, such as 2026-11.',
};

const holder = named(
  'HeldByRental',
  object({
    rentalId: idOf('rent'),
    reservedCents: cents('What of the limit it holds.'),
  }),
);

const pot = {
  askedCents: cents('What was to be reserved.'),
  leftCents: cents('What is left for it.'),
  limitCents: cents('The cap, or the month’s budget.'),
  spentCents: cents('What rentals have cost by now.'),
  reservedCents: cents('What others may still cost.'),
  reservedBy: {
    ...listOf(holder),
    description: 'The rentals that reserve the rest, largest first: stopping one frees what it did not use.',
  },
  unlimited: {
    ...listOf(named('UnlimitedRental', object({ rentalId: idOf('rent') }))),
    description: 'Instead of the sums, where a limit is to be set and these rentals have none.',
  },
};
const inOneCase = [
  'leftCents',
  'limitCents',
  'spentCents',
  'reservedCents',
  'reservedBy',
  'unlimited',
] as const;

/** The details of `cap_reserved`. */
export const capReserved: JsonSchema = named(
  'CapReserved',
  object({ apiKeyId: idOf('key'), ...pot }, inOneCase),
);

/** The details of `budget_reserved`. */
export const budgetReserved: JsonSchema = named('BudgetReserved', object({ month, ...pot }, inOneCase));

/** The example of the details of both. */
export const exampleReserved = {
  ...{ askedCents: 400, leftCents: 180, limitCents: 500, spentCents: 20, reservedCents: 300 },
  reservedBy: [{ rentalId: exampleId('rent'), reservedCents: 300 }],
};

const budget = named(
  'Budget',
  object({
    monthlyCents: orNull(cents('How much the rentals of a month may cost.'), 'Null: there is no budget.'),
    hard: {
      type: 'boolean',
      description:
        'Whether rentals and raised limits that do not fit are refused. Otherwise you only get alerts.',
    },
    month,
    monthEndsAt: { ...instant, description: 'From then on the next month counts.' },
    spentCents: cents(
      'What rentals have cost of this month. A cent counts in the month in which it was used.',
    ),
    reservedCents: cents('What rentals with a limit may still cost.'),
    leftCents: orNull(cents('What a new rental may cost under a hard budget.'), 'Null: there is no budget.'),
    alertPercents: {
      ...listOf(count),
      description:
        'The shares of the budget at which you get an email and the event budget.reached, once a month each.',
    },
  }),
);

const exampleBudget = {
  monthlyCents: 50_000,
  hard: true,
  month: '2026-11',
  monthEndsAt: '2026-12-01T00:00:00.000Z',
  spentCents: 12_300,
  reservedCents: 4_000,
  leftCents: 33_700,
  alertPercents: [...spendingLimits.alertPercents],
};

export const showBudget = operation({
  method: 'get',
  path: '/v1/billing/budget',
  scope: 'billing',
  name: 'showBudget',
  tag,
  summary: 'The month’s budget',
  answers: [
    { description: 'As it is set, and how the month stands.', schema: budget, examples: [exampleBudget] },
  ],
});

export const putBudget = operation({
  method: 'put',
  path: '/v1/billing/budget',
  scope: 'setup',
  name: 'putBudget',
  tag,
  summary: 'Sets what the rentals of a month may cost',
  description:
    'You get an alert at 50, 80 and 100 % of it. A hard budget reserves: each rental gets a limit (the price of four hours if you set none), and together they can never cost more than what is left of the month. So it can’t be set while a rental has no limit (`budget_reserved`). It may be lower than what is spent and reserved already: then nothing new fits, and what runs goes on to its limits. To raise a hard budget, or to make it soft, you sign in afresh. A key with the scope `setup` may only lower it.',
  body: {
    schema: budgetSchema,
    examples: [{ monthlyCents: 50_000, hard: true }, { monthlyCents: null }],
  },
  answers: [
    { description: 'As it is set, and how the month stands.', schema: budget, examples: [exampleBudget] },
  ],
  refusals: ['budget_reserved', 'fresh_sign_in_required', 'key_setup'],
});

export const budgetOperations: readonly Operation[] = [showBudget, putBudget];
