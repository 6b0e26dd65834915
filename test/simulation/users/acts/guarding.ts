import type { Chance } from '../../kernel/chance.js';
import type { User } from '../user.js';

/** How far ahead a machine is kept alive at most, in milliseconds. */
const AHEAD_MS = 90 * 60_000;

/** Draws after how many minutes a machine is to stop that is idle: few, as most machines live for less than an hour. */
export function guardOf(chance: Chance): { stopWhenIdleMinutes: number; idleIgnores: readonly string[] } {
  return { stopWhenIdleMinutes: 15 + chance.below(10), idleIgnores: ['sessions'] };
}

/** Gives one of the newest rentals an idle guard, another one, or none. */
export async function changeGuard(user: User): Promise<void> {
  const { chance, kernel, told } = user.parts;
  if (user.rentals.length === 0) return;
  const rentalId = chance.pick(user.rentals.slice(-4));
  const body = chance.perMille(250) ? { stopWhenIdleMinutes: null } : guardOf(chance);
  const sentMs = kernel.nowMs;
  const answer = await user.askKeyed('guard', `/v1/rentals/${rentalId}`, body, { method: 'PATCH' });
  const isUnknown = answer === undefined || answer.status >= 500;
  if (!isUnknown && answer.status !== 200) return;
  const { stopWhenIdleMinutes: minutes } = body;
  const values = told.guards.get(rentalId) ?? [];
  const value = typeof minutes === 'number' ? -minutes : -Infinity;
  values.push({ value, sentMs, answeredMs: isUnknown ? Infinity : kernel.nowMs, isSure: !isUnknown });
  told.guards.set(rentalId, values);
}

/** Keeps one of the newest rentals alive for a while, which may have no guard, or have ended. */
export async function keepAlive(user: User): Promise<void> {
  if (user.rentals.length === 0) return;
  await keepOneAlive(user, user.parts.chance.pick(user.rentals.slice(-4)));
}

/** Keeps a machine alive for a while. */
export async function keepOneAlive(user: User, rentalId: string): Promise<void> {
  const { chance, kernel, told } = user.parts;
  const untilMs = kernel.nowMs + 60_000 + chance.below(AHEAD_MS);
  const until = new Date(untilMs).toISOString();
  const answer = await user.ask('keep alive', 'POST', `/v1/rentals/${rentalId}/keep-alive`, { until });
  if (answer?.status === 200) told.keepAlives.push({ rentalId, untilMs, answeredMs: kernel.nowMs });
}
