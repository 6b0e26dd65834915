import type { Command } from 'commander';
import { withTemporal } from '../../adapters/temporal/command.js';
import { listRunsOf01, refusalOfRunsOf01 } from '../../adapters/temporal/runs-of-01.js';
import type { OpsContext } from '../context.js';
import { countOf } from '../options.js';
import { readable, type Print } from '../output.js';

type Check = Print & { readonly limit: number };

/** `ops upgrade …`: before a new release is installed. */
export function addUpgradeCommands(program: Command, context: OpsContext): void {
  const upgrade = program
    .command('upgrade')
    .description('Before you install this release over the one before.');
  readable(upgrade.command('check', { isDefault: true }))
    .description('Names open runs that this release could not go on with. Exit code 1: there are some.')
    .option('--limit <count>', 'at most this many', countOf, 100)
    .action(async ({ json, limit }: Check) => {
      const runs = await withTemporal(context.temporal(), ({ workflow }) => listRunsOf01(workflow, limit));
      process.exitCode = runs.length > 0 ? 1 : 0;
      if (json === true) console.log(JSON.stringify({ runs }));
      else if (runs.length === 0) console.log('This release can go on with every open run.');
      else console.log(refusalOfRunsOf01(runs));
    });
}
