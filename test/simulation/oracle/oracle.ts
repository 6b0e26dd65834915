import { judgeHooks } from './hooks.js';
import type { Evidence, Judge } from './evidence.js';
import { judgeArrivals } from './arrivals.js';
import { judgeBills } from './bills.js';
import { judgeCards } from './cards.js';
import { judgeClosings } from './closings.js';
import { judgeConservation } from './conservation.js';
import { judgeAnswers } from './answers.js';
import { judgeChanges } from './changes.js';
import { judgeEvents } from './events.js';
import { judgeFindings } from './findings.js';
import { judgeIdleness } from './idle.js';
import { judgeKeys } from './keys.js';
import { judgeLedgers } from './ledgers.js';
import { judgeMachines } from './machines.js';
import { judgeMails, judgeReceipts } from './mails.js';
import { judgeMoneyEvents } from './money-events.js';
import { judgeMoney, judgeUnpaid } from './money.js';
import { judgeOpenings } from './openings.js';
import { judgeOperators } from './operators.js';
import { judgePayments } from './payments.js';
import { judgeProgress } from './progress.js';
import { judgeRefused } from './refused.js';
import { judgeRentals } from './rentals.js';
import { judgeLostStops } from './restored.js';
import { judgeMarks, judgeReversals } from './reversals.js';

const judges: readonly Judge[] = [
  judgeLedgers,
  judgePayments,
  judgeClosings,
  judgeCards,
  judgeReversals,
  judgeMarks,
  judgeConservation,
  judgeArrivals,
  judgeRentals,
  judgeBills,
  judgeMoney,
  judgeUnpaid,
  judgeMachines,
  judgeProgress,
  judgeEvents,
  judgeMoneyEvents,
  judgeKeys,
  judgeChanges,
  judgeAnswers,
  judgeHooks,
  judgeOperators,
  judgeOpenings,
  judgeFindings,
  judgeMails,
  judgeReceipts,
  judgeIdleness,
  judgeRefused,
];

/**
 * What holds after a restore as well: the processor and the upstreams have gone on, so no cent and no machine of the lost
 * time may be lost with it.
 */
const judgesOfRestored: readonly Judge[] = [
  judgeLedgers,
  judgePayments,
  judgeClosings,
  judgeReversals,
  judgeConservation,
  judgeBills,
  judgeUnpaid,
  judgeMachines,
  judgeProgress,
  judgeFindings,
  judgeRefused,
];

/**
 * Judges a run by what must be true of it (shared spec and DECISIONS.md), and by what truly happened outside. It imports
 * nothing of the code that it judges, and reads the database by statements of its own.
 * @returns each violation in words; none: the run is as it must be
 */
export async function judge(evidence: Evidence): Promise<string[]> {
  const found = await Promise.all(judges.map((one) => one(evidence)));
  return [...found.flat(), ...evidence.told.strange];
}

/** Judges a run after its database was restored from a copy and reconciled, in the same way. */
export async function judgeRestored(
  evidence: Evidence,
  lost: Parameters<typeof judgeLostStops>[1],
): Promise<string[]> {
  const found = await Promise.all([
    ...judgesOfRestored.map((one) => one(evidence)),
    judgeLostStops(evidence, lost),
  ]);
  return found.flat().map((violation) => `after the restore: ${violation}`);
}
