import { setTimeout as sleep } from 'node:timers/promises';
import { drawAct } from './acts.js';
import { closeAccount } from './acts/closing.js';
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
/** So many of a thousand close their account when they leave. */
const CLOSERS = 300;

/**
 * Lets a user live until the end of the users' time.
 * @param closers so many users of a thousand close their account before, so that reversals and events come after it
 */
export async function live(user: User, closers: number): Promise<void> {
  const { kernel, chance, untilMs, paceMs } = user.parts;
  const lifeMs = untilMs - kernel.nowMs;
  const closesMs = chance.perMille(closers) ? untilMs - chance.below(Math.ceil(0.7 * lifeMs)) : Infinity;
  await sleep(1_000 + chance.below(60_000));
  await user.signIn();
  await topUp(user);
  if (chance.perMille(CARDED)) await payByCard(user);
  for (let no = 1; kernel.nowMs < untilMs && !user.isLeaving; no += 1) {
    await sleep(chance.pauseMs(paceMs));
    if (kernel.nowMs >= untilMs) return;
    const own = user.parts.act(no);
    if (own === undefined) continue;
    user.parts.chance = own;
    await (kernel.nowMs < closesMs ? drawAct(own) : closeAccount)(user);
  }
}

/** Stops everything of a user at the end, as somebody who leaves for good, or forgets it. */
export async function leave(user: User): Promise<void> {
  if (user.isLeaving) return;
  if (user.parts.chance.perMille(CLOSERS)) return closeAccount(user);
  const forgets = user.parts.chance.perMille(FORGETFUL) || user.isSpendthrift;
  if (!forgets || user.isToppedUp) for (const rentalId of user.rentals) await stop(user, rentalId);
  await follow(user);
}
