import { isDeepStrictEqual } from 'node:util';
import {
  ScheduleAlreadyRunning,
  ScheduleOverlapPolicy,
  type Client,
  type ScheduleDescription,
  type ScheduleOptions,
} from '@temporalio/client';
import { msToNumber } from '@temporalio/common/lib/time.js';
import { taskQueues } from '../../domain/task-queues.js';
import { schedules } from '../../workflows/contracts/index.js';
import type { Interval, WorkflowSchedule } from '../../workflows/contracts/workflow-contract.js';

/**
 * Brings the schedules to their wanted state: creates the missing ones and changes those that differ. A schedule that
 * operators have paused stays paused. Several workers may do it at once.
 */
export async function ensureSchedules(client: Client): Promise<void> {
  for (const wanted of schedules) await ensureSchedule(client, optionsOf(wanted));
}

type Wanted = ReturnType<typeof optionsOf>;

function optionsOf({ id, contract, every, offset, args, note }: WorkflowSchedule) {
  return {
    scheduleId: id,
    spec: { intervals: [{ every, ...(offset === undefined ? {} : { offset }) }] },
    // After an outage one run is enough; by default Temporal would make up for a year.
    policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: every },
    action: {
      type: 'startWorkflow',
      workflowType: contract.type,
      workflowId: id,
      taskQueue: taskQueues.rentals,
      args: [...(args as unknown[])],
      staticSummary: note,
      staticDetails: `Started every ${every} by the schedule "${id}". One that fails is made good by the next.`,
    },
    state: { note },
  } satisfies ScheduleOptions;
}

async function ensureSchedule(client: Client, wanted: Wanted): Promise<void> {
  try {
    await client.schedule.create(wanted);
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    const handle = client.schedule.getHandle(wanted.scheduleId);
    if (isAsWanted(await handle.describe(), wanted)) return;
    const { spec, policies, action, state } = wanted;
    // Only operators decide whether it is paused.
    await handle.update((now) => ({ ...now, spec, policies, action, state: { ...now.state, ...state } }));
  }
}

function isAsWanted({ spec, policies, action, state }: ScheduleDescription, wanted: Wanted): boolean {
  const ms = (interval: { every: Interval | number; offset?: Interval | number | undefined }) => [
    msToNumber(interval.every),
    msToNumber(interval.offset ?? 0),
  ];
  const { workflowType, workflowId, taskQueue, args, staticSummary, staticDetails } = action;
  return isDeepStrictEqual(
    {
      intervals: (spec.intervals ?? []).map((interval) => ms(interval as { every: number })),
      policies: [policies.overlap, policies.catchupWindow],
      action: [workflowType, workflowId, taskQueue, args ?? [], staticSummary, staticDetails],
      note: state.note,
      others: [spec.calendars ?? [], spec.skip ?? []].flat().length,
    },
    {
      intervals: wanted.spec.intervals.map(ms),
      policies: [wanted.policies.overlap, msToNumber(wanted.policies.catchupWindow)],
      action: [
        wanted.action.workflowType,
        wanted.action.workflowId,
        wanted.action.taskQueue,
        wanted.action.args,
        wanted.action.staticSummary,
        wanted.action.staticDetails,
      ],
      note: wanted.state.note,
      others: 0,
    },
  );
}
