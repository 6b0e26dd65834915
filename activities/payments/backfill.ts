import { ApplicationFailure } from '@temporalio/activity';
import { isUnacceptable } from '../../adapters/postgres/availability.js';
import { moveEventCursor, readEventCursor } from '../../adapters/postgres/payments/event-cursor.js';
import { insertProcessorEvent } from '../../adapters/postgres/payments/processor-events.js';
import { eventPages, isPlaceForgotten } from '../../adapters/processor/event-pages.js';
import type { EventPage, Processor, ProcessorEvent } from '../../adapters/processor/processor.js';
import { paymentLimits } from '../../domain/payments/limits.js';
import { routeOf, sentKinds, type EventRoute } from '../../domain/payments/processor-routes.js';
import type { ActivityDeps } from '../deps.js';
import { eachItem } from '../each-item.js';
import { ONE_CALL_MS, toldBefore, withHeartbeat, type Tell } from '../heartbeat.js';
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

/** How far the list was read. It is each heartbeat's detail, so that the next try goes on from there. */
interface Place {
  /** The instant from which on the list is read, as an ISO text. */
  readonly since: string;
  /**
   * To where the cursor moves then: the newest event. It goes by the processor's clock, which dates the events: ours may
   * run ahead for a while, and what came meanwhile would lie behind a cursor of its own.
   */
  readonly newest: string;
  /** The processor's own cursor; null at the newest event. */
  readonly after: string | null;
  readonly read: number;
  readonly missed: number;
  readonly failed: number;
}

async function backfill(deps: ActivityDeps, tell: Tell): Promise<{ read: number; missed: number }> {
  const { db, processor } = deps;
  let place = toldBefore<Place>('newest') ?? (await beginning(deps));
  const since = new Date(place.since);
  tell(place);
  for await (const { events: listed, after } of eventPagesFrom(processor, place)) {
    // The list cannot be asked for so many kinds at once, and an event of another one is never sent.
    const events = listed.filter(({ kind }) => sentKinds.has(kind));
    const { missed, failed } = await recordEvents(deps, events, () => tell(place));
    place = {
      ...{ since: place.since, newest: newestOf(place.newest, listed), after: after ?? place.after },
      ...{ read: place.read + events.length, missed: place.missed + missed, failed: place.failed + failed },
    };
    tell(place);
  }
  const { read, missed, failed, newest } = place;
  if (missed > 0)
    deps.log.warn({ read, missed, since }, 'events of the processor never arrived; they are fetched now');
  // An event that could not be taken in is read again: the next time begins where this one began, for as long as the
  // processor keeps the event.
  if (failed === 0) await moveEventCursor(db, new Date(newest));
  return { read, missed };
}

async function beginning({ db }: ActivityDeps): Promise<Place> {
  const { seenUntil, now } = await readEventCursor(db);
  const earliestMs = now.getTime() - paymentLimits.eventsKeptMs;
  // Events of one moment become visible one after the other, so a while is read again.
  const since = new Date(Math.max(earliestMs, seenUntil.getTime() - paymentLimits.eventsOverlapMs));
  const none = { after: null, read: 0, missed: 0, failed: 0 };
  return { since: since.toISOString(), newest: seenUntil.toISOString(), ...none };
}

function newestOf(before: string, listed: readonly ProcessorEvent[]): string {
  const newestMs = Math.max(Date.parse(before), ...listed.map(({ createdAt }) => createdAt.getTime()));
  return new Date(newestMs).toISOString();
}

/**
 * Reads on from a place. The processor forgets events after 30 days; where it has forgotten the place itself, no try of
 * this run can go on, and the next run begins anew.
 */
async function* eventPagesFrom(
  processor: Processor,
  { since, after }: Place,
): AsyncGenerator<EventPage, void> {
  try {
    yield* eventPages(processor, new Date(since), after);
  } catch (error) {
    if (!isPlaceForgotten(error)) throw error;
    throw ApplicationFailure.create({ ...placeForgotten, nonRetryable: true, cause: error });
  }
}

const placeForgotten = {
  type: 'place_forgotten',
  message: 'the processor does not know the last event any more: the next run begins anew',
};

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
