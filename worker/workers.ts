import type { Logger } from 'pino';
import { Worker, type NativeConnection, type WorkflowBundleWithSourceMap } from '@temporalio/worker';
import { logOfPart } from '../adapters/log.js';
import type { Activities } from '../activities/index.js';
import { taskQueues } from '../domain/task-queues.js';
import { logActivities } from './activity-log.js';
import { traceActivities } from './activity-trace.js';
import { withoutWords } from './plain-failures.js';

export interface WorkersOptions {
  readonly connection: NativeConnection;
  readonly namespace: string;
  readonly bundle: WorkflowBundleWithSourceMap;
  readonly activities: Activities;
  readonly log: Logger;
  /** The identity of their polls at the server; default: the SDK's own. */
  readonly identity?: string;
  /** How long activities may go on after a shutdown of the worker before they are told; loops go on until then. */
  readonly shutdownGraceMs?: number;
}

/** How many activities of each queue run at once (design: Temporal 3). */
const slots = { rentals: 100, upstream: 2_000, meter: 300, mail: 4, webhooks: 300 } as const;

/**
 * How many steps at once run within their workflows' tasks (decision 120, "Steps within a task"). It is half of the
 * tasks that run at once, so that slow steps leave room for the workflows that take none. A step that finds no room is
 * scheduled as an activity of its queue.
 */
const stepsWithinTasks = 20;

/**
 * The longest activation of a workflow, in milliseconds: the longest that there is. The SDK's own limit of 5 s ends the
 * whole process where one activation passes it, because Node 20 aborts when the limit of a `vm` script meets promise
 * hooks. A paused host or a run with thousands of signals reaches it. Beyond the task's time-out the server gives the
 * task to another worker in any case, and a thread that never answers stops polling, which `/readyz` tells.
 */
const activation = { isolateExecutionTimeout: 2 ** 32 - 1 } as const;

/** Short activities end within it; it ends the loops. */
const SHUTDOWN_GRACE_MS = 2_000;

/** Heartbeats are sent at once, so that operators see what a loop does now and not ten seconds ago. */
const timing = {
  shutdownForceTime: '10s',
  maxHeartbeatThrottleInterval: '2s',
  defaultHeartbeatThrottleInterval: '2s',
} as const;

/**
 * Sent less often than the loops': a silent activity is noticed within ten seconds (workflows/activity-proxies.ts) all
 * the same.
 */
const pacedHeartbeats = {
  maxHeartbeatThrottleInterval: '5s',
  defaultHeartbeatThrottleInterval: '5s',
} as const;

/** One worker per queue in this process, so that slow activities never take the slots of quick ones. */
export async function createWorkers(options: WorkersOptions): Promise<Worker[]> {
  const { connection, namespace, activities, bundle, log, identity } = options;
  const { shutdownGraceMs = SHUTDOWN_GRACE_MS } = options;
  const activityLog = logOfPart(log, 'activities');
  const shared = {
    connection,
    namespace,
    activities,
    ...(identity === undefined ? {} : { identity }),
    ...timing,
    shutdownGraceTime: shutdownGraceMs,
    interceptors: { activity: [traceActivities, logActivities(activityLog), withoutWords(activityLog)] },
  };
  return [
    await Worker.create({
      ...shared,
      ...activation,
      taskQueue: taskQueues.rentals,
      workflowBundle: bundle,
      // A dead worker's workflows move to another one after this; the SDK's default is ten seconds.
      stickyQueueScheduleToStartTimeout: '5s',
      maxConcurrentActivityTaskExecutions: slots.rentals,
      maxConcurrentLocalActivityExecutions: stepsWithinTasks,
    }),
    await Worker.create({
      ...shared,
      taskQueue: taskQueues.upstream,
      // Thousands wait here at once, and each heartbeat is a call to the server.
      ...pacedHeartbeats,
      maxConcurrentActivityTaskExecutions: slots.upstream,
    }),
    await Worker.create({
      ...shared,
      taskQueue: taskQueues.meter,
      maxConcurrentActivityTaskExecutions: slots.meter,
    }),
    await Worker.create({
      ...shared,
      taskQueue: taskQueues.mail,
      maxConcurrentActivityTaskExecutions: slots.mail,
    }),
    await Worker.create({
      ...shared,
      taskQueue: taskQueues.webhooks,
      ...pacedHeartbeats,
      maxConcurrentActivityTaskExecutions: slots.webhooks,
    }),
  ];
}
