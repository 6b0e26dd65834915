import {
  allHandlersFinished,
  condition,
  continueAsNew,
  setCurrentDetails,
  setHandler,
} from '@temporalio/workflow';
import { MINUTE } from '../domain/durations.js';
import { openingTopup, steps } from './activity-proxies.js';
import { answerOf, earlyAnswerOf, type EarlyAnswer } from './early-answer.js';
import { followEvents } from './follow-events.js';
import { goOnAfter } from './generations.js';
import { openTopupUpdate, type TopupInput, type TopupOutcome } from './contracts/topup.js';

/** When to ask the processor itself if no event came; the last one repeats until the page expires. */
const askAfterMs = [MINUTE, 5 * MINUTE, 15 * MINUTE, 60 * MINUTE];

/**
 * One top-up: charges the saved card or opens a payment page, waits for the processor's events, and credits the wallet
 * once. The row is the state: the next event or the reviver takes a lost run up.
 */
export async function topup(input: TopupInput): Promise<TopupOutcome> {
  const { topupId, open } = input;
  setCurrentDetails(
    open === undefined ? 'Is taken up from its row.' : 'Is being opened: see the pending activity.',
  );
  const existing: EarlyAnswer<{ topupId: TopupInput['topupId'] }> = { kind: 'opened', value: { topupId } };
  const opened =
    open === undefined ? Promise.resolve(existing) : earlyAnswerOf(openingTopup.openTopup(topupId, open));
  setHandler(openTopupUpdate, () => answerOf(opened));

  const outcome = await opened;
  if (outcome.kind === 'refused') {
    // If this fails, the looks end a top-up that was never begun.
    await steps.abandonTopup(topupId, outcome.failure.message).catch(goOnAfter);
  } else if (outcome.value.topupId !== topupId) {
    await condition(allHandlersFinished);
    return { outcome: 'joined' };
  }

  // After a refusal too: a charge that has left goes on, and a declined one has events.
  const waits = input.askAfterMs ?? askAfterMs;
  const seen = await followEvents(() => steps.lookAtTopup(topupId), waits);
  if (seen === undefined) return continueAsNew<typeof topup>({ topupId, askAfterMs: waits });
  if (outcome.kind === 'refused' && seen.status !== 'succeeded') {
    return { outcome: 'refused', code: outcome.failure.type ?? 'unknown' };
  }
  return { outcome: outcomeOf(seen.status) };
}

function outcomeOf(status: string): TopupOutcome['outcome'] {
  return status === 'succeeded' || status === 'expired' || status === 'missing' ? status : 'failed';
}
