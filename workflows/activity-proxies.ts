import { operationLimits } from '../domain/operations/limits.js';
import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.js';
import { taskQueues } from '../domain/task-queues.js';

/** Refusals are answers, and are not retried. Everything else is retried until its limit. */
const retry = { initialInterval: '200ms', backoffCoefficient: 2, maximumInterval: '30s' } as const;

/**
 * How long one go of an activity that is retried for ever lasts. Then its workflow has its turn, waits, and goes on by
 * a new run if its history has grown (decision 69, "Items that fail"). Money and machines are never given up by this
 * limit.
 */
const oneGo = '10 minutes';

/**
 * Opening waits for an upstream under the wallet's lock while a caller waits: its limits are short (design: Temporal
 * 4).
 */
export const opening = proxyActivities<Pick<Activities, 'openRental'>>({
  taskQueue: taskQueues.rentals,
  heartbeatTimeout: '5s',
  startToCloseTimeout: '30s',
  scheduleToCloseTimeout: '60s',
  retry,
});

/** Changes a rental's limits. A caller waits for it, so a dead worker must be noticed at once. */
export const changing = proxyActivities<Pick<Activities, 'changeRental'>>({
  taskQueue: taskQueues.rentals,
  heartbeatTimeout: '5s',
  startToCloseTimeout: '30s',
  scheduleToCloseTimeout: '60s',
  retry,
});

/**
 * Charges a saved card or opens a payment page. The processor answers a retry of these calls the same. It heartbeats,
 * because a caller waits and a dead worker must be noticed at once.
 */
export const openingTopup = proxyActivities<Pick<Activities, 'openTopup'>>({
  taskQueue: taskQueues.rentals,
  heartbeatTimeout: '5s',
  startToCloseTimeout: '30s',
  scheduleToCloseTimeout: '60s',
  retry,
});

/** Charges for auto-topup. Machines wait for it half a minute at most, so a dead worker must be noticed at once. */
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

/** Closes an account: a step asks the processor once for each payment. */
export const closingSteps = proxyActivities<Pick<Activities, 'lookAtClosing'>>({
  taskQueue: taskQueues.rentals,
  heartbeatTimeout: '10s',
  startToCloseTimeout: '5 minutes',
  scheduleToCloseTimeout: oneGo,
  retry,
});

/** Does operators' orders. They wait for it, so a dead worker must be noticed at once. */
export const byHand = proxyActivities<Pick<Activities, 'operate'>>({
  taskQueue: taskQueues.rentals,
  heartbeatTimeout: '5s',
  startToCloseTimeout: '30s',
  retry,
});

/** Does an order of many: a minute's worth of its items in one go. */
export const refunding = proxyActivities<Pick<Activities, 'refundRentals'>>({
  taskQueue: taskQueues.rentals,
  heartbeatTimeout: '10s',
  startToCloseTimeout: '5 minutes',
  scheduleToCloseTimeout: oneGo,
  retry,
});

/** Takes short steps on rows, retried until they are done, because money waits for them. */
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
  >
>({ taskQueue: taskQueues.rentals, startToCloseTimeout: '30s', scheduleToCloseTimeout: oneGo, retry });

/** The beginning and the end of a comparison: they read many rows, and heartbeat. The next one comes by schedule. */
export const bookkeeping = proxyActivities<
  Pick<Activities, 'beginReconcile' | 'noteUncompared' | 'finishReconcile'>
>({
  taskQueue: taskQueues.rentals,
  heartbeatTimeout: '10s',
  startToCloseTimeout: '5 minutes',
  retry: { ...retry, maximumAttempts: 3 },
});

/**
 * Reads on in the processor's list. After an outage of days it holds more pages than any short limit has time for, so a
 * try goes on where the one before it ended; the schedule starts no other meanwhile.
 */
export const backfilling = proxyActivities<Pick<Activities, 'backfillEvents'>>({
  taskQueue: taskQueues.rentals,
  heartbeatTimeout: '10s',
  startToCloseTimeout: '6 hours',
  scheduleToCloseTimeout: '6 hours',
  retry,
});

/** Pages through a whole account once a day to compare it. It heartbeats, and a retry begins anew. */
export const comparing = proxyActivities<Pick<Activities, 'compareSource'>>({
  taskQueue: taskQueues.rentals,
  heartbeatTimeout: '10s',
  startToCloseTimeout: '6 hours',
  retry: { ...retry, maximumAttempts: operationLimits.reconcileTries },
});

/** Waits for upstreams, which takes minutes. It heartbeats, and a dead worker is noticed within ten seconds. */
export const upstream = proxyActivities<Pick<Activities, 'findPod' | 'awaitPod' | 'endPods'>>({
  taskQueue: taskQueues.upstream,
  heartbeatTimeout: '10s',
  startToCloseTimeout: '1 day',
  scheduleToCloseTimeout: '1 day',
  retry,
});

/** Runs loops of a quarter of an hour, which are started again. A dead worker's loop moves within ten seconds. */
export const loops = proxyActivities<
  Pick<Activities, 'runMeter' | 'runSequencer' | 'wakeWebhooks' | 'runUpkeep'>
>({
  taskQueue: taskQueues.meter,
  heartbeatTimeout: '10s',
  startToCloseTimeout: '20 minutes',
  scheduleToCloseTimeout: '1 hour',
  retry: { ...retry, maximumInterval: '5s' },
});

/** Watches an upstream likewise, and finishes the list that it reads: 100,000 machines, page by page, take over an hour. */
export const watching = proxyActivities<Pick<Activities, 'watchProvider'>>({
  taskQueue: taskQueues.meter,
  heartbeatTimeout: '10s',
  startToCloseTimeout: '3 hours',
  scheduleToCloseTimeout: '6 hours',
  retry: { ...retry, maximumInterval: '5s' },
});

export const mails = proxyActivities<Pick<Activities, 'deliverMails'>>({
  taskQueue: taskQueues.mail,
  heartbeatTimeout: '10s',
  startToCloseTimeout: '20 minutes',
  scheduleToCloseTimeout: '1 hour',
  retry: { ...retry, maximumInterval: '5s' },
});

/**
 * Sends events to a user's endpoint: half a minute and one exchange, after a wait for a slot while many endpoints hang.
 */
export const sendingWebhooks = proxyActivities<Pick<Activities, 'lookAtWebhook'>>({
  taskQueue: taskQueues.webhooks,
  heartbeatTimeout: '10s',
  startToCloseTimeout: '2 minutes',
  scheduleToCloseTimeout: oneGo,
  retry,
});

/**
 * Mends a restored database for an operator: a hundred thousand rows, events and machines may have to be compared. A try
 * goes on where the one before it ended.
 */
export const restoring = proxyActivities<
  Pick<Activities, 'examineRestore' | 'endClosedRentals' | 'rebuildPayments' | 'resumeAfterRestore'>
>({ taskQueue: taskQueues.rentals, heartbeatTimeout: '10s', startToCloseTimeout: '6 hours', retry });
