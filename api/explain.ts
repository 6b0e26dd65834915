import { explainEntry } from '../adapters/postgres/explain-entry.js';
import type { Explanation } from '../domain/explanation.js';
import { Refusal } from '../domain/refusal.js';
import { sessionOf, type ApiDeps, type ApiRouter } from './context.js';
import { requireSession, type Step } from './middleware/session.js';

/** Why a ledger entry is there: the sums with the numbers filled in, and the documents behind it (decision 65). */
export function explainRoutes(router: ApiRouter, deps: ApiDeps): void {
  router.get('/v1/billing/ledger/:id/explain', requireSession(deps), showExplanation(deps));
}

function showExplanation(deps: ApiDeps): Step {
  return async (ctx) => {
    const { userId } = sessionOf(ctx);
    const { meterShards } = deps.settings;
    const explanation = await explainEntry(deps.db, ctx.params['id'] ?? '', meterShards, userId);
    if (!explanation) {
      throw new Refusal('not_found', 'You have no such ledger entry: GET /v1/billing/ledger lists yours.');
    }
    ctx.body = presentExplanation(explanation);
  };
}

/** Everything but what only operators see: machines by the upstream's ids, workflows, and who did it by hand. */
function presentExplanation(told: Explanation) {
  const { id, type, amountCents, balanceBeforeCents, balanceAfterCents, createdAt } = told.entry;
  const { rentalId, processorChargeId } = told.entry;
  // Instants become ISO texts by Date.toJSON.
  return {
    entry: {
      ...{ id, type, amountCents, balanceBeforeCents, balanceAfterCents, createdAt },
      ...{ rentalId, processorChargeId },
    },
    why: told.why,
    charge: told.charge,
    rentalRefund: told.rentalRefund,
    rental: told.rental,
    payment: told.payment,
    reversal: told.reversal,
    invoice: told.invoice,
    byHand: told.byHand,
  };
}
