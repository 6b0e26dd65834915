import type { Command } from 'commander';
import { listStuck, listWorkflowsOf } from '../../adapters/postgres/upkeep/stuck-items.js';
import { replaceRun } from '../../adapters/temporal/failing-task.js';
import { signalRunning } from '../../adapters/temporal/signal-workflow.js';
import { duties, type Duty } from '../../domain/operations/stuck.js';
import { using, type OpsContext } from '../context.js';
import { actByHand } from '../direct.js';
import { asOperator, countOf, oneOf, type OperatorOptions } from '../options.js';
import { iso, printRows, readable, whenSet, type Print } from '../output.js';

type Listing = Print & { readonly all?: boolean; readonly limit: number };
type Retrying = OperatorOptions & { readonly duty?: Duty; readonly item?: string };

/** Three calls of Temporal, and connecting before them. */
const REPLACE_MS = 15_000;

/** `ops set-aside …`: items of the loops that failed again and again (decision 69, "Items that fail"). */
export function addSetAsideCommands(program: Command, context: OpsContext): void {
  const setAside = program
    .command('set-aside')
    .description('Items that failed so often that we retry them only once an hour, with their last error.')
    .addHelpText(
      'after',
      `
First fix the cause, then retry at once:
  ops set-aside list
  ops set-aside retry --item top_01J… --by ada --reason "the key at the processor was renewed"
  ops set-aside retry --duty mail --by ada --reason "the mail server is back"
A run (duty "run") whose task fails again and again does nothing until it is replaced:
  ops set-aside replace rent_01J… --by ada --reason "a signal that no worker can read" --yes

Duties:
${Object.entries(duties)
  .map(([duty, what]) => `  ${duty.padEnd(12)} ${what}`)
  .join('\n')}`,
    );
  readable(setAside.command('list', { isDefault: true }))
    .description('Lists them, oldest first.')
    .option('--all', 'include failed items that are not set aside yet')
    .option('--limit <count>', 'how many at most', countOf, 100)
    .action(({ json, all, limit }: Listing) =>
      using(context, async (db) => {
        printRows(await listStuck(db, { onlySetAside: all !== true }, limit), json, (row) =>
          [
            row.duty,
            row.item,
            `${row.attempts} tries since ${iso(row.first_failed_at)}${whenSet(row.set_aside_at, 'set aside')}`,
            `next ${iso(row.next_attempt_at)}`,
            row.last_error,
          ].join('  '),
        );
      }),
    );
  asOperator(setAside.command('retry'))
    .description('Retries them at once, as if they had never failed. Without --duty and --item, retries all.')
    .option('--duty <duty>', 'only of this duty', oneOf(Object.keys(duties) as Duty[]))
    .option('--item <item>', 'only this one, as the list names it')
    .action(async ({ duty, item, ...options }: Retrying) => {
      let workflowIds: string[] = [];
      await using(context, async (db) => {
        workflowIds = await listWorkflowsOf(db, { duty, item });
      });
      await actByHand(
        context,
        {
          kind: 'retry_set_aside',
          ...(duty === undefined ? {} : { duty }),
          ...(item === undefined ? {} : { item }),
        },
        options,
        { signal: ({ workflow }) => signalRunning(workflow, workflowIds) },
      );
    });
  addReplacing(setAside, context);
}

function addReplacing(setAside: Command, context: OpsContext): void {
  asOperator(setAside.command('replace').argument('<workflow>', 'the run, as the list names it'))
    .description('Replaces a run whose task keeps failing with a new one, which starts from its row.')
    .action((workflowId: string, options: OperatorOptions) =>
      actByHand(context, { kind: 'replace_run', workflowId }, options, {
        then: 'ends the run; a new one continues from its row',
        limitMs: REPLACE_MS,
        undone: 'It is recorded, but the run was not replaced, or it was ended and no new one was begun',
        signal: async ({ workflow }) => {
          const isBegun = await replaceRun(workflow, workflowId, `ops set-aside replace: ${options.reason}`);
          if (!isBegun) console.log('The run has ended. The upkeep or its schedule starts the next one.');
        },
      }),
    );
}
