import { explainEntry } from '../../adapters/postgres/explain/explain-entry.js';
import { callerOf, onlyOf, type ApiDeps, type ApiRouter } from '../context.js';
import { requireCaller } from '../http/middleware/caller.js';
import type { Step } from '../http/middleware/session.js';
import { noSuchEntry, presentExplanation } from './explanation-shapes.js';

/**
 * The route that explains a ledger entry: the sums with their numbers, and the documents behind it (decision 65,
 * "Explained cents").
 */
export function explainRoutes(router: ApiRouter, deps: ApiDeps): void {
  router.get('/v1/billing/ledger/:id/explain', requireCaller(deps, 'billing'), showExplanation(deps));
}

function showExplanation(deps: ApiDeps): Step {
  return async (ctx) => {
    const { userId } = callerOf(ctx);
    const { meterShards } = deps.settings;
    const explanation = await explainEntry(deps.db, ctx.params['id'] ?? '', meterShards, userId, onlyOf(ctx));
    if (!explanation) throw noSuchEntry();
    ctx.body = presentExplanation(explanation);
  };
}
