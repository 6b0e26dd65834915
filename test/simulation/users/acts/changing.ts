import { setTimeout as sleep } from 'node:timers/promises';
import type { User } from '../user.js';
import { noteRental, wishOf } from './renting.js';

const HOUR_MS = 3_600_000;

/** Asks for a quote, thinks about it for a while, and rents by it: in time, or too late. */
export async function rentByQuote(user: User): Promise<void> {
  const { chance, kernel, told } = user.parts;
  const wish = wishOf(user);
  const quoted = await user.ask('quote', 'POST', '/v1/quotes', wish);
  if (quoted?.status !== 200) return;
  const { quoteId, expiresAt, pricePerHourCents } = quoted.body as Record<string, string | number>;
  await sleep(chance.perMille(800) ? chance.below(40_000) : 50_000 + chance.below(40_000));
  const isLate = kernel.nowMs > Date.parse(String(expiresAt));
  const answer = await user.askKeyed('create by quote', '/v1/rentals', { quoteId });
  noteRental(user, answer, { wish, acceptedCents: Number(pricePerHourCents) });
  if (isLate && answer?.status === 200)
    told.strange.push(`${String(answer.body['id'])} was rented by a quote that had expired at ${expiresAt}`);
}

/** Changes the limits of one of the newest rentals, which may have ended long ago. */
export async function changeLimits(user: User): Promise<void> {
  const { chance, kernel, told } = user.parts;
  if (user.rentals.length === 0) return;
  const rentalId = chance.pick(user.rentals.slice(-4));
  const body = changeOf(user);
  const sentMs = kernel.nowMs;
  const answer = await user.askKeyed('change', `/v1/rentals/${rentalId}`, body, { method: 'PATCH' });
  const isUnknown = answer === undefined || answer.status >= 500;
  if (!isUnknown && answer.status !== 200) return;
  told.changes.push({
    ...{ rentalId, asked: body, sentMs, answeredMs: kernel.nowMs },
    answer: isUnknown ? undefined : limitsIn(answer.body),
  });
}

/** New limits: each of them somewhat above or below what is usual, or none. */
function changeOf({ parts: { chance, kernel } }: User): Record<string, number | string | null> {
  const spend = { maxSpendCents: chance.perMille(150) ? null : 1 + chance.below(300) };
  const hours = { autoStopAfterHours: chance.perMille(150) ? null : 0.05 + chance.below(30) / 10 };
  const at = { autoStopAt: new Date(kernel.nowMs - 60_000 + chance.below(3 * HOUR_MS)).toISOString() };
  return chance.pick([spend, hours, at, { ...spend, ...hours }, { ...spend, ...at }]);
}

function limitsIn({ autoStopAt, maxSpendCents }: Record<string, unknown>) {
  return {
    autoStopMs: typeof autoStopAt === 'string' ? Date.parse(autoStopAt) : Infinity,
    maxSpendCents: typeof maxSpendCents === 'number' ? maxSpendCents : Infinity,
  };
}
