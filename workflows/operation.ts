import { setCurrentDetails, upsertSearchAttributes } from '@temporalio/workflow';
import { byHand } from './activity-proxies.js';
import { openingOf } from './early-answer.js';
import type { Operation } from '../domain/operation.js';
import type { OperationInput, OperationOutcome } from './operation-contract.js';
import { entityStatusAttribute, userIdAttribute } from './search-attributes.js';

/**
 * One thing that an operator does by hand, once: its id is the operation's, and the row of `operator_orders` under that
 * id says what it is (decision 87). A refusal is an answer, not a failure.
 * @param input one of release 0.1 says itself what to do: it is refused, unless it was done already
 */
export async function operation(input: OperationInput | Operation): Promise<OperationOutcome> {
  setCurrentDetails(
    'Does what the order of this id asks for: `ops orders show` tells who asked, and for what.',
  );
  if ('action' in input && 'userId' in input.action) {
    upsertSearchAttributes([{ key: userIdAttribute, value: input.action.userId }]);
  }
  const done = await openingOf(byHand.operate(input));
  const outcome: OperationOutcome =
    done.kind === 'opened'
      ? outcomeOf(done.value)
      : { outcome: 'refused', code: done.failure.type ?? 'unknown', message: done.failure.message };
  upsertSearchAttributes([{ key: entityStatusAttribute, value: outcome.outcome }]);
  return outcome;
}

/** A run that 0.1 began may hold its activity's answer already: the amounts, of what was done. */
function outcomeOf(value: object): OperationOutcome {
  return 'outcome' in value ? (value as OperationOutcome) : { outcome: 'done' };
}
