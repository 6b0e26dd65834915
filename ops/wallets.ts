import type { Command } from 'commander';
import type { Database } from '../adapters/postgres/database.js';
import type { RentalId, UserId } from '../domain/ids.js';
import {
  asOperator,
  centsOf,
  countOf,
  idOf,
  operate,
  type OperatorOptions,
  type TemporalAddress,
} from './operator.js';

type Move = OperatorOptions & { readonly user: UserId; readonly amountCents: number };

/** `ops wallet …` and `ops actions` */
export function addWalletCommands(
  program: Command,
  temporal: () => TemporalAddress,
  open: () => Database,
): void {
  const wallet = program.command('wallet').description('Money in wallets by hand.');
  asOperator(wallet.command('refund').description('Gives money back to a wallet.'))
    .requiredOption('--user <id>', 'whose (usr_…)', idOf('usr'))
    .requiredOption('--amount-cents <cents>', 'positive', centsOf)
    .option('--rental <id>', 'what it is given back for (rent_…)', idOf('rent'))
    .action(({ user: userId, amountCents, rental, ...options }: Move & { rental?: RentalId }) =>
      operate(
        temporal(),
        { kind: 'refund', userId, amountCents, ...(rental === undefined ? {} : { rentalId: rental }) },
        options,
      ),
    );
  asOperator(wallet.command('adjust').description('Corrects a wallet, up or down.'))
    .requiredOption('--user <id>', 'whose (usr_…)', idOf('usr'))
    .requiredOption('--amount-cents <cents>', 'signed: --amount-cents=-500 takes $5.00', centsOf)
    .action(({ user: userId, amountCents, ...options }: Move) =>
      operate(temporal(), { kind: 'adjust', userId, amountCents }, options),
    );
  program
    .command('actions')
    .description('What operators did by hand.')
    .command('list', { isDefault: true })
    .description('Lists it, newest first.')
    .option('--limit <count>', 'at most this many', countOf, 50)
    .option('--json', 'print them as JSON')
    .action(async ({ limit, json }: { limit: number; json?: boolean }) => {
      const db = open();
      try {
        await listActions(db, limit, json === true);
      } finally {
        await db.destroy();
      }
    });
}

async function listActions(db: Database, limit: number, json: boolean): Promise<void> {
  const actions = await db('operator_actions').orderBy('done_at', 'desc').limit(limit);
  if (json) {
    console.log(JSON.stringify(actions));
    return;
  }
  for (const { id, done_at: doneAt, kind, operator, reason, result } of actions) {
    console.log(`${doneAt.toISOString()} ${id} ${kind} by ${operator}: ${reason} ${JSON.stringify(result)}`);
  }
}
