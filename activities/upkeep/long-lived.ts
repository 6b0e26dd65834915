import { isTemporalAway } from '../../adapters/temporal/is-away.js';
import { ensureRunning } from '../../adapters/temporal/start-workflow.js';
import { upkeepDuties } from '../../domain/operations/upkeep.js';
import {
  mailerRun,
  meterRun,
  providerWatchRun,
  sequencerRun,
  upkeepRun,
  webhookWakerRun,
} from '../../workflows/contracts/loops.js';
import type { WorkflowRun } from '../../workflows/contracts/workflow-contract.js';
import type { ActivityDeps } from '../deps.js';
import { eachItem } from '../each-item.js';
import type { Tell } from '../heartbeat.js';

/**
 * Makes sure that the tick engines, the watchers, the upkeep and the mailer run. Those that already run are left alone.
 * @param tell hears of each: there is one for each shard and upstream
 * @returns the ids of all that run now
 * @throws when Temporal itself is away
 */
export async function startLongLived(deps: ActivityDeps, tell?: Tell): Promise<string[]> {
  const started = await eachItem(
    deps,
    {
      duty: 'long_lived',
      items: wantedRuns(deps),
      keyOf: ({ workflowId }) => workflowId,
      isOfAll: () => isTemporalAway(deps.temporal),
      tell,
    },
    (run) => ensureRunning(deps.temporal.workflow, run),
  );
  return started.map(({ workflowId }) => workflowId);
}

function wantedRuns({ settings, providers }: ActivityDeps): WorkflowRun[] {
  const duties = settings.withoutUpkeep === true ? [] : upkeepDuties;
  return [
    ...Array.from({ length: settings.shards }, (_, shard) => meterRun(shard)),
    ...[...providers.keys()].map(providerWatchRun),
    ...duties.map(upkeepRun),
    mailerRun(),
    sequencerRun(),
    webhookWakerRun(),
  ];
}
