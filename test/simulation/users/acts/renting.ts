import type { Answered } from '../../service.js';
import type { User } from '../user.js';
import { topUp } from './paying.js';

const families = ['rtx-4090', 'a100-80gb', 'h100-80gb'] as const;

interface Wish {
  readonly familyId: string;
  readonly gpuCount: number;
  readonly autoStopAfterHours?: number;
  readonly maxSpendCents?: number;
}

/** Rents something, and repeats the request until there is an answer. */
export async function rent(user: User): Promise<void> {
  const { told, kernel } = user.parts;
  const body = wishOf(user);
  const answer = await user.askKeyed('create', '/v1/rentals', body);
  if (answer?.status === 503) noteUnknown(user, answer);
  const { id, pricePerHourCents } = answer?.body ?? {};
  if (answer?.status !== 200 || typeof id !== 'string') return;
  if (!user.rentals.includes(id)) user.rentals.push(id);
  const said = { autoStopAfterHours: body.autoStopAfterHours, maxSpendCents: body.maxSpendCents };
  told.rentals.set(id, {
    ...{ rentalId: id, email: user.email, pricePerHourCents: Number(pricePerHourCents) },
    ...{ ...said, answeredMs: kernel.nowMs },
  });
}

function wishOf({ parts: { chance } }: User): Wish {
  return {
    familyId: chance.pick(families),
    gpuCount: chance.pick([1, 1, 2]),
    ...(chance.perMille(700) ? { autoStopAfterHours: 0.2 + chance.below(40) / 10 } : {}),
    ...(chance.perMille(300) ? { maxSpendCents: 20 + chance.below(400) } : {}),
  };
}

/** A 503 names the rental that may yet be, or promises that it will never be (decision 4). */
function noteUnknown(user: User, answer: Answered): void {
  const { rentalId, outcome } = (answer.body['details'] ?? {}) as Record<string, unknown>;
  if (typeof rentalId !== 'string') return;
  if (outcome === 'not_done') user.parts.told.never.add(rentalId);
  user.rentals.push(rentalId);
}

/** Stops one of the newest rentals, which may have been stopped before. */
export async function stopOne(user: User): Promise<void> {
  if (user.rentals.length > 0) await stop(user, user.parts.chance.pick(user.rentals.slice(-4)));
}

/** Asks once for a rental's stop. */
export async function stop(user: User, rentalId: string): Promise<void> {
  const { kernel, told } = user.parts;
  const sentMs = kernel.nowMs;
  const answer = await user.ask('stop', 'POST', `/v1/rentals/${rentalId}/stop`);
  told.stops.push({ rentalId, sentMs, answeredMs: kernel.nowMs, status: answer?.status ?? 'lost' });
}

/** Does several things at once, against each other. */
export async function race(user: User): Promise<void> {
  await Promise.all([rent, rent, topUp, stopOne, stopOne].map((act) => act(user)));
}
