import { listUnhandledLooks } from '../../adapters/postgres/upkeep/look-signals.js';
import { clearStuck, listItemsOf } from '../../adapters/postgres/upkeep/stuck-items.js';
import { countTaskFailures } from '../../adapters/temporal/failing-task.js';
import { isTemporalAway } from '../../adapters/temporal/is-away.js';
import { operationLimits } from '../../domain/operations/limits.js';
import type { ActivityDeps } from '../deps.js';
import { noteStuck } from '../each-item.js';
import type { Tell } from '../heartbeat.js';
import { SIGNAL_LIMIT_MS } from './signal-looks.js';

/**
 * Sets aside the runs whose workflow task fails or times out again and again, so that operators hear of them: an
 * unreadable signal freezes its run for good, and only `ops set-aside replace` lets it go on. A round asks about those
 * that are known or have a signal and did not look, and about a share of all others in turn.
 * @param open the workflows with an open run
 * @throws when Temporal itself is away
 */
export async function noteFailingRuns(
  deps: ActivityDeps,
  open: ReadonlySet<string>,
  tell: Tell,
): Promise<void> {
  const { db, temporal } = deps;
  const known = new Set(await listItemsOf(db, 'run'));
  const silent = await listUnhandledLooks(db, operationLimits.runsAskedAtOnce);
  for (const item of new Set([...known, ...silent, ...shareOf([...open], Date.now())])) {
    tell({ item });
    try {
      const failures = await temporal.withDeadline(Date.now() + SIGNAL_LIMIT_MS, () =>
        countTaskFailures(temporal.workflow, item),
      );
      if (failures >= operationLimits.failingTaskTries) {
        const error = `its workflow task failed or timed out ${failures} times in a row: its history in Temporal says why`;
        await noteStuck(deps, { duty: 'run', item, error, isHopeless: true });
      } else if (known.has(item)) await clearStuck(db, 'run', item);
    } catch (error) {
      if (await isTemporalAway(temporal)) throw error;
      await noteStuck(deps, { duty: 'run', item, error });
    }
  }
}

/** Takes the share of this round: each workflow comes in turn, whichever worker does the rounds. */
export function shareOf(ids: readonly string[], nowMs: number): string[] {
  const { runsAskedAtOnce, reviveEveryMs } = operationLimits;
  const shares = Math.ceil(ids.length / runsAskedAtOnce);
  const first = (Math.floor(nowMs / reviveEveryMs) % Math.max(1, shares)) * runsAskedAtOnce;
  return [...ids].sort().slice(first, first + runsAskedAtOnce);
}
