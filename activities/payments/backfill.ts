import { isUnacceptable } from '../../adapters/postgres/availability.js';
import { moveEventCursor, readEventCursor } from '../../adapters/postgres/payments/event-cursor.js';
import { insertProcessorEvent } from '../../adapters/postgres/payments/processor-events.js';
import { eventPages } from '../../adapters/processor/event-pages.js';
import type { ProcessorEvent } from '../../adapters/processor/processor.js';
import { paymentLimits } from '../../domain/payments/limits.js';
import { routeOf, sentKinds, type EventRoute } from '../../domain/payments/processor-routes.js';
import type { ActivityDeps } from '../deps.js';
import { eachItem } from '../each-item.js';
import { ONE_CALL_MS, withHeartbeat, type Tell } from '../heartbeat.js';
import { signalLooks } from '../upkeep/signal-looks.js';

/** Reads the events that the processor has sent, and takes in those that never arrived. */
export function createBackfillActivities(deps: ActivityDeps) {
  return {
    /** Feeds events that were missed since the last time, at most 30 days back, through the webhook's own door. */
    async backfillEvents(): Promise<{ read: number; missed: number }> {
      if (!deps.processor.enabled) return { read: 0, missed: 0 };
      return withHeartbeat((tell) => backfill(deps, tell), { stalledAfterMs: ONE_CALL_MS });
    },
  };
}

async function backfill(deps: ActivityDeps, tell: Tell): Promise<{ read: number; missed: number }> {
  const { db, processor } = deps;
  const { seenUntil, now } = await readEventCursor(db);
  const earliestMs = now.getTime() - paymentLimits.eventsKeptMs;
  // Events of one moment become visible one after the other, so a while is read again.
  const since = new Date(Math.max(earliestMs, seenUntil.getTime() - paymentLimits.eventsOverlapMs));
  let read = 0;
  let missed = 0;
  let failed = 0;
  for await (const listed of eventPages(processor, since)) {
    // The list cannot be asked for so many kinds at once, and an event of another one is never sent.
    const events = listed.filter(({ kind }) => sentKinds.has(kind));
    const taken = await recordEvents(deps, events, tell);
    read += events.length;
    missed += taken.missed;
    failed += taken.failed;
    tell({ read, missed, failed });
  }
  if (missed > 0)
    deps.log.warn({ read, missed, since }, 'events of the processor never arrived; they are fetched now');
  // An event that could not be taken in is read again: the next time begins where this one began, for as long as the
  // processor keeps the event.
  if (failed === 0) await moveEventCursor(db, now);
  return { read, missed };
}

/** Records events; one that can't be taken in keeps no other from it (decision 69, "Items that fail"). */
async function recordEvents(
  deps: ActivityDeps,
  events: readonly ProcessorEvent[],
  tell: Tell,
): Promise<{ missed: number; failed: number }> {
  const fresh: EventRoute[] = [];
  let missed = 0;
  const taken = await eachItem(
    deps,
    { duty: 'event', items: events, keyOf: ({ id }) => id, tell },
    async (event) => {
      const { unhandledBy, isNew } = await recordEvent(deps, event);
      if (!isNew) return;
      missed += 1;
      if (unhandledBy !== null) fresh.push(unhandledBy);
    },
  );
  await signalLooks(deps, fresh, { tell });
  return { missed, failed: events.length - taken.length };
}

/**
 * Records one event. An event that the database can't hold is skipped: it would fail each time and keep the cursor back
 * until the processor forgets it, and each round would read everything after it again. Operators are told of it. An
 * event that the webhook brought is put aside.
 */
async function recordEvent(
  { db, log }: ActivityDeps,
  event: ProcessorEvent,
): ReturnType<typeof insertProcessorEvent> {
  try {
    return await insertProcessorEvent(db, event, routeOf(event));
  } catch (error) {
    if (!isUnacceptable(error)) throw error;
    log.error(
      { err: error, eventId: event.id },
      'an event holds what the database can’t: look at the processor',
    );
    return { unhandledBy: null, isNew: false };
  }
}
