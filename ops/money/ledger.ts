import type { Command } from 'commander';
import type { Database } from '../../adapters/postgres/database.js';
import { readLedger, type LedgerEntry } from '../../adapters/postgres/wallets/ledger-reads.js';
import { countWallets, verifyLedger, type Discrepancy } from '../../adapters/postgres/wallets/verify.js';
import { isId, type RentalId, type UserId } from '../../domain/ids.js';
import { ledgerEntryTypes, type LedgerEntryType } from '../../domain/ledger/ledger.js';
import { using, type OpsContext } from '../context.js';
import { countOf, idOf, oneOf } from '../options.js';
import { printRows, readable, type Print } from '../output.js';
import { getUser } from '../people/named-user.js';

type Listing = Print & {
  readonly user: string;
  readonly type?: LedgerEntryType;
  readonly rental?: RentalId;
  readonly limit: number;
};

/** `ops ledger …` */
export function addLedgerCommands(program: Command, context: OpsContext): void {
  const ledger = program.command('ledger').description('The wallets and their ledger.');
  readable(ledger.command('verify'))
    .description(
      'Checks every wallet: chain, sums, holds, net charge per rental. Exit code 1 if anything is wrong.',
    )
    .option('--user <id>', 'only the wallet of this user (usr_…)')
    .action((options: Print & { user?: string }) =>
      using(context, (db) => verify(db, userIdOf(options.user), options.json === true)),
    );
  readable(ledger.command('list'))
    .description('Lists a user’s entries, newest first. To explain one: ops explain.')
    .requiredOption('--user <who>', 'an email address or usr_…')
    .option('--type <type>', ledgerEntryTypes.join(', '), oneOf(ledgerEntryTypes))
    .option('--rental <id>', 'of one rental (rent_…)', idOf('rent'))
    .option('--limit <count>', 'how many at most', countOf, 50)
    .addHelpText('after', '\nExample:\n  ops ledger list --user ann@example.com --type refund')
    .action(({ user, type, rental, limit, json }: Listing) =>
      using(context, async (db) => {
        const { id } = await getUser(db, user);
        const { entries } = await readLedger(db, id, { type, rentalId: rental }, limit);
        printRows(entries, json, entryLine);
      }),
    );
}

/** An entry on a line. */
export function entryLine(entry: LedgerEntry): string {
  return [
    entry.id,
    entry.createdAt.toISOString(),
    entry.type.padEnd(15),
    `${entry.amountCents} cents`,
    `balance ${entry.balanceAfterCents}`,
    entry.rentalId ?? entry.processorChargeId ?? '',
  ].join('  ');
}

async function verify(db: Database, userId: UserId | undefined, json: boolean): Promise<void> {
  const wallets = await countWallets(db, userId);
  if (wallets === 0 && userId !== undefined) throw new Error(`There is no wallet of ${userId}.`);
  const findings = await verifyLedger(db, userId);
  if (findings.length > 0) process.exitCode = 1;
  if (json) console.log(JSON.stringify({ wallets, findings }));
  else printFindings(wallets, findings);
}

function printFindings(wallets: number, findings: readonly Discrepancy[]): void {
  for (const { rule, walletId, detail } of findings)
    console.log(`${rule.padEnd(7)} wallet ${walletId}: ${detail}`);
  console.log(
    findings.length === 0
      ? `All ${wallets} wallets add up.`
      : `${findings.length} findings. Fix the first one first: the others may follow from it.`,
  );
}

function userIdOf(text: string | undefined): UserId | undefined {
  if (text === undefined) return undefined;
  if (isId('usr', text)) return text;
  throw new Error(`--user takes a user id such as usr_01J…, not ${text}.`);
}
