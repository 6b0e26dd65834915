import type { Command } from 'commander';
import type { Database } from '../../adapters/postgres/database.js';
import { readLedger, type LedgerEntry } from '../../adapters/postgres/ledger/ledger-reads.js';
import {
  countSealed,
  endUnsealing,
  listSealed,
  readSealing,
  unsealWallet,
} from '../../adapters/postgres/ledger/sealing.js';
import type { Discrepancy } from '../../adapters/postgres/ledger/verify-rules.js';
import { countWallets, verifyLedger, type WalletRange } from '../../adapters/postgres/ledger/verify.js';
import { verifyRoots, type RootFault } from '../../adapters/postgres/ledger/verify-roots.js';
import { isId, type RentalId, type UserId } from '../../domain/ids.js';
import { ledgerEntryTypes, type LedgerEntryType } from '../../domain/ledger/ledger.js';
import { using, type OpsContext } from '../context.js';
import { actByHand } from '../direct.js';
import { asOperator, countOf, idOf, oneOf, type OperatorOptions } from '../options.js';
import { iso, printRows, readable, type Print } from '../output.js';
import { addProof } from './proof.js';
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
  addSealing(ledger, context);
  addProof(ledger, context);
}

/** `ops ledger seal …` and `ops ledger unseal` (decision 139, "Seals of the ledger"). */
function addSealing(ledger: Command, context: OpsContext): void {
  const seal = ledger.command('seal').description('Packs a thousand entries of a wallet into one row.');
  asOperator(seal.command('on'))
    .description('Starts sealing, existing entries included. No process of release 0.2 may be connected.')
    .action((options: OperatorOptions) =>
      actByHand(context, { kind: 'seal_ledger' }, options, {
        then: 'removes the rows of sealed charges; unseal them before you go back to release 0.2',
      }),
    );
  asOperator(seal.command('off'))
    .description('Stops sealing. Sealed entries stay sealed and readable.')
    .action((options: OperatorOptions) => actByHand(context, { kind: 'stop_sealing' }, options));
  readable(seal.command('status', { isDefault: true }))
    .description('Shows whether it is on, how far it has come, and what is sealed.')
    .action(({ json }: Print) => using(context, (db) => showSealing(db, json === true)));
  asOperator(ledger.command('unseal'))
    .description(
      'Writes all rows back, byte for byte: the way back to release 0.2. First: ops ledger seal off.',
    )
    .action(async (options: OperatorOptions) => {
      await actByHand(context, { kind: 'unseal_ledger' }, options, {
        then: 'writes a row of some 140 bytes for each sealed charge',
      });
      if (process.exitCode === 0 && options.dryRun !== true) await using(context, unsealAll);
    });
}

async function showSealing(db: Database, json: boolean): Promise<void> {
  const [sealing, sealed] = [await readSealing(db), await countSealed(db)];
  const shown = {
    isOn: sealing.is_on,
    changedAt: sealing.changed_at,
    walkBeganAt: sealing.walk_began_at,
    walkedWallet: sealing.walked_wallet,
    walkedAt: sealing.walked_at,
    sealedDailyAt: sealing.daily_at,
    ...sealed,
  };
  if (json) {
    console.log(JSON.stringify(shown));
    return;
  }
  console.log(`Sealing is ${shown.isOn ? 'on' : 'off'} since ${iso(shown.changedAt)}.`);
  if (shown.isOn) {
    console.log(
      `All wallets were last looked at: ${iso(shown.walkedAt)}, for the day: ${iso(shown.sealedDailyAt)}.`,
    );
  }
  if (sealing.walk_began_at !== null)
    console.log(`The walk since ${iso(sealing.walk_began_at)} has come to wallet ${sealing.walked_wallet}.`);
  console.log(
    `Seals: ${sealed.seals}. Entries in them: ${sealed.entries}. Bytes on the disk: ${sealed.bytes}.`,
  );
}

const UNSEAL_PAGE = 100;

/** Unseals wallet by wallet, each seal in a transaction of its own. Repeated, it goes on where it was ended. */
async function unsealAll(db: Database): Promise<void> {
  let entries = 0;
  for (let above = 0; ;) {
    const wallets = await listSealed(db, above, UNSEAL_PAGE);
    for (const walletId of wallets) {
      for (let held = 1; held > 0; entries += held) held = await unsealWallet(db, walletId);
    }
    const last = wallets.at(-1);
    if (last === undefined) break;
    above = last;
    console.error(`${entries} entries have their rows again, up to wallet ${last}`);
  }
  await endUnsealing(db);
  console.log(`All rows are back. Entries that were sealed: ${entries}.`);
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
  const findings = await verifyLedger(db, userId, progress());
  const roots = userId === undefined ? await verifyRoots(db) : [];
  if (findings.length + roots.length > 0) process.exitCode = 1;
  if (json) console.log(JSON.stringify({ wallets, findings, roots }));
  else printFindings(wallets, findings, roots);
}

const TELL_EVERY_MS = 5_000;

/** Tells now and then how far the walk over all wallets has come. */
function progress(): (range: WalletRange, found: number) => void {
  let toldMs = Date.now();
  return ({ toId }, found) => {
    if (Date.now() < toldMs + TELL_EVERY_MS) return;
    toldMs = Date.now();
    console.error(`Checked up to wallet ${toId}. Findings so far: ${found}.`);
  };
}

function printFindings(wallets: number, findings: readonly Discrepancy[], roots: readonly RootFault[]): void {
  for (const { root, detail } of roots) console.log(`proof   root ${root} ${detail}`);
  for (const { rule, walletId, detail } of findings)
    console.log(`${rule.padEnd(7)} wallet ${walletId}: ${detail}`);
  console.log(
    findings.length + roots.length === 0
      ? `All ${wallets} wallets add up.`
      : `${findings.length + roots.length} findings. Fix the first one first: the others may follow from it.`,
  );
}

function userIdOf(text: string | undefined): UserId | undefined {
  if (text === undefined) return undefined;
  if (isId('usr', text)) return text;
  throw new Error(`--user takes a user id such as usr_01J…, not ${text}.`);
}
