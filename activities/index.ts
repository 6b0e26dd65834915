import { rememberingAnswers } from '../adapters/peer-error.js';
import { createAwaitPod } from './machines/await-pod.js';
import { createAutoTopupActivities } from './topups/auto-topup.js';
import { createBackfillActivities } from './payments/backfill.js';
import { createCardActivities } from './payments/card.js';
import { createClosingActivities } from './closing/closing.js';
import type { ActivityDeps } from './deps.js';
import { createEventActivities } from './events/sequence.js';
import { guarded } from './guarded.js';
import { createInvoiceActivities } from './invoices/invoice.js';
import { createMailActivities } from './upkeep/mail.js';
import { createMeterActivities } from './metering/meter.js';
import { createChangeRental } from './rentals/change-rental.js';
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
import { createWebhookActivities, createWebhookWaker } from './webhooks/webhook.js';

/**
 * All activities, bound to the outside world, each under its policy (guarded.ts). The policy says whether the activity
 * first asks if the database may be acted on, and what its failures count for. Workflows see the type only.
 */
export function createActivities(given: ActivityDeps) {
  const deps = rememberingPeers(given);
  return {
    ...guarded(deps, { openRental: createOpenRental(deps) }, { openRental: 'answersCaller' }),
    ...guarded(deps, { changeRental: createChangeRental(deps) }, { changeRental: 'answersCaller' }),
    ...guarded(deps, createRentalActivities(deps), {
      lookAtRental: 'looksAtRental',
      startMetering: 'looksAndStepsRental',
      giveUpProvisioning: 'looksAndStepsRental',
      meterRental: 'looksAndStepsRental',
      settleRental: 'looksAndStepsRental',
      closeRental: 'looksAndStepsRental',
    }),
    ...guarded(deps, createPodActivities(deps), {
      findPod: 'stepsRental',
      endPods: 'stepsRental',
    }),
    ...guarded(deps, createAwaitPod(deps), { awaitPod: 'stepsRental' }),
    ...guarded(deps, createMeterActivities(deps), { runMeter: 'neverAsks' }),
    ...guarded(deps, createWatchActivities(deps), { watchProvider: 'neverAsks' }),
    ...guarded(deps, createTopupActivities(deps), {
      openTopup: 'answersCaller',
      lookAtTopup: 'looksAtEvents',
      abandonTopup: 'asksFirst',
    }),
    ...guarded(deps, createAutoTopupActivities(deps), { lookAtAutoTopup: 'looksAtEvents' }),
    ...guarded(deps, createStrayPaymentActivities(deps), { lookAtPayment: 'looksAtEvents' }),
    ...guarded(deps, createInvoiceActivities(deps), { lookAtInvoice: 'looksAtEvents' }),
    ...guarded(deps, createCardActivities(deps), { lookAtCard: 'looksAtEvents' }),
    ...guarded(deps, createClosingActivities(deps), { lookAtClosing: 'looksAtEvents' }),
    ...guarded(deps, createReversalActivities(deps), {
      lookAtRefund: 'looksAtEvents',
      lookAtDispute: 'looksAtEvents',
    }),
    ...guarded(deps, createOperationActivities(deps), { operate: 'answersCaller' }),
    ...guarded(deps, createRefundRentalsActivities(deps), { refundRentals: 'asksFirst' }),
    ...guarded(deps, createBackfillActivities(deps), { backfillEvents: 'asksFirst' }),
    ...guarded(deps, createEventActivities(deps), { runSequencer: 'neverAsks' }),
    ...guarded({ ...deps, db: deps.webhookDb }, createWebhookActivities(deps), {
      lookAtWebhook: 'looksAtEvents',
    }),
    ...guarded(deps, createWebhookWaker(deps), { wakeWebhooks: 'neverAsks' }),
    ...guarded(deps, createMailActivities(deps), { deliverMails: 'neverAsks' }),
    ...guarded(deps, createRestoreActivities(deps), {
      examineRestore: 'neverAsks',
      endClosedRentals: 'neverAsks',
      rebuildPayments: 'neverAsks',
      resumeAfterRestore: 'neverAsks',
    }),
    ...guarded(deps, createUpkeepActivities(deps), {
      runUpkeep: 'neverAsks',
    }),
    ...guarded(deps, createReconcileActivities(deps), {
      beginReconcile: 'asksFirst',
      compareSource: 'asksFirst',
      noteUncompared: 'asksFirst',
      finishReconcile: 'asksFirst',
    }),
  };
}

/**
 * Remembers which peers answer: a peer's failure counts against an item only if the peer answered for others (decision
 * 95, "Outages of a peer").
 */
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
