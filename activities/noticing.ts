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

type Activity = (...args: never[]) => Promise<unknown>;
type Noting = Pick<ActivityDeps, 'db' | 'log'>;

/** Looks of workflows that follow events: one that fails is an answer, so that the workflow has its turn and waits. */
const eventLooks: ReadonlySet<string> = new Set([
  'lookAtTopup',
  'lookAtAutoTopup',
  'lookAtPayment',
  'lookAtInvoice',
  'lookAtCard',
  'lookAtRefund',
  'lookAtDispute',
]);

/** Looks of a rental, by which what it was told is handled. */
const rentalLooks: ReadonlySet<string> = new Set(['lookAtRental', 'meterRental']);

/** Steps of a rental: one that fails is counted by itself, because the look before it goes well. */
const rentalSteps: ReadonlySet<string> = new Set([
  'startMetering',
  'giveUpProvisioning',
  'meterRental',
  'settleRental',
  'closeRental',
  'findPod',
  'awaitPod',
  'endPods',
]);

/**
 * Lets what workflows do with their rows tell how it went (decision 69): a look that ends well handles the signals that
 * came before it, and one that fails is counted as its workflow's, so that no loop signals it before its next try.
 */
export function noticing<T extends Record<string, Activity>>(deps: Noting, activities: T): T {
  const noticed = Object.entries(activities).map(([name, activity]) => [
    name,
    noticedOne(deps, name, activity),
  ]);
  return Object.fromEntries(noticed) as T;
}

function noticedOne(deps: Noting, name: string, activity: Activity): Activity {
  if (eventLooks.has(name)) {
    const look = activity as (...args: never[]) => Promise<EventLook>;
    return (...args) => lookingAtEvents(deps, () => look(...args));
  }
  const looked: Activity = rentalLooks.has(name)
    ? (...args) => handlingSignals(deps, () => activity(...args))
    : activity;
  if (rentalSteps.has(name)) {
    return (...args) => noting(deps, 'step', `${workflowOfThis()} ${name}`, () => looked(...args));
  }
  if (rentalLooks.has(name))
    return (...args) => noting(deps, 'workflow', workflowOfThis(), () => looked(...args));
  return activity;
}

/** How often one look may begin anew because somebody wanted it meanwhile; whatever is left is told by the loops. */
const ROUNDS = 3;

async function handlingSignals<T>(deps: Noting, look: () => Promise<T>): Promise<T> {
  for (let round = 1; ; round += 1) {
    const lookedAt = await readClock(deps.db);
    const seen = await look();
    if (!(await acknowledgeLook(deps.db, workflowOfThis(), lookedAt)) || round === ROUNDS) return seen;
  }
}

/**
 * A look that fails a few times in a row at once is answered as one that waits: how long says its count, as everywhere.
 * What the processor does not know will not become known soon: it is set aside with that reason.
 */
async function lookingAtEvents(deps: Noting, look: () => Promise<EventLook>): Promise<EventLook> {
  const lookedAt = await readClock(deps.db);
  const item = workflowOfThis();
  try {
    return await noting(deps, 'workflow', item, () => handlingSignals(deps, look));
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
}

async function noting<T>(deps: Noting, duty: Duty, item: string, work: () => Promise<T>): Promise<T> {
  try {
    const result = await work();
    await clearStuck(deps.db, duty, item);
    return result;
  } catch (error) {
    if (error instanceof CancelledFailure) throw error;
    // The failure itself is what is told; that it could not be counted is told beside it.
    await noteStuck(deps, { duty, item, error }).catch((err: unknown) =>
      deps.log.warn({ err, duty, item }, 'a failure could not be counted'),
    );
    throw error;
  }
}

function workflowOfThis(): string {
  return Context.current().info.workflowExecution?.workflowId ?? 'none';
}
