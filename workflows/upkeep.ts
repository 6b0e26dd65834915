import { steps, upkeep } from './activity-proxies.js';

/** Scheduled: starts the workflow of every unfinished row that has none (design: Temporal 7). */
export const revive = () => upkeep.reviveWorkflows();

/** Scheduled: ends pods that no live rental owns. */
export const sweep = () => upkeep.sweepPods();

/** Scheduled: signals workflows whose events of the processor have waited. */
export const redeliver = () => steps.redeliverEvents();

/** Scheduled: raises the watermark and removes what has expired. */
export const housekeeping = () => steps.keepHouse();

/** Scheduled: takes in events of the processor that never arrived. */
export const backfill = () => upkeep.backfillEvents();
