import { backfilling } from './activity-proxies.js';

/** Scheduled: takes in events of the processor that never arrived. */
export const backfill = () => backfilling.backfillEvents();
