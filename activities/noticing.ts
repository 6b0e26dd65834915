import { CancelledFailure, Context } from '@temporalio/activity';
import { readClock } from '../adapters/postgres/clock.js';
import { acknowledgeLook } from '../adapters/postgres/upkeep/look-signals.js';
import { clearStuck } from '../adapters/postgres/upkeep/stuck-items.js';
import { isMissing } from '../adapters/processor/processor.js';
import { operationLimits } from '../domain/operations/limits.js';
import type { Duty } from '../domain/operations/stuck.js';
import type { EventLook } from '../workflows/contracts/events.js';
import type { ActivityDeps } from './deps.js';
import { noteStuck } from './each-item.js';

/** Any function that a worker runs, whatever its arguments. */
export type Activity = (...args: never[]) => Promise<unknown>;
type Noting = Pick<ActivityDeps, 'db' | 'log'>;

/** How often one look may begin anew because somebody asked for it meanwhile. The loops signal what is left. */
const ROUNDS = 3;

/** Lets a look that ends well handle the signals that came before it. */
export function handlingSignals<A extends unknown[], T>(
  deps: Noting,
  look: (...args: A) => Promise<T>,
): (...args: A) => Promise<T> {
  return async (...args) => {
    for (let round = 1; ; round += 1) {
      const lookedAt = await readClock(deps.db);
      const seen = await look(...args);
      if (!(await acknowledgeLook(deps.db, workflowOfThis(), lookedAt)) || round === ROUNDS) return seen;
    }
  };
}

/** Counts a failed look as its workflow's failure, so that no loop signals the workflow before its next try. */
export function countingLooks(deps: Noting, look: Activity): Activity {
  return (...args) => noting(deps, 'workflow', workflowOfThis(), () => look(...args));
}

/**
 * Counts a failed step by itself.
 * @param name the name of the step's activity
 */
export function countingSteps(deps: Noting, name: string, step: Activity): Activity {
  return (...args) => noting(deps, 'step', `${workflowOfThis()} ${name}`, () => step(...args));
}

/** Lets a step that ends well, and with it the look that it holds, end what was counted as its workflow's failures. */
export function clearingLooks(deps: Noting, step: Activity): Activity {
  return async (...args) => {
    const result = await step(...args);
    await clearStuck(deps.db, 'workflow', workflowOfThis());
    return result;
  };
}

/**
 * Answers a look that fails a few times in a row at once as one that waits; the count of its failures says how long, as
 * everywhere. An object that the processor does not know will not become known soon: its item is set aside with that
 * reason.
 */
export function answeringFailures<A extends unknown[]>(
  deps: Noting,
  look: (...args: A) => Promise<EventLook>,
): (...args: A) => Promise<EventLook> {
  const handling = handlingSignals(deps, look);
  return async (...args) => {
    const lookedAt = await readClock(deps.db);
    const item = workflowOfThis();
    try {
      return await noting(deps, 'workflow', item, () => handling(...args));
    } catch (error) {
      const { attempt } = Context.current().info;
      if (error instanceof CancelledFailure || attempt < operationLimits.quickTries) throw error;
      const stuck = await noteStuck(deps, { duty: 'workflow', item, error, isHopeless: isMissing(error) });
      await acknowledgeLook(deps.db, item, lookedAt);
      return {
        state: 'waiting',
        status: 'stuck',
        summary: `It failed ${stuck.attempts} times and is tried again: ${error instanceof Error ? error.message : String(error)}`,
        nextLookMs: Math.max(1_000, stuck.nextTryMs),
      };
    }
  };
}

async function noting<T>(deps: Noting, duty: Duty, item: string, work: () => Promise<T>): Promise<T> {
  try {
    const result = await work();
    await clearStuck(deps.db, duty, item);
    return result;
  } catch (error) {
    if (error instanceof CancelledFailure) throw error;
    // The failure itself is thrown; a failure to count it is only logged.
    await noteStuck(deps, { duty, item, error }).catch((err: unknown) =>
      deps.log.warn({ err, duty, item }, 'a failure could not be counted'),
    );
    throw error;
  }
}

function workflowOfThis(): string {
  return Context.current().info.workflowExecution?.workflowId ?? 'none';
}
