import { InvalidArgumentError, type Command } from 'commander';
import type { Database } from '../../adapters/postgres/database.js';
import { readServerSettings } from '../../adapters/postgres/upkeep/server-settings.js';
import { checkSettings } from '../../domain/operations/database-check.js';
import { sizeDatabase } from '../../domain/operations/database-size.js';
import { using, type OpsContext } from '../context.js';
import { countOf } from '../options.js';
import { readable, type Print } from '../output.js';

const GB = 2 ** 30;

interface Sizing extends Print {
  readonly memoryGb: number;
  readonly cores: number;
  readonly freeGb: number;
}

/** `ops database …`: the settings of the database server. */
export function addDatabaseCommands(program: Command, context: OpsContext): void {
  const database = program
    .command('database')
    .description('Checks the database server’s settings: are they safe, and large enough for this load?')
    .addHelpText(
      'after',
      `
Examples:
  ops database
  ops database size --memory-gb 64 --cores 16 --free-gb 500`,
    );
  readable(database.command('check', { isDefault: true }))
    .description('Lists settings to change. Exit code 1 if there are any.')
    .action(({ json }: Print) => using(context, (db) => check(db, json === true)));
  readable(database.command('size'))
    .description('Recommends settings for a dedicated server or container.')
    .requiredOption('--memory-gb <count>', 'the memory it may use', gigabytesOf)
    .requiredOption('--free-gb <count>', 'the free disk space for its files', gigabytesOf)
    .option('--cores <count>', 'how many cores it has', countOf, 2)
    .action(({ memoryGb, freeGb, cores, json }: Sizing) => {
      const settings = sizeDatabase({
        ...{ memoryBytes: memoryGb * GB, freeBytes: freeGb * GB, cores, isAlone: true },
      });
      if (json === true) console.log(JSON.stringify(settings));
      else for (const [name, value] of Object.entries(settings)) console.log(`${name} = ${value}`);
    });
}

async function check(db: Database, json: boolean): Promise<void> {
  const { settings, runningRentals } = await readServerSettings(db);
  const faults = checkSettings(settings, runningRentals);
  process.exitCode = faults.length > 0 ? 1 : 0;
  if (json) {
    console.log(JSON.stringify({ runningRentals, settings, faults }));
    return;
  }
  for (const { kind, setting, is, why } of faults) console.log(`${kind}: ${setting} is ${is}: ${why}`);
  if (faults.length === 0) console.log(`The settings are fine for ${runningRentals} running rentals.`);
  else
    console.log(
      'Run "ops database size" for values, and see docs/operations/deploying.md for where to set them.',
    );
}

/** Half gigabytes as well. */
function gigabytesOf(text: string): number {
  const count = Number(text);
  if (/^\d+(\.\d+)?$/.test(text) && count > 0) return count;
  throw new InvalidArgumentError('Use gigabytes, such as 16.');
}
