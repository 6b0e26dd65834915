import type { ApiRouter } from '../../../api/context.js';
import { refuseWhenNotFresh } from '../../../api/accounts/fresh-proof.js';
import { refuseRaiseByKey } from '../../../api/api-keys/setup.js';
import { isLoosened, presentBudget, readBudgetSettings } from '../../../api/spending/budget-shapes.js';
import { note, signedIn } from '../signed-in.js';
import { readBudget, saveBudget } from '../spending.js';
import type { World } from '../world.js';

/** The budget of a month. */
export function budgetRoutes(router: ApiRouter, world: World): void {
  router.get(
    '/v1/billing/budget',
    signedIn(world, (ctx, account) => {
      ctx.body = presentBudget(readBudget(world, account));
    }),
  );
  router.put(
    '/v1/billing/budget',
    signedIn(world, (ctx, account) => {
      const settings = readBudgetSettings(ctx);
      refuseRaiseByKey(ctx, account.budget, settings);
      if (isLoosened(account.budget, settings)) refuseWhenNotFresh(ctx);
      const budget = saveBudget(world, account, settings);
      note(world, ctx, account, 'budget_changed', null, { ...settings });
      ctx.body = presentBudget(budget);
    }),
  );
}
