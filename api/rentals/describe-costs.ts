import { fields, orElse, wordOf } from '../http/fields.js';
import {
  exampleId,
  cents,
  count,
  idOf,
  instant,
  listOf,
  named,
  object,
  oneOf,
  orNull,
  whole,
} from '../http/openapi/json-schema.js';
import { operation, type Operation } from '../http/openapi/operation.js';

export const chargesQuery = fields({
  interval: orElse(wordOf(['hour', 'day']), 'hour'),
});
import { rentalId } from './describe.js';

const tag = 'Rentals';
const id = exampleId('rent');

const meter = named(
  'Meter',
  object({
    rentalId: idOf('rent'),
    pricePerHourCents: whole,
    secondsBilled: count,
    chargedCents: cents('In the ledger.'),
    pendingMillicents: { ...whole, description: 'Used since, in thousandths of a cent.' },
    holdCents: cents('What is left of the first hour’s hold.'),
    lastTickAt: orNull(instant),
  }),
);

const charges = named(
  'Charges',
  object({
    rentalId: idOf('rent'),
    interval: oneOf(['hour', 'day']),
    charges: listOf(
      named(
        'PeriodCharge',
        object({
          from: { ...instant, description: 'The beginning of the hour or day, in UTC.' },
          chargedCents: whole,
          refundedCents: whole,
          entries: count,
        }),
      ),
    ),
    totalChargedCents: whole,
  }),
);

export const showMeter = operation({
  method: 'get',
  path: '/v1/rentals/:id/meter',
  scope: 'read',
  name: 'showMeter',
  tag,
  summary: 'The cost of a rental so far',
  parameters: [rentalId],
  answers: [
    {
      description: 'The meter.',
      schema: meter,
      examples: [
        {
          rentalId: id,
          pricePerHourCents: 50,
          secondsBilled: 504,
          chargedCents: 7,
          pendingMillicents: 0,
          holdCents: 43,
          lastTickAt: '2026-11-01T09:39:05.250Z',
        },
      ],
    },
  ],
  refusals: ['rental_not_found'],
});

export const showCharges = operation({
  method: 'get',
  path: '/v1/rentals/:id/charges',
  scope: 'read',
  name: 'showCharges',
  tag,
  summary: 'The charges of a rental, by hour or by day',
  parameters: [rentalId],
  query: chargesQuery,
  answers: [
    {
      description: 'Hours or days with a charge or refund, oldest first.',
      schema: charges,
      examples: [
        {
          rentalId: id,
          interval: 'hour',
          totalChargedCents: 7,
          charges: [{ from: '2026-11-01T09:00:00.000Z', chargedCents: 7, refundedCents: 0, entries: 7 }],
        },
      ],
    },
  ],
  refusals: ['rental_not_found'],
});

export const costOperations: readonly Operation[] = [showMeter, showCharges];
