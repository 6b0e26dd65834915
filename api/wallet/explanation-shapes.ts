import type { Explanation } from '../../domain/ledger/explanation.js';
import type { Refusal } from '../../domain/refusal.js';
import { noSuchThing } from '../http/not-found.js';
import type { AnswerOf } from '../http/openapi/operation.js';
import type { explainLedgerEntry } from './describe-explain.js';

/** An explanation without what only operators see: the upstream's ids of machines, workflows, and who acted by hand. */
export function presentExplanation(told: Omit<Explanation, 'evidence'>): AnswerOf<typeof explainLedgerEntry> {
  const { id, type, amountCents, balanceBeforeCents, balanceAfterCents, createdAt } = told.entry;
  const { rentalId, processorChargeId } = told.entry;
  // Instants become ISO texts by Date.toJSON.
  return {
    entry: {
      id,
      type,
      amountCents,
      balanceBeforeCents,
      balanceAfterCents,
      createdAt,
      rentalId,
      processorChargeId,
    },
    why: told.why,
    charge: told.charge,
    rentalRefund: told.rentalRefund,
    rental: told.rental,
    payment: told.payment,
    reversal: told.reversal,
    invoice: told.invoice,
    byHand: told.byHand,
  } as unknown as AnswerOf<typeof explainLedgerEntry>;
}

/** The refusal of an id that is nobody's, or another user's (decision 5, "Foreign ids"). */
export function noSuchEntry(): Refusal {
  return noSuchThing('You have no such ledger entry: GET /v1/billing/ledger lists yours.');
}
