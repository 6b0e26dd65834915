import { InvalidArgumentError, type Command } from 'commander';
import { newId } from '../../adapters/ids.js';
import type { Database } from '../../adapters/postgres/database.js';
import { listFindings, listGaps, type Gap } from '../../adapters/postgres/reconcile/findings.js';
import type { ReconcileFindingRow } from '../../adapters/postgres/rows/tables.js';
import {
  findingStates,
  type FindingState,
  type ReconcileInput,
  type ReconcileReport,
} from '../../domain/operations/reconcile.js';
import { using, type OpsContext } from '../context.js';
import { actByHand } from '../direct.js';
import { asOperator, countOf, oneOf, type OperatorOptions } from '../options.js';
import { readable, type Print } from '../output.js';
import { hasPassedDeadline } from '../../adapters/temporal/client.js';
import { MINUTE, SECOND } from '../../domain/durations.js';
import { withTemporal } from '../../adapters/temporal/command.js';
import { runReconcile } from '../../adapters/temporal/run-by-hand.js';

type Listing = Print & { readonly state: FindingState | 'all'; readonly limit: number };

/** How long the command waits for a run, by its scope: a full one walks every wallet. */
const WAIT_MS = { window: 10 * MINUTE, full: 60 * MINUTE } as const;

/** The exit code of a comparison whose outcome is not known. */
const UNKNOWN = 2;

/** A run prints this many findings; the rest is counted. */
const PRINTED = 1_000;

/** `ops reconcile` and `ops findings …` */
export function addReconcileCommands(program: Command, context: OpsContext): void {
  readable(program.command('reconcile'))
    .description(
      'Compares our books, the processor and the upstreams now. Exit code 1: there are open findings; 2: something could not be compared, or it is not done within 10 minutes (--full: an hour).',
    )
    .option('--full', 'from the beginning, checking every wallet (default: the last two hours)')
    .option('--look-again-ms <ms>', 'how long a difference must last to count', msOf)
    .action(async ({ full, lookAgainMs, json }: Print & { full?: boolean; lookAgainMs?: number }) => {
      const scope = full === true ? 'full' : 'window';
      const report = await run(context, {
        scope,
        ...(lookAgainMs === undefined ? {} : { confirmMs: lookAgainMs }),
      });
      if (report) await using(context, (db) => show(db, report, json === true));
    });
  const findings = program.command('findings').description('Differences that reconcile found.');
  readable(findings.command('list', { isDefault: true }))
    .description('Lists findings with their evidence, oldest first, and what could not be compared.')
    .option(
      '--state <state>',
      'open, acknowledged, resolved or all (default: open and acknowledged)',
      oneOf([...findingStates, 'all']),
    )
    .option('--limit <count>', 'how many at most', countOf, 100)
    .action((options: Listing) => using(context, (db) => list(db, options)));
  asOperator(findings.command('ack').argument('<finding>', 'its number', numberOf))
    .description('Acknowledges a finding: it no longer alarms, unless it is resolved and comes back.')
    .action((findingId: number, options: OperatorOptions) =>
      actByHand(context, { kind: 'acknowledge_finding', findingId }, options),
    );
}

/**
 * Runs the workflow and waits for it. A wait that is interrupted, or over, does not end it.
 * @returns undefined when the wait was over: that has been printed
 */
async function run(context: OpsContext, input: ReconcileInput): Promise<ReconcileReport | undefined> {
  const waitMs = context.waitMs ?? WAIT_MS[input.scope];
  return withTemporal(context.temporal(), async (client) => {
    const workflowId = `reconcile-by-hand-${newId('op')}`;
    console.error(
      `Workflow ${workflowId}: a worker compares, and this waits for it. If this is interrupted, it continues on its own. Check ops findings.`,
    );
    try {
      return await client.withDeadline(Date.now() + waitMs, () =>
        runReconcile(client.workflow, workflowId, input),
      );
    } catch (error) {
      if (!hasPassedDeadline(error)) throw error;
      process.exitCode = UNKNOWN;
      console.error(
        `It is not done after ${Math.round(waitMs / SECOND)} seconds, and continues on its own. The pending activity of ${workflowId} in the Temporal UI says what it waits for; if it has none, no worker runs. Once it is done: ops findings.`,
      );
      return undefined;
    }
  });
}

async function show(db: Database, report: ReconcileReport, json: boolean): Promise<void> {
  const [findings, gaps] = [await listFindings(db, ['open', 'acknowledged'], PRINTED), await listGaps(db)];
  process.exitCode = report.open > 0 ? 1 : gaps.length > 0 ? 2 : 0;
  if (json) {
    console.log(JSON.stringify({ report, findings, gaps }));
    return;
  }
  print(findings, gaps);
  console.log(
    report.open + report.acknowledged === 0
      ? gaps.length === 0
        ? 'Everything agrees.'
        : 'Everything that was compared agrees.'
      : `${report.open} open, ${report.acknowledged} acknowledged: see docs/operations/findings.md for what each means.`,
  );
}

async function list(db: Database, { state, limit, json }: Partial<Listing>): Promise<void> {
  const standing: FindingState[] = ['open', 'acknowledged'];
  const states = state === undefined ? standing : state === 'all' ? findingStates : [state];
  const [findings, gaps] = [await listFindings(db, states, limit ?? PRINTED), await listGaps(db)];
  if (json === true) {
    console.log(JSON.stringify({ findings, gaps }));
    return;
  }
  print(findings, gaps);
  if (findings.length === 0) console.log('No such findings.');
}

function print(findings: readonly ReconcileFindingRow[], gaps: readonly Gap[]): void {
  for (const row of findings) {
    console.log(headOf(row));
    console.log(`    ${JSON.stringify(row.subject_ids)}`);
    console.log(`    ${JSON.stringify(row.evidence)}`);
  }
  for (const { source, since, why } of gaps) {
    console.log(`Not compared: ${source} since ${since.toISOString()}: ${why}`);
  }
}

function headOf(row: ReconcileFindingRow): string {
  const known =
    row.state === 'acknowledged' ? ` by ${row.acknowledged_by ?? ''}: ${row.acknowledged_why ?? ''}` : '';
  const seen = `${row.first_seen_at.toISOString()} to ${row.last_seen_at.toISOString()}`;
  return `${row.id}  ${row.kind}  ${row.subject}  ${row.state}${known}, seen ${seen}`;
}

function numberOf(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Use the number of a finding: see ops findings.');
}

function msOf(text: string): number {
  if (/^\d{1,7}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Use milliseconds, such as 15000.');
}
