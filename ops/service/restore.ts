import type { Command } from 'commander';
import { HOUR } from '../../domain/durations.js';
import type { Database } from '../../adapters/postgres/database.js';
import { listUnknownPods } from '../../adapters/postgres/restore/restore.js';
import { restoreRun, type RestoreInput, type RestoreOutcome } from '../../workflows/contracts/restore.js';
import { using, type OpsContext, type TemporalPlace } from '../context.js';
import { actByHand } from '../direct.js';
import { placeOrder } from '../operator.js';
import { asOperator, type OperatorOptions } from '../options.js';
import { readable, type Print } from '../output.js';
import { reconciledText, reportText } from './restore-text.js';
import { withTemporal } from '../../adapters/temporal/command.js';
import { runRestore } from '../../adapters/temporal/run-by-hand.js';

type Reconcile = OperatorOptions & {
  readonly withoutSilentUpstreams?: boolean;
  readonly leaveUndone?: boolean;
};

/** `ops restore …`: for a restored database (decision 67, "Restored databases"). */
export function addRestoreCommands(program: Command, context: OpsContext): void {
  const restore = program.command('restore').description('When the database was restored.');
  readable(restore.command('status', { isDefault: true }))
    .description('Shows what a restored database has lost. Exit code 1 if it is behind.')
    .action(({ json }: Print) => show(context.temporal(), json));
  asOperator(restore.command('reconcile').description('Reconciles it, and lets the service continue.'))
    .option('--without-silent-upstreams', 'continue even if an upstream does not answer')
    .option('--leave-undone', 'continue even if a rental or payment could not be updated')
    .action((options: Reconcile) => using(context, (db) => reconcile(context.temporal(), db, options)));
  readable(restore.command('pods'))
    .description('Lists unknown machines that wait for your decision.')
    .action(({ json }: Print) => using(context, (db) => listPods(db, json)));
  asOperator(restore.command('release-pods').description('Ends such machines.'))
    .argument('<pod...>', 'the upstream’s ids, from ops restore pods')
    .action((podIds: string[], options: OperatorOptions) =>
      actByHand(context, { kind: 'release_pods', podIds }, options, {
        then: 'ends them within minutes, and loses everything on them',
      }),
    );
}

async function show(temporal: TemporalPlace, json: boolean | undefined): Promise<void> {
  const { report } = await run(temporal, {});
  if (report.database === 'restored') process.exitCode = 1;
  console.log(json === true ? JSON.stringify(report) : reportText(report));
}

async function reconcile(temporal: TemporalPlace, db: Database, options: Reconcile): Promise<void> {
  const { json, withoutSilentUpstreams: without = false } = options;
  const { report } = await run(temporal, {});
  if (json !== true) console.log(reportText(report));
  if (report.database === 'confirmed') return;
  if (options.dryRun === true) {
    console.log(json === true ? JSON.stringify(report) : 'Nothing was done. This was a dry run.');
    return;
  }
  if (json !== true)
    console.log('It ends rentals and credits payments as listed above, and metering continues.');
  const action = { kind: 'reconcile_restored', withoutSilentUpstreams: without } as const;
  const order = await placeOrder(db, action, options);
  if (!order) return;
  const outcome = await run(temporal, {
    reconcile: {
      operationId: order.id,
      withoutSilentUpstreams: without,
      leaveUndone: options.leaveUndone === true,
    },
  });
  if (['refused', 'incomplete'].includes(outcome.outcome)) process.exitCode = 1;
  console.log(json === true ? JSON.stringify(outcome) : reconciledText(outcome));
}

async function listPods(db: Database, json: boolean | undefined): Promise<void> {
  const pods = await listUnknownPods(db);
  if (json === true) console.log(JSON.stringify(pods));
  else if (pods.length === 0) console.log('No machines wait for a decision.');
  else for (const { provider_code, pod_id, tag } of pods) console.log(`${provider_code} ${pod_id} ${tag}`);
}

/** How long a command waits for an outcome: histories of a whole fleet, and events of weeks, may have to be read. */
const WAIT_MS = 6 * HOUR;

/** Runs one of the workflows, and waits for its outcome. */
async function run(temporal: TemporalPlace, input: RestoreInput): Promise<RestoreOutcome> {
  return withTemporal(temporal, async (client) => {
    try {
      return await client.withDeadline(Date.now() + WAIT_MS, () => runRestore(client.workflow, input));
    } catch (cause) {
      throw new Error(
        `The result is unknown (${String(cause)}). Check the workflow ${restoreRun(input).workflowId}, or run the command again: nothing happens twice.`,
        { cause },
      );
    }
  });
}
