import { operate } from '../adapters/postgres/money/operations.js';
import type { Operation, OperationResult } from '../domain/operation.js';
import type { ActivityDeps } from './deps.js';
import { withHeartbeat } from './heartbeat.js';
import { answeringRefusals } from './refusals.js';

/** The activity of what operators do by hand. */
export function createOperationActivities({ db, log }: ActivityDeps) {
  return {
    /**
     * Does it once per operation id, in one transaction with its record.
     * @throws ApplicationFailure with the code of a refusal
     */
    async operate(input: Operation): Promise<OperationResult> {
      const result = await withHeartbeat(() => answeringRefusals(() => operate(db, input)));
      const { operationId, operator, action } = input;
      log.info({ operationId, operator, kind: action.kind }, 'an operator did something by hand');
      return result;
    },
  };
}
