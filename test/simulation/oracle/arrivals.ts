import { Erased } from './erased.js';
import { told, type Evidence } from './evidence.js';

/** The time in which the schedule "backfill" must have taken in what never arrived, in milliseconds: a few rounds of it. */
const MENDED_WITHIN_MS = 20 * 60_000;

/**
 * What arrives at the webhook. Each true event is known in the end, whatever happened to it on its way (decision 44,
 * "Events that never arrived"). Nothing is kept of what the processor did not sign, or signed too long ago or for later.
 * What it signed is kept, also where it can't be read. A card is nobody's but its owner's.
 */
export async function judgeArrivals(evidence: Evidence): Promise<string[]> {
  const { ask, world, nowMs } = evidence;
  const erased = await Erased.read(evidence);
  const { forgeries } = world;
  const { truth } = world.processor;
  const { events: sentEvents } = truth;
  const events = await ask<{ id: string }>('select id from processor_events');
  const odd = await ask<{ body: string }>('select body from odd_events');
  const cards = await ask<{ pm_id: string; user_id: string }>('select pm_id, user_id from saved_cards');
  const known = new Set(events.map(({ id }) => id));
  const put = new Set(odd.map(({ body }) => body));
  const due = sentEvents.filter(({ createdMs }) => createdMs + MENDED_WITHIN_MS < nowMs);
  const forged = new Set(forgeries.map(({ id }) => id));
  const sent = new Set(sentEvents.map(({ id }) => id));
  return [
    ...due.filter(({ id }) => !known.has(id)).map(({ id, kind }) => `event ${id} (${kind}) is not known`),
    ...events
      .filter(({ id }) => !sent.has(id) && !forged.has(id))
      .map(({ id }) => `event ${id} was never sent`),
    ...forgeries.flatMap(({ id, what, body, isTaken, mustBeRefused }) => {
      const isKept = known.has(id) || put.has(body);
      return [
        ...told(mustBeRefused && (isTaken || isKept), `a forged event was taken: ${what}`),
        ...told(
          !mustBeRefused && isTaken && !isKept && !erased.isIn(body),
          `a signed event was not kept: ${what}`,
        ),
      ];
    }),
    ...cards.flatMap(({ pm_id: id, user_id: userId }) => {
      const ownerId = truth.card(id)?.ownerId;
      const isOwn = ownerId === null || ownerId === userId;
      return told(!isOwn, `card ${id} of ${String(ownerId)} is saved for ${userId}`);
    }),
  ];
}
