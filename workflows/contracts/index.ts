import type { EventWorkflow } from '../../domain/payments/processor-routes.js';
import { autoTopupWorkflow } from './auto-topup.js';
import { backfillSchedule, backfillWorkflow } from './backfill.js';
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
} as const satisfies { readonly [Type in EventWorkflow | 'rental' | 'webhook']: LookingWorkflow<Type> };

/** All contracts, by the name of their workflow. The rounds of the upkeep by hand have none (workflows/upkeep.ts). */
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

/** Schedules of release 0.1: loops of the upkeep do their work now (workflows/loops.ts). */
export const retiredSchedules = ['revive', 'sweep', 'redeliver', 'housekeeping'] as const;
