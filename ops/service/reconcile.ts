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
import { using, type OpsContext, type TemporalPlace } from '../context.js';
import { actByHand } from '../direct.js';
import { asOperator, countOf, oneOf, type OperatorOptions } from '../options.js';
import { readable, type Print } from '../output.js';
import { withTemporal } from '../../adapters/temporal/command.js';
import { runReconcile } from '../../adapters/temporal/run-by-hand.js';

type Listing = Print & { readonly state: FindingState | 'all'; readonly limit: number };

/** A run prints this many findings; the rest is counted. */
const PRINTED = 1_000;

/** `ops reconcile` and `ops findings …` */
export function addReconcileCommands(program: Command, context: OpsContext): void {
  readable(program.command('reconcile'))
    .description(
      'Compares our books, the processor and the upstreams now. Exit code 1: findings are open; 2: something could not be compared.',
    )
    .option('--full', 'from the beginning, with every wallet walked; else the last two hours')
    .option('--look-again-ms <ms>', 'how long after it was found a difference must still be there', msOf)
    .action(async ({ full, lookAgainMs, json }: Print & { full?: boolean; lookAgainMs?: number }) => {
      const scope = full === true ? 'full' : 'window';
      const report = await run(context.temporal(), {
        scope,
        ...(lookAgainMs === undefined ? {} : { confirmMs: lookAgainMs }),
      });
      await using(context, (db) => show(db, report, json === true));
    });
  const findings = program.command('findings').description('What reconcile found that does not agree.');
  readable(findings.command('list', { isDefault: true }))
    .description('Lists findings with their evidence, the oldest first, and what could not be compared.')
    .option(
      '--state <state>',
      'open, acknowledged, resolved or all; else open and acknowledged',
      oneOf([...findingStates, 'all']),
    )
    .option('--limit <count>', 'at most this many', countOf, 100)
    .action((options: Listing) => using(context, (db) => list(db, options)));
  asOperator(findings.command('ack').argument('<finding>', 'its number', numberOf))
    .description(
      'Says that a finding is known: it is no alarm any more, until it is resolved and comes back.',
    )
    .action((findingId: number, options: OperatorOptions) =>
      actByHand(context, { kind: 'acknowledge_finding', findingId }, options),
    );
}

/** Runs the workflow and waits for it. An interrupted wait does not end it. */
async function run(temporal: TemporalPlace, input: ReconcileInput): Promise<ReconcileReport> {
  return withTemporal(temporal, async (client) => {
    const workflowId = `reconcile-by-hand-${newId('op')}`;
    console.error(`Workflow ${workflowId}: it goes on by itself if this is interrupted; ops findings tells.`);
    return runReconcile(client.workflow, workflowId, input);
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
        ? 'All agree.'
        : 'What was compared agrees.'
      : `${report.open} open, ${report.acknowledged} acknowledged: docs/operations/findings.md says what each means.`,
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
  throw new InvalidArgumentError('The number of a finding is needed: see ops findings.');
}

function msOf(text: string): number {
  if (/^\d{1,7}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Milliseconds are needed, such as 15000.');
}
