import type { EventWorkflow } from '../../domain/payments/processor-routes.js';
import { autoTopupWorkflow } from './auto-topup.js';
import { backfillSchedule, backfillWorkflow } from './backfill.js';
import { closingWorkflow } from './closing.js';
import { cardWorkflow, disputeWorkflow, paymentWorkflow, refundWorkflow } from './events.js';
import { invoiceWorkflow } from './invoice.js';
import {
  mailerWorkflow,
  meterWorkflow,
  providerWatchWorkflow,
  sequencerWorkflow,
  upkeepWorkflow,
  webhookWakerWorkflow,
} from './loops.js';
import { operationWorkflow } from './operation.js';
import { reconcileSchedules, reconcileWorkflow } from './reconcile.js';
import { rentalWorkflow } from './rental.js';
import { restoreWorkflow } from './restore.js';
import { topupWorkflow } from './topup.js';
import { watermarkWorkflow } from './watermark.js';
import { webhookWorkflow } from './webhook.js';
import type { LookingWorkflow, WorkflowSchedule } from './workflow-contract.js';

/** The workflows that follow a row and look at it when they are signalled. */
export const lookingWorkflows = {
  rental: rentalWorkflow,
  topup: topupWorkflow,
  autoTopup: autoTopupWorkflow,
  invoice: invoiceWorkflow,
  payment: paymentWorkflow,
  card: cardWorkflow,
  refund: refundWorkflow,
  dispute: disputeWorkflow,
  webhook: webhookWorkflow,
  closing: closingWorkflow,
} as const satisfies {
  readonly [Type in EventWorkflow | 'rental' | 'webhook' | 'closing']: LookingWorkflow<Type>;
};

/** All contracts, by the name of their workflow. Retired types have none. */
export const contracts = {
  ...lookingWorkflows,
  operation: operationWorkflow,
  restore: restoreWorkflow,
  reconcile: reconcileWorkflow,
  backfill: backfillWorkflow,
  watermark: watermarkWorkflow,
  meter: meterWorkflow,
  providerWatch: providerWatchWorkflow,
  upkeep: upkeepWorkflow,
  mailer: mailerWorkflow,
  sequencer: sequencerWorkflow,
  webhookWaker: webhookWakerWorkflow,
} as const;

/**
 * The schedules by which Temporal itself starts workflows; fast loops live in long workflows instead (design: Temporal
 * 6).
 */
export const schedules: readonly WorkflowSchedule[] = [backfillSchedule, ...reconcileSchedules];

/** The types of workflow that no release since 0.2 starts (workflows/retired.ts). */
export const retiredTypes = ['revive', 'sweep', 'redeliver', 'housekeeping'] as const;
