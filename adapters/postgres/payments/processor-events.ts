import type { EventRoute, EventWorkflow } from '../../../domain/payments/processor-routes.js';
import { idsOfEventSql, isBareSql } from '../../../domain/payments/kept-event.js';
import type { ProcessorEvent } from '../../processor/processor.js';
import { storable } from '../../storable.js';
import type { Database } from '../database.js';
import { runPrepared, type Prepared } from '../prepared.js';

type Values = readonly [
  id: string,
  kind: string,
  createdAt: Date,
  livemode: boolean,
  apiVersion: string | null,
  object: string,
  workflow: EventWorkflow | null,
  workflowId: string | null,
];

const keepEvent: Prepared<Values> = {
  name: 'keep_event',
  sql: `with fresh as (
          insert into processor_events
            (id, kind, created_at, livemode, api_version, object, workflow_type, workflow_id, handled_at, note)
          select $1, $2, $3, $4, $5,
                  case when ${isBareSql('$2::text', '$8::text')} then ${idsOfEventSql('e.object')} else e.object end, $7, $8,
                  case when $8::text is null then clock_ms() end,
                  case when $8::text is null then 'nothing acts on it' end
            from (select $6::jsonb as object) e
          on conflict (id) do nothing
          returning workflow_type, workflow_id, handled_at is not null as handled, true as is_new)
        select * from fresh
        union all
        select workflow_type, workflow_id, handled_at is not null, false from processor_events where id = $1`,
};

/**
 * Keeps an event as it arrived, what no workflow reads as its ids alone, once: the processor redelivers for days (decision 30,
 * "Reversed payments", reference of its events).
 * @param route the workflow that acts on it; null for an event on which nobody acts, which counts as handled
 * @returns the workflow that must still look at it, null when there is nothing left to do; and whether it is new
 */
export async function insertProcessorEvent(
  db: Database,
  event: ProcessorEvent,
  route: EventRoute | null,
): Promise<{ unhandledBy: EventRoute | null; isNew: boolean }> {
  const values = [
    event.id,
    event.kind,
    event.createdAt,
    event.livemode,
    event.apiVersion,
    toJsonb(event.object),
    route?.workflow ?? null,
    route?.workflowId ?? null,
  ] as const;
  const [row] = await runPrepared<Kept, typeof values>(db, keepEvent, values);
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

/** How JSON writes a NUL character. Behind a backslash it may stand for itself. */
const NUL = '\\u0000';

/** jsonb holds no NUL characters: an event with one would be refused and redelivered for days. */
function toJsonb(object: Record<string, unknown>): string {
  const text = JSON.stringify(object);
  if (!text.includes(NUL)) return text;
  return JSON.stringify(object, (_key, value: unknown) =>
    typeof value === 'string' ? storable(value) : value,
  );
}
