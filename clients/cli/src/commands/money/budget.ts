import type { Budget, PutBudget } from '@gpu-rental/client';
import { byKeyOrSession } from '../../asking/with-session.js';
import type { Cli } from '../../cli.js';
import { dollars, type AddCommand } from '../../command.js';
import { usageFailure } from '../../failure.js';
import { usd } from '../../output/money.js';
import { localTime } from '../../output/time.js';

interface SetOptions {
  readonly hard?: boolean;
  readonly soft?: boolean;
}

/** gpu budget */
export const addBudget: AddCommand = (program, act) => {
  const budget = program
    .command('budget')
    .summary('how much machines may cost in a month')
    .description('How much your machines may cost in a month, and how much they have cost so far.')
    .action(
      act(async (cli) => {
        show(cli, await cli.client().wallet.budget({ signal: cli.signal }));
        return undefined;
      }),
    );
  budget
    .command('set')
    .argument('<dollars>', 'for each month, such as 50', dollars)
    .description('Set a monthly budget. Asks for a code that we email you.')
    .option('--hard', 'refuse rentals that would exceed it')
    .option('--soft', 'only alert you; without either option it stays as it is (soft at first)')
    .action(
      act(async (cli, monthlyCents: number, options: SetOptions) => {
        await set(cli, monthlyCents, options);
        return undefined;
      }),
    );
  budget
    .command('off')
    .description('Remove the budget. Asks for a code that we email you.')
    .action(
      act(async (cli) => {
        await save(cli, () => Promise.resolve({ monthlyCents: null }));
        return undefined;
      }),
    );
};

async function set(
  cli: Cli,
  monthlyCents: number,
  { hard = false, soft = false }: SetOptions,
): Promise<void> {
  if (hard && soft) throw usageFailure('Use either --hard or --soft.');
  await save(cli, async (before) => ({ monthlyCents, hard: hard || (!soft && (await before()).hard) }));
}

/** @param bodyFor makes the request; `before` reads what holds until now: a request that leaves `hard` out makes it soft */
async function save(cli: Cli, bodyFor: (before: () => Promise<Budget>) => Promise<PutBudget>): Promise<void> {
  const { signal } = cli;
  const next = 'Check with: gpu budget';
  const saved = await byKeyOrSession(cli, 'set the budget', async ({ wallet }) => {
    const body = await bodyFor(() => wallet.budget({ signal }));
    const details = { monthlyCents: body.monthlyCents };
    return cli.commit(
      () => wallet.saveBudget(body),
      { details, next, message: 'The service did not confirm whether it changed the budget.' },
      () => ({ details, next, message: 'The budget is changed.' }),
    );
  });
  show(cli, saved);
}

function show(cli: Cli, budget: Budget): void {
  const { out } = cli;
  const { month, monthEndsAt, monthlyCents, hard, spentCents, reservedCents, leftCents } = budget;
  out.result(budget, () => [
    ...out.facts([
      ['Month', `${month}, in UTC`],
      ['Ends', localTime(monthEndsAt)],
      ['Budget', monthlyCents === null ? 'none' : `${usd(monthlyCents)}, ${hard ? 'hard' : 'soft'}`],
      ['Spent', usd(spentCents)],
      ['Reserved', reservedCents === 0 ? usd(0) : `${usd(reservedCents)} for running machines`],
      ['Left', leftCents === null ? null : usd(leftCents)],
    ]),
    '',
    ...out.text(effectOf(budget)),
  ]);
}

function effectOf({ monthlyCents, hard, alertPercents }: Budget): string {
  if (monthlyCents === null) return 'Set one with: gpu budget set 50 --hard';
  const shares = alertPercents.length === 0 ? 'it' : `${listed(alertPercents.map(String))} % of it`;
  const told = `We email you when you have spent ${shares}.`;
  return hard ? `We refuse rentals that would exceed it. ${told}` : `${told} We refuse nothing.`;
}

function listed(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1) ?? ''}`;
}
