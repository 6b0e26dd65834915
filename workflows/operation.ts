import {
  condition,
  continueAsNew,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
} from '@temporalio/workflow';
import { byHand, refunding } from './activity-proxies.js';
import { openingOf } from './early-answer.js';
import { goOnAfter, isLong, pauseMs } from './generations.js';
import type { Operation } from '../domain/operations/operation.js';
import type { OperationInput, OperationOutcome } from './contracts/operation.js';
import { entityStatusAttribute, userIdAttribute } from './contracts/search-attributes.js';
import { lookSignal } from './contracts/signals.js';

/**
 * One operator's order, once. Its id is the operation's, and the row of `operator_orders` under that id says what to do
 * (decision 87, "Operator orders"). A refusal is an answer, not a failure.
 * @param input an input of release 0.1 itself says what to do: it is refused, unless it was already done
 */
export async function operation(input: OperationInput | Operation): Promise<OperationOutcome> {
  setCurrentDetails(
    'Does what the order of this id asks for: `ops orders show` tells who asked, and for what.',
  );
  if ('action' in input && 'userId' in input.action) {
    upsertSearchAttributes([{ key: userIdAttribute, value: input.action.userId }]);
  }
  const done = await openingOf(byHand.operate(input));
  if (done.kind === 'opened' && isBegun(done.value)) return refundEach({ operationId: input.operationId });
  const outcome: OperationOutcome =
    done.kind === 'opened'
      ? outcomeOf(done.value)
      : { outcome: 'refused', code: done.failure.type ?? 'unknown', message: done.failure.message };
  upsertSearchAttributes([{ key: entityStatusAttribute, value: outcome.outcome }]);
  return outcome;
}

function isBegun(value: object): boolean {
  return 'outcome' in value && value.outcome === 'begun';
}

/** Reads the outcome. A run that 0.1 began may already hold its activity's answer: the amounts of what was done. */
function outcomeOf(value: object): OperationOutcome {
  return 'outcome' in value ? (value as OperationOutcome) : { outcome: 'done' };
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
  OperationOutcome | { readonly outcome: 'going_on'; readonly summary: string; readonly pauseMs: number };

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
