import type { WorkflowExecutionDescription } from '@temporalio/client';

/** Whether a workflow has nothing to do until a signal or a timer comes: no task and no activity of it is open. */
export function onlyWaits({ raw }: WorkflowExecutionDescription): boolean {
  return !raw.pendingWorkflowTask && (raw.pendingActivities?.length ?? 0) === 0;
}
