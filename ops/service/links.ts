import type { Command } from 'commander';
import type { OpsContext } from '../context.js';
import { printRows, readable, type Print } from '../output.js';
import { linksAt } from '../temporal-links.js';

/** `ops link <id>`: the page of something in the Temporal UI. */
export function addLinkCommand(program: Command, context: OpsContext): void {
  readable(
    program.command('link').argument('<id...>', 'rent_…, top_…, inv_…, op_…, auto-topup:usr_…, meter:0'),
  )
    .description('Links to a workflow in the Temporal UI. Everything is there under its own id.')
    .addHelpText('after', '\nExample:\n  ops link rent_01J… meter:0 provider-watch:shadeform')
    .action(async (ids: readonly string[], { json }: Print) => {
      printRows(await linksAt(context.temporal(), ids, new Date()), json, ({ workflowId, runId, url }) =>
        [workflowId, runId ?? 'no run is known', url].join('  '),
      );
    });
}
