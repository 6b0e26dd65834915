import {
  condition,
  continueAsNew,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
} from '@temporalio/workflow';
import { byHand, refunding } from './activity-proxies.js';
import { earlyAnswerOf } from './early-answer.js';
import { goOnAfter, isLong, pauseMs } from './generations.js';
import type { OperationInput, OperationOutcome } from './contracts/operation.js';
import { entityStatusAttribute } from './contracts/search-attributes.js';
import { lookSignal } from './contracts/signals.js';

/**
 * One operator's order, once. Its id is the operation's, and the row of `operator_orders` under that id says what to do
 * (decision 87, "Operator orders"). A refusal is an answer, not a failure.
 */
export async function operation(input: OperationInput): Promise<OperationOutcome> {
  setCurrentDetails(
    'Does what the order of this id asks for: `ops orders show` tells who asked, and for what.',
  );
  const done = await earlyAnswerOf(byHand.operate(input));
  const outcome =
    done.kind === 'opened'
      ? done.value
      : ({
          outcome: 'refused',
          code: done.failure.type ?? 'unknown',
          message: done.failure.message,
        } as const);
  if (outcome.outcome === 'begun') return refundEach(input);
  upsertSearchAttributes([{ key: entityStatusAttribute, value: outcome.outcome }]);
  return outcome;
}

/**
 * Does an order of many (decision 94, "Refunds of an outage"): pass after pass over its items, until all are done or
 * somebody rejects it. After a pass in which items failed, it waits for their next try, or until an operator lets it
 * look.
 */
async function refundEach(input: OperationInput): Promise<OperationOutcome> {
  const state = { looks: 0, failed: 0 };
  setHandler(lookSignal, () => void (state.looks += 1));
  for (;;) {
    const { looks } = state;
    const seen = await passOrWait(input, state);
    upsertSearchAttributes([{ key: entityStatusAttribute, value: seen.outcome }]);
    if (seen.outcome !== 'going_on') return seen;
    setCurrentDetails(`${seen.summary}: \`ops orders items\` tells each.`);
    if (isLong()) return continueAsNew<typeof operation>(input);
    if (seen.pauseMs > 0) await condition(() => state.looks !== looks, seen.pauseMs);
  }
}

type Seen =
  | OperationOutcome
  | { readonly outcome: 'going_on'; readonly summary: string; readonly pauseMs: number };

/** Does a pass. A pass that used up its schedule (no worker, a time-out) comes again, ever more rarely. */
async function passOrWait({ operationId }: OperationInput, state: { failed: number }): Promise<Seen> {
  try {
    const pass = await refunding.refundRentals(operationId);
    state.failed = 0;
    if (pass.outcome !== 'going_on') return pass;
    return { ...pass, summary: `${pass.done} of ${pass.of} rentals are done` };
  } catch (error) {
    goOnAfter(error);
    state.failed += 1;
    const summary = 'It could not go on: see the last activity that failed';
    return { outcome: 'going_on', summary, pauseMs: pauseMs(state.failed) };
  }
}
