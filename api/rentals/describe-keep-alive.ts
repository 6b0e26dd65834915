import { idleGuardLimits } from '../../domain/rentals/idle-guard.js';
import { fields, instantField, needed } from '../http/fields.js';
import { operation, type Operation } from '../http/openapi/operation.js';
import { exampleGuard } from './idle-guard.js';
import { exampleRental, rental, rentalId, rentalsTag } from './describe.js';

const { keepAlivesADay } = idleGuardLimits;

export const keepAliveSchema = fields({
  until: needed(instantField).description(
    'At most a day ahead. Up to a minute more counts as a day, for clocks that are fast.',
  ),
});

const until = '2026-11-01T18:00:00.000Z';
const idleGuard = { ...exampleGuard, stopsAt: null, keepAliveUntil: until };

export const keepRentalAlive = operation({
  method: 'post',
  path: '/v1/rentals/:id/keep-alive',
  scope: 'rentals',
  name: 'keepRentalAlive',
  tag: rentalsTag,
  summary: 'Keeps an idle machine running',
  description: `Until then its idle guard does not stop it. It moves no limit: the machine still stops at \`autoStopAt\`, at \`maxSpendCents\`, and when your balance runs out. An earlier time than before changes nothing. At most ${keepAlivesADay} times a day for each machine, with those of \`gpu-keep-alive\` on it; a key that did not open it has ${keepAlivesADay} of its own.`,
  parameters: [rentalId],
  body: { schema: keepAliveSchema, examples: [{ until }] },
  answers: [
    {
      description: 'The rental.',
      schema: rental,
      examples: [{ ...exampleRental, stopWhenIdleMinutes: 30, idleGuard }],
    },
  ],
  refusals: ['rental_not_found', 'no_idle_guard', 'rental_ending', 'already_stopped'],
});

export const keepAliveOperations: readonly Operation[] = [keepRentalAlive];
