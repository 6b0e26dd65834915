import { patched } from '@temporalio/workflow';
import { steps, upkeep } from './activity-proxies.js';

/**
 * Workflows that schedules of release 0.1 started; the loops `upkeep:<duty>` do their work now. They stay so that open
 * runs end, and for operators who want a round by hand.
 */

/** Starts the workflow of every unfinished row that has none (design: Temporal 7). */
export const revive = () => upkeep.reviveWorkflows();

/** Ends pods that no live rental owns. */
export const sweep = () => upkeep.sweepPods();

/** Signals workflows whose events of the processor have waited. */
export const redeliver = () => steps.redeliverEvents();

/**
 * Raises the watermark and removes what has expired, and tells users whose card has expired. The two are apart, so that
 * a mail that can't be written never delays the watermark, by which a restored database is noticed.
 */
export async function housekeeping(): Promise<Housekeeping> {
  const kept = await steps.keepHouse();
  // Runs that began before this step was added end with the one step (docs/operations/deploying.md).
  return patched(cardsApart) ? { ...kept, ...(await steps.tellOfExpiredCards()) } : kept;
}

const cardsApart = 'housekeeping-cards-apart';

interface Housekeeping {
  readonly watermark: number;
  readonly removed: number;
  readonly expiredCards?: number;
}

/** Scheduled: takes in events of the processor that never arrived. */
export const backfill = () => upkeep.backfillEvents();
