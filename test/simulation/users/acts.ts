import type { Chance } from '../kernel/chance.js';
import { leaveAndReturn, pry, reuseKey, sendNonsense, topUpTwice, twin } from './acts/careless.js';
import { changeLimits, rentByQuote } from './acts/changing.js';
import { follow } from './acts/following.js';
import { makeHook, pingHook, removeHook, rotateHook } from './acts/hooks.js';
import { changeCap, makeKey, probeKey, raceKey, rentByKey, revokeKey } from './acts/keys.js';
import { changeGuard, keepAlive } from './acts/guarding.js';
import { look } from './acts/looking.js';
import { payInvoice, removeCard, saveCard, switchAutoTopup, topUp } from './acts/paying.js';
import { race } from './acts/racing.js';
import { rent, stopOne } from './acts/renting.js';
import type { User } from './user.js';

/** Something that a user does, from the first request to the last answer. */
export type Act = (user: User) => Promise<void>;

/** What users do, and how often beside each other. */
const acts: readonly (readonly [weight: number, act: Act])[] = [
  [38, rent],
  [24, stopOne],
  [14, topUp],
  [6, saveCard],
  [2, removeCard],
  [5, switchAutoTopup],
  [4, payInvoice],
  [5, look],
  [4, race],
  [5, makeKey],
  [12, rentByKey],
  [5, probeKey],
  [4, changeCap],
  [3, revokeKey],
  [3, raceKey],
  [10, rentByQuote],
  [10, changeLimits],
  [5, changeGuard],
  [4, keepAlive],
  [6, follow],
  [7, makeHook],
  [3, pingHook],
  [3, rotateHook],
  [2, removeHook],
  [3, reuseKey],
  [4, sendNonsense],
  [6, pry],
  [2, leaveAndReturn],
  [2, topUpTwice],
  [4, twin],
];
const total = acts.reduce((sum, [weight]) => sum + weight, 0);

/** Draws what a user does next. */
export function drawAct(chance: Chance): Act {
  let drawn = chance.below(total);
  for (const [weight, act] of acts) {
    if (drawn < weight) return act;
    drawn -= weight;
  }
  throw new Error('the weights do not cover what was drawn');
}
