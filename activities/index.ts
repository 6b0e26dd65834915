import { rememberingAnswers } from '../adapters/peer-error.js';
import { askingFirst } from './ask-first.js';
import { createAwaitPod } from './machines/await-pod.js';
import { createAutoTopupActivities } from './topups/auto-topup.js';
import { createBackfillActivities } from './payments/backfill.js';
import { createCardActivities } from './payments/card.js';
import type { ActivityDeps } from './deps.js';
import { createInvoiceActivities } from './invoices/invoice.js';
import { createMailActivities } from './upkeep/mail.js';
import { createMeterActivities } from './metering/meter.js';
import { noticing } from './noticing.js';
import { createOpenRental } from './rentals/open-rental.js';
import { createOperationActivities } from './operations/operation.js';
import { createPodActivities } from './machines/pods.js';
import { createReconcileActivities } from './reconcile/reconcile.js';
import { createRefundRentalsActivities } from './operations/refund-rentals.js';
import { createRestoreActivities } from './restore/restore.js';
import { createRentalActivities } from './rentals/rental.js';
import { createReversalActivities } from './payments/reversals.js';
import { createStrayPaymentActivities } from './payments/stray-payment.js';
import { createTopupActivities } from './topups/topup.js';
import { createUpkeepActivities } from './upkeep/upkeep.js';
import { createWatchActivities } from './machines/watch.js';

/** All activities, bound to the outside world; each asks first whether the database may be acted on,
 * and notes what fails. Workflows see the type only. */
export function createActivities(given: ActivityDeps) {
  const deps = rememberingPeers(given);
  const activities = {
    openRental: createOpenRental(deps),
    ...createRentalActivities(deps),
    ...createPodActivities(deps),
    ...createAwaitPod(deps),
    ...createMeterActivities(deps),
    ...createWatchActivities(deps),
    ...createTopupActivities(deps),
    ...createAutoTopupActivities(deps),
    ...createStrayPaymentActivities(deps),
    ...createInvoiceActivities(deps),
    ...createCardActivities(deps),
    ...createReversalActivities(deps),
    ...createOperationActivities(deps),
    ...createRefundRentalsActivities(deps),
    ...createBackfillActivities(deps),
    ...createMailActivities(deps),
    ...createRestoreActivities(deps),
    ...createUpkeepActivities(deps),
    ...createReconcileActivities(deps),
  };
  return askingFirst(deps, noticing(deps, activities));
}

/** What one peer's failures say of an item depends on whether it answered for others (decision 95). */
function rememberingPeers(deps: ActivityDeps): ActivityDeps {
  const providers = [...deps.providers].map(([code, provider]) => {
    return [code, rememberingAnswers(provider, ['pace'])] as const;
  });
  return {
    ...deps,
    processor: rememberingAnswers(deps.processor),
    providers: new Map(providers),
    mail: rememberingAnswers(deps.mail, ['close']),
  };
}

export type Activities = ReturnType<typeof createActivities>;
