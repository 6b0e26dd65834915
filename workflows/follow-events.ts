import {
  allHandlersFinished,
  condition,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import type { SignalDefinition } from '@temporalio/common';
import { HOUR } from '../domain/durations.js';
import type { EventLook } from './contracts/events.js';
import { goOnAfter, isVeryLong, pauseMs } from './generations.js';
import { entityStatusAttribute } from './contracts/search-attributes.js';
import { processorEventSignal } from './contracts/signals.js';

/**
 * Looks at a row, again at each event and whenever no event came for long, until nothing more is expected of it.
 * @param waits how long to wait for an event, in milliseconds; the last one repeats
 * @param signal tells of an event
 * @returns the last look; undefined when the history has grown and the workflow should continue as new
 */
export async function followEvents(
  look: () => Promise<EventLook>,
  waits: readonly number[],
  signal: SignalDefinition = processorEventSignal,
): Promise<EventLook | undefined> {
  const state = { events: 0 };
  setHandler(signal, () => void (state.events += 1));
  const tries = { failed: 0 };
  for (let asked = 0; ; asked += 1) {
    const before = state.events;
    const seen = await lookOrWait(look, tries);
    setCurrentDetails(seen.summary);
    upsertSearchAttributes([{ key: entityStatusAttribute, value: seen.status }]);
    // A signal that came while the row was read is looked at before the run ends.
    const isQuiet = state.events === before;
    if (isQuiet && seen.state !== 'waiting') {
      await condition(allHandlersFinished);
      return seen;
    }
    // A new run begins with a look, which sees all that the run was told meanwhile.
    if ((isQuiet && workflowInfo().continueAsNewSuggested) || isVeryLong()) return undefined;
    const waitMs = seen.nextLookMs ?? waits[Math.min(asked, waits.length - 1)] ?? HOUR;
    setCurrentDetails(`${seen.summary}. Waits for an event until ${untilOf(waitMs)}.`);
    await condition(() => state.events !== before, waitMs);
  }
}

/**
 * Looks. A look that used up its schedule (no worker, a time-out) comes again, ever more rarely, or when an event
 * comes.
 */
async function lookOrWait(look: () => Promise<EventLook>, tries: { failed: number }): Promise<EventLook> {
  try {
    const seen = await look();
    tries.failed = 0;
    return seen;
  } catch (error) {
    goOnAfter(error);
    tries.failed += 1;
    const summary = 'It could not be looked at: see the last activity that failed';
    return { state: 'waiting', status: 'stuck', summary, nextLookMs: pauseMs(tries.failed) };
  }
}

/** Tells operators when a timer ends, by the workflow's own clock. */
function untilOf(waitMs: number): string {
  return new Date(Date.now() + waitMs).toISOString();
}
