import type { ApiRouter } from '../../../api/context.js';
import { refuseWhenNotFresh } from '../../../api/accounts/fresh-proof.js';
import { refuseRaiseByKey } from '../../../api/api-keys/setup.js';
import * as declared from '../../../api/spending/describe.js';
import { isLoosened, presentBudget, readBudgetSettings } from '../../../api/spending/budget-shapes.js';
import { serveMock } from '../serve.js';
import { note } from '../signed-in.js';
import { readBudget, saveBudget } from '../spending.js';
import type { World } from '../world.js';

/** The budget of a month. */
export function budgetRoutes(router: ApiRouter, world: World): void {
  serveMock(router, world, declared.showBudget, (_ctx, account) => presentBudget(readBudget(world, account)));
  serveMock(router, world, declared.putBudget, (ctx, account) => {
    const settings = readBudgetSettings(ctx);
    refuseRaiseByKey(ctx, account.budget, settings);
    if (isLoosened(account.budget, settings)) refuseWhenNotFresh(ctx);
    const budget = saveBudget(world, account, settings);
    note(world, ctx, account, 'budget_changed', null, { ...settings });
    return presentBudget(budget);
  });
}
