import { lookAtBudgets, tellReached } from '../../adapters/postgres/spending/budget-alerts.js';
import type { UserId } from '../../domain/ids.js';
import type { ActivityDeps } from '../deps.js';
import { eachItem } from '../each-item.js';
import type { Tell } from '../heartbeat.js';

/**
 * Tells users how much of their month's budget is spent: once a month for each share (decision 109, "Caps and
 * budgets"). One whose telling fails keeps no other from it, and is looked at again.
 * @param tell is told of each, and of each part that was looked at
 * @returns how many were told
 */
export async function tellBudgets(deps: ActivityDeps, tell: Tell): Promise<number> {
  let told = 0;
  for (let after: UserId | undefined; ;) {
    const { reached, last } = await lookAtBudgets(deps.db, after);
    const done = await eachItem(
      deps,
      { duty: 'budget', items: reached, keyOf: ({ userId }) => userId, tell },
      (item) => tellReached(deps.db, item),
    );
    told += done.length;
    if (last === undefined) return told;
    after = last;
    tell({ after });
  }
}
