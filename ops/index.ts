import { Command, CommanderError } from 'commander';
import { openDatabase } from '../adapters/postgres/database.js';
import { readConfig } from '../config.js';
import { addBrakeCommands } from './brakes.js';
import { addCatalogCommands } from './catalog.js';
import type { OpsContext } from './context.js';
import { addExplainCommand } from './explain.js';
import { addInvoiceCommands } from './invoices.js';
import { addLedgerCommands } from './ledger.js';
import { addLinkCommand } from './links.js';
import { addRestoreCommands } from './restore.js';
import { addProviderCommands } from './providers.js';
import { addReconcileCommands } from './reconcile.js';
import { addRentalCommands } from './rentals.js';
import { addStatementCommand } from './statement.js';
import { addTopupCommands } from './topups.js';
import { addUserCommands } from './users.js';
import { addActionCommands, addWalletCommands } from './wallets.js';
import { addWebhookCommands } from './webhooks.js';

/** The operators' command line: `npm run ops -- <command>`. */
const program = new Command('ops')
  .description('Looks at the service and mends it.')
  .addHelpText(
    'after',
    `
By question (docs/operations has a page for each):
  why was this charged?      ops explain led_…          ops statement --rental rent_…
  a user says he paid        ops topups list --user ann@example.com
  a pod is stuck             ops rentals show rent_…    ops rentals force-terminate rent_…
  the provider is down       ops providers
  do the three truths agree? ops reconcile              ops findings
  stop everything            ops pause creates --by ada --reason "…"
  what did we do by hand?    ops actions --about usr_…

What changes something takes --by and --reason, which are kept for good, and --dry-run.
Exit codes: 0 done, 1 refused or something was found, 2 not understood or not known.`,
  )
  .showHelpAfterError()
  .exitOverride();

const context: OpsContext = {
  open: () => {
    const { url, role } = readConfig().database;
    return openDatabase(url, 2, 'ops', role);
  },
  temporal: () => readConfig().temporal,
  shards: () => readConfig().meter.shards,
};
const groups = [
  ...[addExplainCommand, addStatementCommand, addLedgerCommands, addUserCommands, addWalletCommands],
  ...[addRentalCommands, addTopupCommands, addInvoiceCommands, addProviderCommands, addCatalogCommands],
  ...[addWebhookCommands, addReconcileCommands, addBrakeCommands, addActionCommands, addLinkCommand],
  addRestoreCommands,
];
for (const addCommands of groups) addCommands(program, context);

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
