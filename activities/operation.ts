import { operate } from '../adapters/postgres/money/operations.js';
import type { Operation, OperationResult, TerminateAction } from '../domain/operation.js';
import type { ActivityDeps } from './deps.js';
import { ONE_CALL_MS, withHeartbeat } from './heartbeat.js';
import { answeringRefusals } from './refusals.js';
import { terminateRental } from './terminate-rental.js';

/** The activity of what operators do by hand. */
export function createOperationActivities(deps: ActivityDeps) {
  return {
    /**
     * Does it once per operation id, in one transaction with its record.
     * @throws ApplicationFailure with the code of a refusal
     */
    async operate(input: Operation): Promise<OperationResult> {
      const result = await withHeartbeat(() => answeringRefusals(() => act(deps, input)), {
        stalledAfterMs: ONE_CALL_MS,
      });
      const { operationId, operator, action } = input;
      deps.log.info({ operationId, operator, kind: action.kind }, 'an operator did something by hand');
      return result;
    },
  };
}

function act(deps: ActivityDeps, input: Operation): Promise<OperationResult> {
  const { action } = input;
  if (action.kind !== 'terminate_rental') return operate(deps.db, { ...input, action });
  const terminate: Operation<TerminateAction> = { ...input, action };
  return terminateRental(deps, terminate);
}
