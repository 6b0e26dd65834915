import { Command, CommanderError } from 'commander';
import { openDatabase, type Database } from '../adapters/postgres/database.js';
import { readConfig } from '../config.js';
import { addInvoiceCommands } from './invoices.js';
import { addLedgerCommands } from './ledger.js';
import type { TemporalAddress } from './operator.js';
import { addProviderCommands } from './providers.js';
import { addReconcileCommands } from './reconcile.js';
import { addWalletCommands } from './wallets.js';

/** The operators' command line: `npm run ops -- <command>`. */
const program = new Command('ops')
  .description('Looks at the service and mends it.')
  .showHelpAfterError()
  .exitOverride();
const open = (): Database => openDatabase(readConfig().database.url, 2, 'ops');
const temporal = (): TemporalAddress => readConfig().temporal;
addLedgerCommands(program, open);
addInvoiceCommands(program, temporal);
addWalletCommands(program, temporal, open);
addProviderCommands(program, open);
addReconcileCommands(program, temporal, open);

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) {
    // It has said itself what is wrong. 1 is kept for refusals and findings.
    process.exitCode = error.exitCode === 0 ? 0 : 2;
  } else {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 2;
  }
}
