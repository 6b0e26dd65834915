import type { ProcessorEvent } from '../processor/processor.js';
import type { Database } from './database.js';

/**
 * Keeps an event as it arrived, once: the processor redelivers for days (decision 30, reference of its events).
 * @param workflowId the workflow that acts on it; null for a kind that nobody acts on, which is handled by that
 * @returns the workflow that must still look at it, null when there is nothing left to do
 */
export async function insertProcessorEvent(
  db: Database,
  event: ProcessorEvent,
  workflowId: string | null,
): Promise<{ unhandledBy: string | null }> {
  const { rows } = await db.raw<{ rows: { workflow_id: string | null; handled: boolean }[] }>(
    `with fresh as (
       insert into processor_events (id, kind, created_at, livemode, api_version, object, workflow_id, handled_at, note)
       values (:id, :kind, :createdAt, :livemode, :apiVersion, :object, :workflowId,
               case when cast(:workflowId as text) is null then clock_ms() end,
               case when cast(:workflowId as text) is null then 'nothing acts on it' end)
       on conflict (id) do nothing
       returning workflow_id, handled_at is not null as handled)
     select * from fresh
     union all
     select workflow_id, handled_at is not null from processor_events where id = :id`,
    {
      id: event.id,
      kind: event.kind,
      createdAt: event.createdAt,
      livemode: event.livemode,
      apiVersion: event.apiVersion,
      object: toJsonb(event.object),
      workflowId,
    },
  );
  const row = rows[0];
  if (!row) return { unhandledBy: workflowId };
  return { unhandledBy: row.handled ? null : row.workflow_id };
}

/** jsonb holds no NUL characters, and an event with one would be refused and redelivered for days. */
function toJsonb(object: Record<string, unknown>): string {
  return JSON.stringify(object, (_key, value: unknown) =>
    typeof value === 'string' ? value.replaceAll('\0', '') : value,
  );
}
