import type { EventRoute } from '../../../domain/payments/processor-routes.js';
import type { Database } from '../database.js';
import { hasNoFreshSignal } from '../upkeep/look-signals.js';
import { isNotWaiting } from '../upkeep/stuck-items.js';
import type { ProcessorEventRow } from '../rows/tables.js';

export type WaitingEvent = Pick<ProcessorEventRow, 'id' | 'kind' | 'created_at' | 'object'>;

/** Lists the stored events that wait for this workflow, oldest first. */
export async function listUnhandledEvents(db: Database, workflowId: string): Promise<WaitingEvent[]> {
  return db('processor_events')
    .where({ workflow_id: workflowId })
    .whereNull('handled_at')
    .orderBy('created_at')
    .orderBy('id')
    .select('id', 'kind', 'created_at', 'object');
}

/** Lists every kind of event that was stored for this workflow in this time until now, handled or not. */
export async function listEventKinds(
  db: Database,
  workflowId: string,
  withinMs: number,
): Promise<Set<string>> {
  const rows = await db('processor_events')
    .where({ workflow_id: workflowId })
    .whereRaw(`received_at between clock_ms() - ?::bigint * interval '1 millisecond' and clock_ms()`, [
      withinMs,
    ])
    .distinct('kind');
  return new Set(rows.map(({ kind }) => kind));
}

export async function markHandled(
  db: Database,
  events: readonly Pick<WaitingEvent, 'id'>[],
  note: string,
): Promise<void> {
  if (events.length === 0) return;
  await db('processor_events')
    .whereIn(
      'id',
      events.map(({ id }) => id),
    )
    .whereNull('handled_at')
    .update({ handled_at: db.raw('clock_ms()'), note });
}

/**
 * Lists workflows for which an event has waited for longer than this, because its signal was lost; the longest waits
 * come first. It leaves out a workflow that was told and has not looked yet, or whose look failed lately (decision 69,
 * "Items that fail").
 */
export async function listWorkflowsWithWaitingEvents(
  db: Database,
  olderThanMs: number,
): Promise<EventRoute[]> {
  const { rows } = await db.raw<{ rows: EventRoute[] }>(
    `select workflow_type as workflow, workflow_id as "workflowId" from processor_events e
      where handled_at is null and workflow_id is not null
        and (received_at < (select clock_ms()) - :olderThanMs * interval '1 millisecond'
             -- By a clock that was set back since.
             or received_at > (select clock_ms()))
        and ${isNotWaiting('workflow', 'e.workflow_id')} and ${hasNoFreshSignal('e.workflow_id')}
      group by workflow_type, workflow_id order by min(received_at) limit 1000`,
    { olderThanMs },
  );
  return rows;
}
