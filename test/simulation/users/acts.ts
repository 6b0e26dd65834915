import type { Chance } from '../kernel/chance.js';
import { look } from './acts/looking.js';
import { payInvoice, saveCard, switchAutoTopup, topUp } from './acts/paying.js';
import { race, rent, stopOne } from './acts/renting.js';
import type { User } from './user.js';

/** Something that a user does, from the first request to the last answer. */
export type Act = (user: User) => Promise<void>;

/** What users do, and how often beside each other. */
const acts: readonly (readonly [weight: number, act: Act])[] = [
  [38, rent],
  [24, stopOne],
  [14, topUp],
  [6, saveCard],
  [5, switchAutoTopup],
  [4, payInvoice],
  [5, look],
  [4, race],
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
