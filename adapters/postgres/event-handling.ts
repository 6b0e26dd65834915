import type { Database } from './database.js';

/** Ids of the stored events that wait for this workflow. */
export async function listUnhandledEvents(db: Database, workflowId: string): Promise<string[]> {
  const rows = await db('processor_events')
    .where({ workflow_id: workflowId })
    .whereNull('handled_at')
    .select('id');
  return rows.map(({ id }) => id);
}

export async function markHandled(db: Database, ids: readonly string[], note: string): Promise<void> {
  if (ids.length === 0) return;
  await db('processor_events')
    .whereIn('id', ids)
    .whereNull('handled_at')
    .update({ handled_at: db.raw('clock_ms()'), note });
}

/** Workflows for which an event has waited for longer than this: its signal was lost. */
export async function listWorkflowsWithWaitingEvents(db: Database, olderThanMs: number): Promise<string[]> {
  const { rows } = await db.raw<{ rows: { workflow_id: string }[] }>(
    `select distinct workflow_id from processor_events
      where handled_at is null and workflow_id is not null
        and received_at < clock_ms() - :olderThanMs * interval '1 millisecond'
      limit 1000`,
    { olderThanMs },
  );
  return rows.map((row) => row.workflow_id);
}
