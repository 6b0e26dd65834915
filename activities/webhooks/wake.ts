import {
  isSomethingDue,
  noteDueWebhooks,
  takeDueWebhooks,
  untellWebhooks,
  type DueWebhook,
} from '../../adapters/postgres/webhooks/waking.js';
import { isTemporalAway } from '../../adapters/temporal/is-away.js';
import { signalWorkflow, type LookRoute } from '../../adapters/temporal/signal-workflow.js';
import { webhookWorkflowId } from '../../domain/webhooks/webhook.js';
import { refuseWhenRestored } from '../ask-first.js';
import type { ActivityDeps } from '../deps.js';
import { eachItem } from '../each-item.js';
import type { Tell } from '../heartbeat.js';
import { SIGNAL_LIMIT_MS, signalLooks } from '../upkeep/signal-looks.js';

/** Endpoints that one round tells. */
const AT_ONCE = 500;

/**
 * Tells the workflows of endpoints that have something to do: their users have new events, or a workflow that was told
 * has not looked for a minute, because its signal or its run was lost. An endpoint is told once until it has looked; a
 * repeated signal counts among those that a run may get in a day (decision 69, "Items that fail").
 * @param tell hears of each: Temporal may take seconds for one
 * @returns how many were told
 */
export async function wakeDueWebhooks(deps: ActivityDeps, tell?: Tell): Promise<number> {
  if (!(await isSomethingDue(deps.db))) return 0;
  await refuseWhenRestored(deps);
  await noteDueWebhooks(deps.db);
  const due = await takeDueWebhooks(deps.db, AT_ONCE);
  const told = new Set<string>();
  try {
    await tellOnce(
      deps,
      due.filter(({ isRepeated }) => !isRepeated),
      told,
      tell,
    );
    const repeated = due.filter(({ isRepeated }) => isRepeated).map(routeOf);
    for (const { workflowId } of await signalLooks(deps, repeated, { tell })) told.add(workflowId);
  } catch (error) {
    await untellWebhooks(
      deps.db,
      due.filter(({ id }) => !told.has(webhookWorkflowId(id))).map(({ id }) => id),
    );
    throw error;
  }
  return told.size;
}

async function tellOnce(
  deps: ActivityDeps,
  due: readonly DueWebhook[],
  told: Set<string>,
  tell: Tell | undefined,
): Promise<void> {
  const items = {
    duty: 'workflow',
    items: due,
    keyOf: ({ id }: DueWebhook) => webhookWorkflowId(id),
    clears: false,
    isOfAll: () => isTemporalAway(deps.temporal),
    tell,
  } as const;
  await eachItem(deps, items, async (hook) => {
    await deps.temporal.withDeadline(Date.now() + SIGNAL_LIMIT_MS, () =>
      signalWorkflow(deps.temporal.workflow, routeOf(hook)),
    );
    told.add(webhookWorkflowId(hook.id));
  });
}

function routeOf({ id }: DueWebhook): LookRoute {
  return { workflow: 'webhook', workflowId: webhookWorkflowId(id) };
}
