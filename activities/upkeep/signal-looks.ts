import { WorkflowNotFoundError } from '@temporalio/client';
import { hasFailedWithin } from '../../adapters/postgres/upkeep/stuck-items.js';
import { signalLook, type LookRoute } from '../../adapters/temporal/signal-look.js';
import { operationLimits } from '../../domain/operations/limits.js';
import { watermarkWorkflowId } from '../../domain/operations/watermark.js';
import type { ActivityDeps } from '../deps.js';
import { eachItem, noteStuck } from '../each-item.js';

interface SignalOptions {
  /** No run of any of them is open. */
  readonly hasNoRun?: boolean;
  /** Told after each: the loop gets on. */
  readonly tell?: (detail: unknown) => void;
}

/**
 * Lets workflows look at their rows, each by itself: one that can't be told keeps no other from it (decision 69).
 * @returns those that were told, or have a signal already
 * @throws when Temporal itself is away: that counts for none of them
 */
export async function signalLooks(
  deps: ActivityDeps,
  routes: readonly LookRoute[],
  { hasNoRun = false, tell }: SignalOptions = {},
): Promise<LookRoute[]> {
  const once = [...new Map(routes.map((route) => [route.workflowId, route])).values()];
  const items = {
    duty: 'workflow',
    items: once,
    keyOf: ({ workflowId }: LookRoute) => workflowId,
    // Whether it is done is told by its look.
    clears: false,
    ...(tell === undefined ? {} : { tell }),
    isOfAll: () => isTemporalAway(deps),
  } as const;
  return eachItem(deps, items, async (route) => {
    const told = await deps.temporal.withDeadline(Date.now() + TELL_LIMIT_MS, () =>
      signalLook({ db: deps.db, workflows: deps.temporal.workflow }, route, hasNoRun),
    );
    if (told === 'capping') {
      deps.log.error(
        { ...route, looksPerDay: operationLimits.looksPerDay },
        'a workflow was told to look as often as it may be in a day: find out what never gets done',
      );
    }
    if (told === 'repeated' && !(await hasLooked(deps, route))) {
      const error = new Error('it has a signal and did not look, or its look did not end');
      await noteStuck(deps, { duty: 'workflow', item: route.workflowId, error });
    }
  });
}

/** Asks something that takes the server and its store, of one workflow that is nobody's. */
export async function isTemporalAway({ temporal }: ActivityDeps): Promise<boolean> {
  try {
    await temporal.withDeadline(Date.now() + PROBE_LIMIT_MS, () =>
      temporal.workflow.getHandle(watermarkWorkflowId).describe(),
    );
    return false;
  } catch (error) {
    return !(error instanceof WorkflowNotFoundError);
  }
}

/** A look that ended badly has counted that itself, by what it met. Each takes far less than a signal may wait. */
function hasLooked({ db }: ActivityDeps, { workflowId }: LookRoute): Promise<boolean> {
  return hasFailedWithin(db, 'workflow', workflowId, operationLimits.lookUnhandledMs - 10_000);
}

/** How long the server may take. */
const TELL_LIMIT_MS = 5_000;
const PROBE_LIMIT_MS = 2_000;
