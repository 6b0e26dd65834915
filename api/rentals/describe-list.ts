import { count, listOf, named, object } from '../http/openapi/json-schema.js';
import { leadsTo, nextCursor, operation, type Operation } from '../http/openapi/operation.js';
import { exampleRental, rental, rentalsTag } from './describe.js';
import { rentalsQuery } from './list-query.js';

const counts = named(
  'RentalCounts',
  object({ provisioning: count, running: count, stopping: count, stopped: count, failed: count }),
);

const page = named(
  'RentalPage',
  object(
    {
      rentals: listOf(rental),
      counts: {
        ...counts,
        description:
          'How many there are in all by status, whatever `status`, `live` and `cursor` say. Only with `counts=true`.',
      },
      nextCursor,
    },
    ['counts'],
  ),
);

export const listRentals = operation({
  method: 'get',
  path: '/v1/rentals',
  scope: 'read',
  name: 'listRentals',
  tag: rentalsTag,
  summary: 'Your rentals, newest first',
  description: 'Search, filter and sort all of your rentals. Send the same query with each `cursor`.',
  query: rentalsQuery,
  answers: [
    {
      description: 'A page.',
      schema: page,
      examples: [
        { rentals: [exampleRental], nextCursor: null },
        {
          rentals: [exampleRental],
          counts: { provisioning: 0, running: 1, stopping: 0, stopped: 311, failed: 2 },
          nextCursor: null,
        },
      ],
      links: leadsTo('/rentals/0/id', ['showRental']),
    },
  ],
});

export const rentalListOperations: readonly Operation[] = [listRentals];
