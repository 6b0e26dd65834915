import type { Command } from 'commander';
import { withTemporal } from '../../adapters/temporal/command.js';
import { listRunsOf01, refusalOfRunsOf01 } from '../../adapters/temporal/runs-of-01.js';
import type { OpsContext } from '../context.js';
import { countOf } from '../options.js';
import { readable, type Print } from '../output.js';

type Check = Print & { readonly limit: number };

/** `ops upgrade …`: before a new release is installed. */
export function addUpgradeCommands(program: Command, context: OpsContext): void {
  const upgrade = program.command('upgrade').description('Checks to run before you upgrade to this release.');
  readable(upgrade.command('check', { isDefault: true }))
    .description('Lists open runs that this release can’t continue. Exit code 1 if there are any.')
    .option('--limit <count>', 'how many at most', countOf, 100)
    .action(async ({ json, limit }: Check) => {
      const runs = await withTemporal(context.temporal(), ({ workflow }) => listRunsOf01(workflow, limit));
      process.exitCode = runs.length > 0 ? 1 : 0;
      if (json === true) console.log(JSON.stringify({ runs }));
      else if (runs.length === 0) console.log('This release can continue every open run.');
      else console.log(refusalOfRunsOf01(runs));
    });
}
