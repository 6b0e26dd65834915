import { Command, CommanderError } from 'commander';
import { addAffectedCommands } from './money/affected.js';
import { addBrakeCommands } from './machines/brakes.js';
import { addCatalogCommands } from './machines/catalog.js';
import type { OpsContext } from './context.js';
import { addDatabaseCommands } from './service/database.js';
import { addDeclinesCommand } from './money/declines.js';
import { addEndpointCommands } from './service/endpoints.js';
import { addExplainCommand } from './money/explain.js';
import { addInvoiceCommands } from './money/invoices.js';
import { addLedgerCommands } from './money/ledger.js';
import { addLinkCommand } from './service/links.js';
import { addLoginCommands } from './people/logins.js';
import { addOrderCommands } from './money/orders.js';
import { addNoticeCommands } from './service/notices.js';
import { addMarkCommands } from './money/marks.js';
import { addParkedCommands } from './money/parked.js';
import { addProviderCommands } from './machines/providers.js';
import { addReconcileCommands } from './service/reconcile.js';
import { addRentalCommands } from './machines/rentals.js';
import { addRestoreCommands } from './service/restore.js';
import { addSetAsideCommands } from './service/set-aside.js';
import { addStatementCommand } from './money/statement.js';
import { addTopupCommands } from './money/topups.js';
import { addUpgradeCommands } from './service/upgrade.js';
import { addUserCommands } from './people/users.js';
import { addActionCommands, addWalletCommands } from './money/wallets.js';
import { addWebhookCommands } from './service/webhooks.js';

const groups = [
  addExplainCommand,
  addStatementCommand,
  addLedgerCommands,
  addUserCommands,
  addWalletCommands,
  addRentalCommands,
  addTopupCommands,
  addInvoiceCommands,
  addProviderCommands,
  addCatalogCommands,
  addWebhookCommands,
  addEndpointCommands,
  addReconcileCommands,
  addBrakeCommands,
  addActionCommands,
  addLinkCommand,
  addParkedCommands,
  addRestoreCommands,
  addOrderCommands,
  addLoginCommands,
  addSetAsideCommands,
  addMarkCommands,
  addDeclinesCommand,
  addNoticeCommands,
  addAffectedCommands,
  addDatabaseCommands,
  addUpgradeCommands,
];

/** Makes the operators' command line, new for each run: each command keeps the options that it read. */
export function createProgram(context: OpsContext): Command {
  const program = new Command('ops')
    .description('Inspects and repairs the service.')
    .addHelpText(
      'after',
      `
By question (docs/operations has a page for each):
  why was this charged?      ops explain led_…          ops statement --rental rent_…
  a user says they paid      ops topups list --user ann@example.com
  a machine is stuck         ops rentals show rent_…    ops rentals force-terminate rent_…
  the provider is down       ops providers             ops affected --provider … --from … --to …
  do the books agree?        ops reconcile              ops findings
  what is stuck?             ops set-aside list
  is the database set up?    ops database
  can I upgrade?             ops upgrade check
  what must I look at?       ops notices                ops parked
  stop everything            ops pause creates --by ada --reason "…"
  what did we do by hand?    ops actions --about usr_…    ops orders list --all

A running local stack (npm start) needs no configuration; --as bob acts as its other operator.
Commands that change something take --reason, which is recorded permanently with your login, and --dry-run.
Exit codes: 0 done, 1 refused or something was found, 2 invalid or unknown result,
3 waiting for a second operator.`,
    )
    .showHelpAfterError()
    .exitOverride();

  for (const addCommands of groups) addCommands(program, context);
  return program;
}

/**
 * Runs one command of the operators' command line.
 * @param argv the words after `ops`
 * @returns the exit code: 0 done, 1 refused or something was found, 2 not understood or not known
 */
export async function runCommand(argv: readonly string[], context: OpsContext): Promise<number> {
  process.exitCode = 0;
  try {
    await createProgram(context).parseAsync(argv, { from: 'user' });
    return process.exitCode;
  } catch (error) {
    // Commander has printed the fault itself. 1 is kept for refusals and findings.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    console.error(error instanceof Error ? error.message : error);
    return 2;
  }
}
