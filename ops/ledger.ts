import type { Command } from 'commander';
import type { Database } from '../adapters/postgres/database.js';
import { verifyLedger, type Discrepancy } from '../adapters/postgres/verify.js';
import { isId, type UserId } from '../domain/ids.js';

/** `ops ledger …` */
export function addLedgerCommands(program: Command, open: () => Database): void {
  program
    .command('ledger')
    .description('The wallets and their ledger.')
    .command('verify')
    .description(
      'Walks every wallet: chain, sums, holds, net charge per rental. Exit code 1 if anything is off.',
    )
    .option('--user <id>', 'only the wallet of this user (usr_…)')
    .option('--json', 'print the findings as JSON')
    .action(async (options: { user?: string; json?: boolean }) => {
      const db = open();
      try {
        await verify(db, userIdOf(options.user), options.json === true);
      } finally {
        await db.destroy();
      }
    });
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
      : `${findings.length} findings. Mend the first one first: what follows may follow from it.`,
  );
}

async function countWallets(db: Database, userId: UserId | undefined): Promise<number> {
  const query = db('wallets').count<{ count: number }[]>('* as count').first();
  if (userId !== undefined) void query.where({ user_id: userId });
  return (await query)?.count ?? 0;
}

function userIdOf(text: string | undefined): UserId | undefined {
  if (text === undefined) return undefined;
  if (isId('usr', text)) return text;
  throw new Error(`--user takes a user id such as usr_01J…, not ${text}.`);
}
