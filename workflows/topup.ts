import {
  allHandlersFinished,
  condition,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
} from '@temporalio/workflow';
import { openingTopup, steps } from './activity-proxies.js';
import { answerOf, openingOf, type Opening } from './early-answer.js';
import { entityStatusAttribute } from './search-attributes.js';
import {
  openTopupUpdate,
  processorEventSignal,
  type TopupInput,
  type TopupOutcome,
} from './topup-contract.js';

const MINUTE = 60_000;
/** When to ask the processor itself if no event came; the last one repeats until the page expires. */
const askAfterMs = [MINUTE, 5 * MINUTE, 15 * MINUTE, 60 * MINUTE];

/**
 * One top-up through a hosted payment page: opens the page, waits for the processor's events, credits the wallet
 * once. The row is the state; a run that was lost is taken up by the next event or by the reviver.
 */
export async function topup(input: TopupInput): Promise<TopupOutcome> {
  const { topupId, open } = input;
  const state = { events: 0 };
  const existing: Opening<{ topupId: TopupInput['topupId'] }> = { kind: 'opened', value: { topupId } };
  const opened =
    open === undefined ? Promise.resolve(existing) : openingOf(openingTopup.openTopup(topupId, open));
  setHandler(openTopupUpdate, () => answerOf(opened));
  setHandler(processorEventSignal, () => void (state.events += 1));

  const outcome = await opened;
  if (outcome.kind === 'refused') {
    await steps.abandonTopup(topupId, outcome.failure.message);
    await condition(allHandlersFinished);
    return { outcome: 'refused', code: outcome.failure.type ?? 'unknown' };
  }

  const waits = input.askAfterMs ?? askAfterMs;
  for (let asked = 0; ; asked += 1) {
    const seen = state.events;
    const look = await steps.lookAtTopup(topupId);
    setCurrentDetails(look.summary);
    upsertSearchAttributes([{ key: entityStatusAttribute, value: look.status }]);
    // A signal that came while the row was read is looked at before the run ends.
    if (look.state !== 'waiting' && state.events === seen) {
      await condition(allHandlersFinished);
      return { outcome: outcomeOf(look.status) };
    }
    await condition(() => state.events !== seen, waits[Math.min(asked, waits.length - 1)] ?? MINUTE);
  }
}

function outcomeOf(status: string): TopupOutcome['outcome'] {
  return status === 'succeeded' || status === 'expired' || status === 'missing' ? status : 'failed';
}
