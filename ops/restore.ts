import { Client, Connection } from '@temporalio/client';
import type { Command } from 'commander';
import { newId } from '../adapters/ids.js';
import type { Database } from '../adapters/postgres/database.js';
import { listUnknownPods, releaseUnknownPods } from '../adapters/postgres/restore.js';
import { taskQueues } from '../domain/task-queues.js';
import {
  restoreWorkflow,
  restoreWorkflowIds,
  type RestoreInput,
  type RestoreOutcome,
} from '../workflows/restore-contract.js';
import { using, type OpsContext, type TemporalPlace } from './context.js';
import { asOperator, askConsent, type OperatorOptions } from './operator.js';
import { reconciledText, reportText } from './restore-text.js';

type Reconcile = OperatorOptions & { readonly withoutSilentUpstreams?: boolean };

/** `ops restore …`: when the database was restored (decision 67). */
export function addRestoreCommands(program: Command, context: OpsContext): void {
  const restore = program.command('restore').description('When the database was restored.');
  restore
    .command('status', { isDefault: true })
    .description('What a restored database lacks. Exit code 1 if it is behind.')
    .option('--json', 'print it as JSON')
    .action(({ json }: { json?: boolean }) => show(context.temporal(), json));
  asOperator(restore.command('reconcile').description('Reconciles it, and lets the service go on.'))
    .option('--without-silent-upstreams', 'go on although an upstream does not answer')
    .action((options: Reconcile) => reconcile(context.temporal(), options));
  restore
    .command('pods')
    .description('Machines that it did not know, and that wait for your decision.')
    .option('--json', 'print it as JSON')
    .action(({ json }: { json?: boolean }) => using(context, (db) => listPods(db, json)));
  asOperator(restore.command('release-pods').description('Lets the service end such machines.'))
    .argument('<pod...>', 'the upstream’s ids, from ops restore pods')
    .action((podIds: string[], options: OperatorOptions) =>
      using(context, (db) => releasePods(db, podIds, options)),
    );
}

async function show(temporal: TemporalPlace, json: boolean | undefined): Promise<void> {
  const { report } = await run(temporal, restoreWorkflowIds.look, {});
  if (report.database === 'restored') process.exitCode = 1;
  console.log(json === true ? JSON.stringify(report) : reportText(report));
}

async function reconcile(temporal: TemporalPlace, options: Reconcile): Promise<void> {
  const { by: operator, reason, json } = options;
  const { report } = await run(temporal, restoreWorkflowIds.look, {});
  if (json !== true) console.log(reportText(report));
  if (report.database === 'confirmed') return;
  if (options.dryRun === true) {
    console.log(json === true ? JSON.stringify(report) : 'Nothing was done: it was a dry run.');
    return;
  }
  await askConsent(
    { reconcile: 'ends rentals and credits payments as listed above; metering goes on' },
    options,
  );
  const outcome = await run(temporal, restoreWorkflowIds.reconcile, {
    reconcile: {
      ...{ operator, reason, operationId: options.operation ?? newId('op') },
      withoutSilentUpstreams: options.withoutSilentUpstreams === true,
    },
  });
  if (outcome.outcome === 'refused') process.exitCode = 1;
  console.log(json === true ? JSON.stringify(outcome) : reconciledText(outcome));
}

async function listPods(db: Database, json: boolean | undefined): Promise<void> {
  const pods = await listUnknownPods(db);
  if (json === true) console.log(JSON.stringify(pods));
  else if (pods.length === 0) console.log('No machine waits for a decision.');
  else for (const { provider_code, pod_id, tag } of pods) console.log(`${provider_code} ${pod_id} ${tag}`);
}

async function releasePods(db: Database, podIds: readonly string[], options: OperatorOptions): Promise<void> {
  const waiting = (await listUnknownPods(db)).filter(({ pod_id }) => podIds.includes(pod_id));
  const missing = podIds.filter((id) => !waiting.some(({ pod_id }) => pod_id === id));
  if (missing.length > 0)
    throw new Error(`Not waiting for a decision: ${missing.join(', ')}. See ops restore pods.`);
  if (options.dryRun === true) {
    console.log(`Would let the service end ${podIds.join(', ')}.`);
    return;
  }
  await askConsent({ release: podIds, then: 'they end, with all that is on them' }, options);
  const { by: operator, reason } = options;
  const released = await releaseUnknownPods(db, podIds, { operator, reason });
  console.log(
    options.json === true ? JSON.stringify({ released }) : `${released} released: they end within minutes.`,
  );
}

/** How long an outcome is waited for: events of weeks may have to be read. */
const WAIT_MS = 20 * 60_000;

async function run(
  { address, namespace }: TemporalPlace,
  workflowId: string,
  input: RestoreInput,
): Promise<RestoreOutcome> {
  const connection = await Connection.connect({ address }).catch((cause: unknown) => {
    throw new Error(
      `Temporal can't be reached at ${address}. Nothing was started: try again when it is up.`,
      {
        cause,
      },
    );
  });
  try {
    const client = new Client({ connection, namespace });
    return await connection.withDeadline(
      Date.now() + WAIT_MS,
      async () =>
        (await client.workflow.execute(restoreWorkflow, {
          ...{ workflowId, taskQueue: taskQueues.rentals, args: [input] },
          staticSummary: 'A restored database',
          workflowIdReusePolicy: 'ALLOW_DUPLICATE',
          // Another operator's is waited for instead: what it does is done once.
          workflowIdConflictPolicy: 'USE_EXISTING',
        })) as RestoreOutcome,
    );
  } catch (cause) {
    throw new Error(
      `It is not known what came of it (${String(cause)}). Look at the workflow ${workflowId}, or run the command again: what was done is not done twice.`,
      { cause },
    );
  } finally {
    await connection.close();
  }
}
