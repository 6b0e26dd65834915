import { setTimeout as sleep } from 'node:timers/promises';
import { drawAct } from './acts.js';
import { follow } from './acts/following.js';
import { payByCard, topUp } from './acts/paying.js';
import { stop } from './acts/renting.js';
import type { User } from './user.js';

/**
 * Of a thousand users so many forget what runs when they leave: it goes on until a limit or the end of the money, which
 * auto-topup would put off for ever.
 */
const FORGETFUL = 400;
/** So many pay by a saved card from the beginning. */
const CARDED = 120;

/** Lets a user live until the end of the users' time. */
export async function live(user: User): Promise<void> {
  const { kernel, chance, untilMs, paceMs } = user.parts;
  await sleep(1_000 + chance.below(60_000));
  await user.signIn();
  await topUp(user);
  if (chance.perMille(CARDED)) await payByCard(user);
  for (let no = 1; kernel.nowMs < untilMs; no += 1) {
    await sleep(chance.pauseMs(paceMs));
    if (kernel.nowMs >= untilMs) return;
    const own = user.parts.act(no);
    if (own === undefined) continue;
    user.parts.chance = own;
    await drawAct(own)(user);
  }
}

/** Stops everything of a user at the end, as somebody who leaves for good, or forgets it. */
export async function leave(user: User): Promise<void> {
  const forgets = user.parts.chance.perMille(FORGETFUL) || user.isSpendthrift;
  if (!forgets || user.isToppedUp) for (const rentalId of user.rentals) await stop(user, rentalId);
  await follow(user);
}
