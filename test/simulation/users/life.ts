import { setTimeout as sleep } from 'node:timers/promises';
import { drawAct } from './acts.js';
import { topUp } from './acts/paying.js';
import { stop } from './acts/renting.js';
import type { User } from './user.js';

/** Lets a user live until the end of the users' time. */
export async function live(user: User): Promise<void> {
  const { kernel, chance, untilMs, paceMs } = user.parts;
  await sleep(1_000 + chance.below(60_000));
  await user.signIn();
  await topUp(user);
  while (kernel.nowMs < untilMs) {
    await sleep(chance.pauseMs(paceMs));
    if (kernel.nowMs >= untilMs) return;
    await drawAct(chance)(user);
  }
}

/** Stops everything of a user at the end, as somebody who leaves for good. */
export async function leave(user: User): Promise<void> {
  for (const rentalId of user.rentals) await stop(user, rentalId);
}
