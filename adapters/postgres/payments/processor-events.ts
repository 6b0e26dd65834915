import type { EventRoute, EventWorkflow } from '../../../domain/payments/processor-routes.js';
import type { ProcessorEvent } from '../../processor/processor.js';
import type { Database } from '../database.js';

/**
 * Keeps an event as it arrived, once: the processor redelivers for days (decision 30, "Reversed payments", reference of
 * its events).
 * @param route the workflow that acts on it; null for an event on which nobody acts, which counts as handled
 * @returns the workflow that must still look at it, null when there is nothing left to do; and whether it is new
 */
export async function insertProcessorEvent(
  db: Database,
  event: ProcessorEvent,
  route: EventRoute | null,
): Promise<{ unhandledBy: EventRoute | null; isNew: boolean }> {
  const { rows } = await db.raw<{ rows: Kept[] }>(
    `with fresh as (
       insert into processor_events
         (id, kind, created_at, livemode, api_version, object, workflow_type, workflow_id, handled_at, note)
       values (:id, :kind, :createdAt, :livemode, :apiVersion, :object, :workflow, :workflowId,
               case when cast(:workflowId as text) is null then clock_ms() end,
               case when cast(:workflowId as text) is null then 'nothing acts on it' end)
       on conflict (id) do nothing
       returning workflow_type, workflow_id, handled_at is not null as handled, true as is_new)
     select * from fresh
     union all
     select workflow_type, workflow_id, handled_at is not null, false from processor_events where id = :id`,
    {
      id: event.id,
      kind: event.kind,
      createdAt: event.createdAt,
      livemode: event.livemode,
      apiVersion: event.apiVersion,
      object: toJsonb(event.object),
      workflow: route?.workflow ?? null,
      workflowId: route?.workflowId ?? null,
    },
  );
  const row = rows[0];
  // A twin of the event is being committed at this moment. Its transaction tells the workflow, and telling twice is
  // harmless.
  if (!row) return { unhandledBy: route, isNew: false };
  const { workflow_type: workflow, workflow_id: workflowId, handled, is_new: isNew } = row;
  const isDone = handled || workflow === null || workflowId === null;
  return { unhandledBy: isDone ? null : { workflow, workflowId }, isNew };
}

interface Kept {
  workflow_type: EventWorkflow | null;
  workflow_id: string | null;
  handled: boolean;
  is_new: boolean;
}

/** jsonb holds no NUL characters: an event with one would be refused and redelivered for days. */
function toJsonb(object: Record<string, unknown>): string {
  return JSON.stringify(object, (_key, value: unknown) =>
    typeof value === 'string' ? value.replaceAll('\0', '') : value,
  );
}
