import { Command } from 'commander';
import { openDatabase } from '../adapters/postgres/database.js';
import { readConfig } from '../config.js';
import { addLedgerCommands } from './ledger.js';

/** The operators' command line: `npm run ops -- <command>`. */
const program = new Command('ops').description('Looks at the service and mends it.').showHelpAfterError();
addLedgerCommands(program, () => openDatabase(readConfig().database.url, 2, 'ops'));

try {
  await program.parseAsync();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 2;
}
