import { operationLimits } from '../domain/operations/limits.js';
import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.js';
import { taskQueues } from '../domain/task-queues.js';

/** Refusals are answers; they are not retried. Everything else is, until its limit. */
const retry = { initialInterval: '200ms', backoffCoefficient: 2, maximumInterval: '30s' } as const;

/**
 * For how long what is retried for ever is tried in one go. Then its workflow has its turn, waits, and goes on by a new
 * run where its history has grown (decision 69, "Items that fail"): money and machines are never given up by it.
 */
const oneGo = '10 minutes';

/** Opening waits for an upstream under the wallet's lock, with a caller waiting: short limits (design: Temporal 4). */
export const opening = proxyActivities<Pick<Activities, 'openRental'>>({
  taskQueue: taskQueues.rentals,
  heartbeatTimeout: '5s',
  startToCloseTimeout: '30s',
  scheduleToCloseTimeout: '60s',
  retry,
});

/**
 * Charging a saved card or opening a payment page: calls of the processor whose answers to a retry are the same. It
 * heartbeats, because a caller waits and a dead worker must be noticed at once.
 */
export const openingTopup = proxyActivities<Pick<Activities, 'openTopup'>>({
  taskQueue: taskQueues.rentals,
  heartbeatTimeout: '5s',
  startToCloseTimeout: '30s',
  scheduleToCloseTimeout: '60s',
  retry,
});

/** Charging for auto-topup: machines wait for it half a minute at most, so a dead worker must be noticed at once. */
export const autoCharging = proxyActivities<Pick<Activities, 'lookAtAutoTopup'>>({
  taskQueue: taskQueues.rentals,
  heartbeatTimeout: '5s',
  startToCloseTimeout: '60s',
  scheduleToCloseTimeout: oneGo,
  retry: { ...retry, maximumInterval: '10s' },
});

/** An invoice's step asks the processor several times in a row. */
export const invoicing = proxyActivities<Pick<Activities, 'lookAtInvoice'>>({
  taskQueue: taskQueues.rentals,
  heartbeatTimeout: '5s',
  startToCloseTimeout: '2 minutes',
  scheduleToCloseTimeout: oneGo,
  retry,
});

/** What operators do by hand: they wait for it, so a dead worker must be noticed at once. */
export const byHand = proxyActivities<Pick<Activities, 'operate'>>({
  taskQueue: taskQueues.rentals,
  heartbeatTimeout: '5s',
  startToCloseTimeout: '30s',
  retry,
});

/** An order of many: a minute's worth of its items in one go. */
export const refunding = proxyActivities<Pick<Activities, 'refundRentals'>>({
  taskQueue: taskQueues.rentals,
  heartbeatTimeout: '10s',
  startToCloseTimeout: '5 minutes',
  scheduleToCloseTimeout: oneGo,
  retry,
});

/** Short steps on rows, retried until they are done: money waits for them. */
export const steps = proxyActivities<
  Pick<
    Activities,
    | 'lookAtRental'
    | 'startMetering'
    | 'giveUpProvisioning'
    | 'meterRental'
    | 'settleRental'
    | 'closeRental'
    | 'lookAtTopup'
    | 'abandonTopup'
    | 'lookAtPayment'
    | 'lookAtCard'
    | 'lookAtRefund'
    | 'lookAtDispute'
    | 'keepHouse'
    | 'tellOfExpiredCards'
    | 'redeliverEvents'
  >
>({ taskQueue: taskQueues.rentals, startToCloseTimeout: '30s', scheduleToCloseTimeout: oneGo, retry });

/** Upkeep reads many rows and asks upstreams: it heartbeats. The next one comes by schedule. */
export const upkeep = proxyActivities<
  Pick<
    Activities,
    | 'reviveWorkflows'
    | 'sweepPods'
    | 'backfillEvents'
    | 'beginReconcile'
    | 'noteUncompared'
    | 'finishReconcile'
  >
>({
  taskQueue: taskQueues.rentals,
  heartbeatTimeout: '10s',
  startToCloseTimeout: '5 minutes',
  retry: { ...retry, maximumAttempts: 3 },
});

/** Comparing pages through a whole account once a day: it heartbeats, and begins anew where it is retried. */
export const comparing = proxyActivities<Pick<Activities, 'compareSource'>>({
  taskQueue: taskQueues.rentals,
  heartbeatTimeout: '10s',
  startToCloseTimeout: '6 hours',
  retry: { ...retry, maximumAttempts: operationLimits.reconcileTries },
});

/** Waiting for upstreams takes minutes: it heartbeats, and a dead worker is noticed within ten seconds. */
export const upstream = proxyActivities<Pick<Activities, 'findPod' | 'awaitPod' | 'endPods'>>({
  taskQueue: taskQueues.upstream,
  heartbeatTimeout: '10s',
  startToCloseTimeout: '1 day',
  scheduleToCloseTimeout: '1 day',
  retry,
});

/** Loops that run for a quarter of an hour and are started again: a dead worker's moves within ten seconds. */
export const loops = proxyActivities<Pick<Activities, 'runMeter' | 'watchProvider' | 'runUpkeep'>>({
  taskQueue: taskQueues.meter,
  heartbeatTimeout: '10s',
  startToCloseTimeout: '20 minutes',
  scheduleToCloseTimeout: '1 hour',
  retry: { ...retry, maximumInterval: '5s' },
});

export const mails = proxyActivities<Pick<Activities, 'deliverMails'>>({
  taskQueue: taskQueues.mail,
  heartbeatTimeout: '10s',
  startToCloseTimeout: '20 minutes',
  scheduleToCloseTimeout: '1 hour',
  retry: { ...retry, maximumInterval: '5s' },
});

/** An operator mends a restored database: thousands of rows, events and machines may have to be compared. */
export const restoring = proxyActivities<
  Pick<Activities, 'examineRestore' | 'endClosedRentals' | 'rebuildPayments' | 'resumeAfterRestore'>
>({ taskQueue: taskQueues.rentals, heartbeatTimeout: '10s', startToCloseTimeout: '30 minutes', retry });
