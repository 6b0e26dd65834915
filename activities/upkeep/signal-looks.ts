import { hasFailedWithin } from '../../adapters/postgres/upkeep/stuck-items.js';
import { isTemporalAway } from '../../adapters/temporal/is-away.js';
import { signalLook } from '../../adapters/temporal/signal-look.js';
import type { LookRoute } from '../../adapters/temporal/signal-workflow.js';
import { operationLimits } from '../../domain/operations/limits.js';
import type { ActivityDeps } from '../deps.js';
import { eachItem, noteStuck } from '../each-item.js';

interface SignalOptions {
  /** Says that none of them has an open run. */
  readonly hasNoRun?: boolean;
  /** Called after each signal: the loop gets on. */
  readonly tell?: ((detail: unknown) => void) | undefined;
}

/**
 * Lets workflows look at their rows, each by itself: one that can't be signalled keeps no other from it (decision 69,
 * "Items that fail").
 * @returns those that were signalled, or have a signal already
 * @throws when Temporal itself is away, which counts for none of them
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
    // The look, not the signal, tells whether it is done.
    clears: false,
    tell,
    isOfAll: () => isTemporalAway(deps.temporal),
  } as const;
  return eachItem(deps, items, async (route) => {
    const outcome = await deps.temporal.withDeadline(Date.now() + SIGNAL_LIMIT_MS, () =>
      signalLook({ db: deps.db, workflows: deps.temporal.workflow }, route, hasNoRun),
    );
    if (outcome === 'capping') {
      deps.log.error(
        { ...route, looksPerDay: operationLimits.looksPerDay },
        'a workflow got its daily limit of signals: find out what it never finishes',
      );
    }
    if (outcome === 'repeated' && !(await hasLooked(deps, route))) {
      const error = new Error('it has a signal but did not act on it, or did not finish');
      await noteStuck(deps, { duty: 'workflow', item: route.workflowId, error });
    }
  });
}

/**
 * Tells whether a workflow has looked and failed lately. A look that ended badly has counted that itself, by what it
 * met. Each look takes far less than a signal may wait.
 */
function hasLooked({ db }: ActivityDeps, { workflowId }: LookRoute): Promise<boolean> {
  return hasFailedWithin(db, 'workflow', workflowId, operationLimits.lookUnhandledMs - 10_000);
}

/** How long the server may take, in milliseconds. */
export const SIGNAL_LIMIT_MS = 5_000;
