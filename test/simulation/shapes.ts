import type { Wanted } from './campaign.js';
import { Chance } from './kernel/chance.js';

/**
 * What the runs of a campaign look like, and how often beside each other: most are short and dense, as faults meet each
 * other there; some are long, as what ages is found there only; one is not disturbed, so that nothing excuses what is wrong.
 */
const shapes: readonly (readonly [weight: number, shape: Omit<Wanted, 'seed'>])[] = [
  [30, { days: 0.02, users: 2, acts: 8, isDisturbed: true }],
  [30, { days: 0.05, users: 3, acts: 16, isDisturbed: true }],
  [15, { days: 0.1, users: 4, acts: 12, isDisturbed: true }],
  [10, { days: 0.05, users: 3, acts: 16, isDisturbed: false }],
  [10, { days: 1, users: 2, acts: 12, isDisturbed: true }],
  [5, { days: 4, users: 2, acts: 10, isDisturbed: true }],
];

/** Draws the shape of a seed's run: the same one each time. */
export function shapeOf(seed: number): Wanted {
  const total = shapes.reduce((sum, [weight]) => sum + weight, 0);
  let drawn = new Chance(seed, 'shape').below(total);
  for (const [weight, shape] of shapes) {
    if (drawn < weight) return { ...shape, seed };
    drawn -= weight;
  }
  throw new Error('the weights do not cover what was drawn');
}
