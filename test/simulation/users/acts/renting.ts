import type { Chance } from '../../kernel/chance.js';
import type { Answered } from '../../service.js';
import { SOFTWARE_PORT } from '../../world/upstream.js';
import type { User } from '../user.js';
import type { ToldKey } from '../told.js';
import { guardOf, keepOneAlive } from './guarding.js';

/** Of a thousand wishes: those with an idle guard, and with own software. */
const GUARDED = 300;
const OWN_SOFTWARE = 200;
/** Of a thousand guarded machines, those that are kept alive at once. */
const KEPT_ALIVE = 400;

export const families = ['rtx-4090', 'a100-80gb', 'h100-80gb'] as const;

/** What a user wants to rent, as POST /v1/rentals and POST /v1/quotes take it. */
export interface Wish {
  readonly familyId: string;
  readonly gpuCount: number;
  readonly autoStopAfterHours?: number;
  readonly maxSpendCents?: number;
  readonly maxPricePerHourCents?: number;
  readonly stopWhenIdleMinutes?: number;
  readonly idleIgnores?: readonly string[];
  readonly image?: string;
  readonly ports?: readonly object[];
}

/** Rents something, and repeats the request until there is an answer. */
export async function rent(user: User): Promise<void> {
  const wish = wishOf(user);
  const answer = await user.askKeyed('create', '/v1/rentals', wish);
  noteRental(user, answer, { wish, acceptedCents: wish.maxPricePerHourCents });
  const id = answer?.status === 200 ? answer.body['id'] : undefined;
  const isGuarded = wish.stopWhenIdleMinutes !== undefined;
  if (isGuarded && typeof id === 'string' && user.parts.chance.perMille(KEPT_ALIVE))
    await keepOneAlive(user, id);
}

/** Draws what a user wants. */
export function wishOf({ isSpendthrift, parts: { chance } }: User): Wish {
  if (isSpendthrift) return { familyId: chance.pick(families), gpuCount: chance.pick([2, 8]) };
  return {
    familyId: chance.pick(families),
    gpuCount: chance.pick([1, 1, 1, 2, 2, 8]),
    ...(chance.perMille(700) ? { autoStopAfterHours: 0.2 + chance.below(40) / 10 } : {}),
    ...(chance.perMille(300) ? { maxSpendCents: 20 + chance.below(400) } : {}),
    ...(chance.perMille(200) ? { maxPricePerHourCents: 10 + chance.below(150) } : {}),
    ...(chance.perMille(GUARDED) ? guardOf(chance) : {}),
    ...(chance.perMille(OWN_SOFTWARE) ? softwareOf(chance) : {}),
  };
}

/** An image, which listens at a public port, or does not. */
function softwareOf(chance: Chance): Pick<Wish, 'image' | 'ports'> {
  const port = { name: 'job', port: SOFTWARE_PORT, kind: 'tcp', public: true };
  return { image: 'example/job:1', ...(chance.perMille(600) && { ports: [port] }) };
}

/** Notes a rental that was answered with 200. */
export function noteRental(
  user: User,
  answer: Answered | undefined,
  how: { wish: Wish; acceptedCents: number | undefined; key?: ToldKey },
): void {
  const { told, kernel } = user.parts;
  const { id, pricePerHourCents } = answer?.body ?? {};
  if (answer?.status !== 200 || typeof id !== 'string') return;
  if (!user.rentals.includes(id)) user.rentals.push(id);
  const { autoStopAfterHours, maxSpendCents, stopWhenIdleMinutes: minutes } = how.wish;
  // A repeated answer is of the same rental.
  if (!told.rentals.has(id)) {
    const isGuarded = minutes !== undefined;
    told.guards.set(id, [
      { value: isGuarded ? -minutes : -Infinity, sentMs: 0, answeredMs: kernel.nowMs, isSure: true },
    ]);
  }
  told.rentals.set(id, {
    ...{ rentalId: id, email: user.email, pricePerHourCents: Number(pricePerHourCents) },
    ...{ autoStopAfterHours, maxSpendCents, answeredMs: kernel.nowMs },
    ...{ keyId: how.key?.id, acceptedCents: how.acceptedCents },
  });
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
  // A refusal because it has ended already tells the bill as well.
  const said = (answer?.status === 409 ? answer.body['details'] : answer?.body) as object | undefined;
  const cents: unknown = Reflect.get(said ?? {}, 'finalChargedCents');
  told.stops.push({
    ...{ rentalId, sentMs, answeredMs: kernel.nowMs, status: answer?.status ?? 'lost' },
    finalChargedCents: typeof cents === 'number' ? cents : undefined,
  });
}
