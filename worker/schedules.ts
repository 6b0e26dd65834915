import { ScheduleAlreadyRunning, ScheduleOverlapPolicy, type Client } from '@temporalio/client';
import { taskQueues } from '../domain/task-queues.js';

type Duration = `${number}${'s' | 'm' | 'h'}`;

interface ScheduleSpec {
  readonly id: string;
  readonly workflow: string;
  readonly every: Duration;
  /** From midnight in UTC. */
  readonly offset?: Duration;
  readonly args?: readonly unknown[];
  readonly note: string;
}

/** What is done at intervals; fast loops live in long workflows instead (design: Temporal 6). */
const schedules: readonly ScheduleSpec[] = [
  {
    id: 'revive',
    workflow: 'revive',
    every: '30s',
    note: 'Starts the workflow of every unfinished row that has none.',
  },
  { id: 'sweep', workflow: 'sweep', every: '60s', note: 'Ends pods that no live rental owns.' },
  {
    id: 'redeliver',
    workflow: 'redeliver',
    every: '10s',
    note: 'Signals workflows whose events have waited.',
  },
  {
    id: 'backfill',
    workflow: 'backfill',
    every: '5m',
    note: 'Takes in events of the processor that never arrived.',
  },
  {
    id: 'reconcile',
    workflow: 'reconcile',
    every: '15m',
    args: [{ scope: 'window' }],
    note: 'Compares our books, the processor and the upstreams over the last hours.',
  },
  {
    id: 'reconcile-full',
    workflow: 'reconcile',
    every: '24h',
    offset: '3h',
    args: [{ scope: 'full' }],
    note: 'Compares all of our books with the processor, and walks every wallet.',
  },
  {
    id: 'housekeeping',
    workflow: 'housekeeping',
    every: '60s',
    note: 'Raises the watermark, removes what expired.',
  },
];

/** Creates the schedules that do not exist yet. Several workers may do it at once. */
export async function ensureSchedules(client: Client): Promise<void> {
  for (const { id, workflow, every, offset, args, note } of schedules) {
    try {
      await client.schedule.create({
        scheduleId: id,
        spec: { intervals: [{ every, ...(offset === undefined ? {} : { offset }) }] },
        // After an outage one run is enough; the default would make up for a year.
        policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: every },
        action: {
          type: 'startWorkflow',
          workflowType: workflow,
          workflowId: id,
          taskQueue: taskQueues.rentals,
          args: [...(args ?? [])],
          staticSummary: note,
          staticDetails: `Started every ${every} by the schedule "${id}". One that fails is made good by the next.`,
        },
        state: { note },
      });
    } catch (error) {
      if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    }
  }
}
