import type { Command } from 'commander';
import { readLedger } from '../../adapters/postgres/ledger/ledger-reads.js';
import { listActions } from '../../adapters/postgres/operators/operator-actions.js';
import { readUserSummary } from '../../adapters/postgres/accounts/user-lookup.js';
import type { RentalId } from '../../domain/ids.js';
import { using, type OpsContext } from '../context.js';
import { entryLine } from './ledger.js';
import { operate } from '../operator.js';
import { asOperator, centsOf, countOf, idOf, type OperatorOptions } from '../options.js';
import { iso, printFacts, printRows, readable, type Fact, type Print } from '../output.js';
import { getUser, userIdOf } from '../people/named-user.js';

type Move = OperatorOptions & { readonly user: string; readonly amountCents: number };

/** `ops wallet …` */
export function addWalletCommands(program: Command, context: OpsContext): void {
  const wallet = program
    .command('wallet')
    .alias('wallets')
    .description('Wallets: balances, and moving money by hand.')
    .addHelpText(
      'after',
      `
Examples:
  ops wallet show ann@example.com
  ops wallet refund --user ann@example.com --amount-cents 250 --rental rent_01J… --by ada --reason "the machine was slow"
  ops wallet adjust --user usr_01J… --amount-cents=-500 --by ada --reason "credited twice"`,
    );
  asOperator(wallet.command('refund').description('Refunds money to a wallet.'))
    .requiredOption('--user <who>', 'the user: email address or usr_…')
    .requiredOption('--amount-cents <cents>', 'positive', centsOf)
    .option('--rental <id>', 'the rental it refunds (rent_…)', idOf('rent'))
    .action(({ user, amountCents, rental, ...options }: Move & { rental?: RentalId }) =>
      operate(
        context,
        async (db) => ({
          kind: 'refund',
          userId: await userIdOf(db, user),
          amountCents,
          ...(rental === undefined ? {} : { rentalId: rental }),
        }),
        options,
      ),
    );
  asOperator(wallet.command('adjust').description('Corrects a wallet, up or down.'))
    .requiredOption('--user <who>', 'the user: email address or usr_…')
    .requiredOption('--amount-cents <cents>', 'signed: --amount-cents=-500 takes $5.00', centsOf)
    .action(({ user, amountCents, ...options }: Move) =>
      operate(
        context,
        async (db) => ({ kind: 'adjust', userId: await userIdOf(db, user), amountCents }),
        options,
      ),
    );
  readable(wallet.command('show').argument('<user>', 'an email address or usr_…'))
    .description('Shows the balance and the newest entries. To explain one: ops explain.')
    .option('--limit <count>', 'how many entries', countOf, 20)
    .action((who: string, { limit, json }: Print & { limit: number }) =>
      using(context, async (db) => {
        const { user, wallet: held } = await readUserSummary(db, await getUser(db, who));
        const { entries } = await readLedger(db, user.id, {}, limit);
        printFacts({ user, wallet: held, entries: entries }, json, [
          ['wallet', `${held.id} of ${user.id} ${user.email}`],
          ['holds', `${held.available_cents} available + ${held.reserved_cents} reserved cents`],
          ...entries.map((entry): Fact => ['entry', entryLine(entry)]),
        ]);
      }),
    );
}

/** `ops actions`: the traces of work by hand. */
export function addActionCommands(program: Command, context: OpsContext): void {
  readable(
    program
      .command('actions')
      .description('Shows what operators did by hand.')
      .command('list', { isDefault: true }),
  )
    .description('Lists it, newest first.')
    .option('--about <id>', 'about one user, rental, invoice, event, upstream or brake')
    .option('--limit <count>', 'how many at most', countOf, 50)
    .action(({ about, limit, json }: Print & { about?: string; limit: number }) =>
      using(context, async (db) => {
        printRows(await listActions(db, about, limit), json, (action) =>
          [
            `${iso(action.done_at)} ${action.id} ${action.kind} by ${action.operator}: ${action.reason}`,
            JSON.stringify(action.result),
          ].join(' '),
        );
      }),
    );
}
