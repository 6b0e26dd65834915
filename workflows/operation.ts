import { setCurrentDetails, upsertSearchAttributes } from '@temporalio/workflow';
import { byHand } from './activity-proxies.js';
import { openingOf } from './early-answer.js';
import type { Operation } from '../domain/operation.js';
import type { OperationOutcome } from './operation-contract.js';
import { entityStatusAttribute, userIdAttribute } from './search-attributes.js';

/** One thing that an operator does by hand, once: its id is the operation's. A refusal is an answer, not a failure. */
export async function operation(input: Operation): Promise<OperationOutcome> {
  const { action, operator, reason } = input;
  setCurrentDetails(`${action.kind} by ${operator}: ${reason}`);
  if ('userId' in action) upsertSearchAttributes([{ key: userIdAttribute, value: action.userId }]);
  const done = await openingOf(byHand.operate(input));
  const outcome: OperationOutcome =
    done.kind === 'opened'
      ? { outcome: 'done', result: done.value }
      : { outcome: 'refused', code: done.failure.type ?? 'unknown', message: done.failure.message };
  upsertSearchAttributes([{ key: entityStatusAttribute, value: outcome.outcome }]);
  return outcome;
}
