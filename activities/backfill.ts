import { moveEventCursor, readEventCursor } from '../adapters/postgres/event-cursor.js';
import { insertProcessorEvent } from '../adapters/postgres/processor-events.js';
import { eventPages } from '../adapters/processor/event-pages.js';
import { tellWorkflow } from '../adapters/temporal/tell-workflow.js';
import { limits } from '../domain/limits.js';
import { routeOf } from '../domain/processor-routes.js';
import type { ActivityDeps } from './deps.js';
import { ONE_CALL_MS, withHeartbeat, type Tell } from './heartbeat.js';

/** Reads what the processor says that it sent, and takes in what never arrived. */
export function createBackfillActivities(deps: ActivityDeps) {
  return {
    /** Feeds events that were missed since the last time, at most 30 days, through the webhook's own door. */
    async backfillEvents(): Promise<{ read: number; missed: number }> {
      if (!deps.processor.enabled) return { read: 0, missed: 0 };
      return withHeartbeat((tell) => backfill(deps, tell), { stalledAfterMs: ONE_CALL_MS });
    },
  };
}

async function backfill(deps: ActivityDeps, tell: Tell): Promise<{ read: number; missed: number }> {
  const { db, processor } = deps;
  const { seenUntil, now } = await readEventCursor(db);
  const earliestMs = now.getTime() - limits.eventsKeptMs;
  // Events of one moment become visible one after the other, so a while is read again.
  const since = new Date(Math.max(earliestMs, seenUntil.getTime() - limits.eventsOverlapMs));
  let read = 0;
  let missed = 0;
  for await (const events of eventPages(processor, since)) {
    for (const event of events) {
      const { unhandledBy, isNew } = await insertProcessorEvent(db, event, routeOf(event));
      if (!isNew) continue;
      missed += 1;
      tell({ read, missed });
      if (unhandledBy !== null) await tellWorkflow(deps.temporal.workflow, unhandledBy);
    }
    read += events.length;
    tell({ read, missed });
  }
  if (missed > 0) deps.log.warn({ read, missed, since }, 'events of the processor had never arrived');
  await moveEventCursor(db, now);
  return { read, missed };
}
