import * as declared from './describe.js';
import { serve, type Handler } from '../http/serve.js';
import { readBudget, saveBudget, type BudgetSettings } from '../../adapters/postgres/spending/budgets.js';
import { formatUsd } from '../../domain/money.js';
import { insertAuditEvent } from '../../adapters/postgres/accounts/audit-events.js';
import { noteSetup, refuseRaiseByKey, settingUp } from '../api-keys/setup.js';
import { auditEvent } from '../accounts/audit-event.js';
import { refuseWhenNotFresh } from '../accounts/fresh-proof.js';
import { callerOf, type ApiDeps, type ApiRouter } from '../context.js';
import { isLoosened, presentBudget, readBudgetSettings } from './budget-shapes.js';

/** The budget of an account for a month (decision 109, "Caps and budgets"). */
export function budgetRoutes(router: ApiRouter, deps: ApiDeps): void {
  serve(router, deps, declared.showBudget, showBudget(deps));
  serve(router, deps, declared.putBudget, putBudget(deps));
}

function showBudget(deps: ApiDeps): Handler<typeof declared.showBudget> {
  return async (ctx) => {
    return presentBudget(await readBudget(deps.db, callerOf(ctx).userId));
  };
}

/** Sets the budget. Whoever loosens a hard one shows first who they are, as for the cap of a key. */
function putBudget(deps: ApiDeps): Handler<typeof declared.putBudget> {
  return async (ctx) => {
    const settings = readBudgetSettings(ctx);
    const { userId } = callerOf(ctx);
    const budget = await settingUp(ctx, deps.db, async (trx) => {
      const saved = await saveBudget(trx, userId, settings, (before) => {
        refuseRaiseByKey(ctx, before, settings);
        if (isLoosened(before, settings)) refuseWhenNotFresh(ctx);
      });
      await insertAuditEvent(
        trx,
        auditEvent(ctx, { userId, kind: 'budget_changed', details: { ...settings } }),
      );
      await noteSetup(trx, ctx, 'budget_changed', wordsOf(settings));
      return saved;
    });
    return presentBudget(budget);
  };
}

/** A budget in a mail. */
function wordsOf({ monthlyCents, hard }: BudgetSettings): string {
  return `${monthlyCents === null ? 'none' : formatUsd(monthlyCents)} a month${hard ? ', hard' : ''}`;
}
