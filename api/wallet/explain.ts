import * as declared from './describe-explain.js';
import { serve, type Handler } from '../http/serve.js';
import { explainEntry } from '../../adapters/postgres/explain/explain-entry.js';
import { callerOf, onlyOf, type ApiDeps, type ApiRouter } from '../context.js';
import { noSuchEntry, presentExplanation } from './explanation-shapes.js';

/**
 * The route that explains a ledger entry: the sums with their numbers, and the documents behind it (decision 65,
 * "Explained cents").
 */
export function explainRoutes(router: ApiRouter, deps: ApiDeps): void {
  serve(router, deps, declared.explainLedgerEntry, showExplanation(deps));
}

function showExplanation(deps: ApiDeps): Handler<typeof declared.explainLedgerEntry> {
  return async (ctx) => {
    const { userId } = callerOf(ctx);
    const { meterShards } = deps.settings;
    const explanation = await explainEntry(deps.db, ctx.params['id'] ?? '', meterShards, userId, onlyOf(ctx));
    if (!explanation) throw noSuchEntry();
    return presentExplanation(explanation);
  };
}
