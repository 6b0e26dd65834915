import { type AutoTopup, type Topup, wordOf } from '@gpu-rental/client';
import { withSession } from '../../asking/with-session.js';
import type { Cli } from '../../cli.js';
import { dollars, wholeNumber, type AddCommand } from '../../command.js';
import { usageFailure } from '../../failure.js';
import { inOptions } from '../../fields.js';
import { usd } from '../../output/money.js';
import type { Column } from '../../output/table.js';
import { localTime } from '../../output/time.js';
import { pageFor, readCut } from '../../views/cut-list.js';

interface AutoOptions {
  readonly below?: number;
  readonly amount?: number;
  /** false: --no-daily-cap. */
  readonly dailyCap?: number | false;
}

/** gpu topup */
export const addTopup: AddCommand = (program, act) => {
  const topup = program
    .command('topup')
    .summary('your payments, and automatic ones')
    .description('Your payments, the newest first.')
    .option('-n, --limit <number>', 'at most so many', wholeNumber(1, 10_000), 20)
    .action(
      act(async (cli, { limit }: { limit: number }) => {
        await list(cli, limit);
        return undefined;
      }),
    );
  const auto = topup
    .command('auto')
    .summary('whether your card is charged by itself')
    .description('Whether your saved card is charged by itself when the money runs low.')
    .action(
      act(async (cli) => {
        const settings = await cli.client().autoTopup.get({ signal: cli.signal });
        cli.out.result(settings, () => cli.out.text(wordsOf(settings)));
        return undefined;
      }),
    );
  auto
    .command('on')
    .description('Charge the saved card by itself when the money runs low. This asks for a mailed code.')
    .requiredOption('--below <dollars>', 'when less than this is available', dollars)
    .requiredOption('--amount <dollars>', 'so much each time', dollars)
    .option('--daily-cap <dollars>', 'at most so much a day; stays as it is when it is not said', dollars)
    .option('--no-daily-cap', 'as often as it is needed')
    .action(act((cli, options: AutoOptions) => switchOn(cli, options)));
  auto
    .command('off')
    .description('Charge nothing by itself any more. This asks for a mailed code.')
    .action(
      act(async (cli) => {
        const settings = await withSession(
          cli,
          'Automatic top-ups are changed by a sign-in only.',
          (client) => client.autoTopup.save({ enabled: false }),
        );
        cli.out.result(settings, () => cli.out.text(wordsOf(settings)));
        return undefined;
      }),
    );
};

async function switchOn(cli: Cli, { below, amount, dailyCap }: AutoOptions): Promise<undefined> {
  if (below === undefined || amount === undefined) throw usageFailure('Say --below and --amount.');
  const body = {
    ...{ enabled: true, thresholdCents: below, topupAmountCents: amount },
    ...(dailyCap !== undefined && { dailyCapCents: dailyCap === false ? null : dailyCap }),
  };
  const about = { details: { topupAmountCents: amount }, next: 'Look with: gpu topup auto' };
  const settings = await withSession(cli, 'Automatic top-ups are changed by a sign-in only.', (client) =>
    cli.commit(
      () => client.autoTopup.save(body),
      { ...about, message: 'The service did not say whether automatic top-ups are on now.' },
      () => ({ ...about, message: 'Automatic top-ups are on now.' }),
    ),
  );
  cli.out.result(settings, () => [
    ...cli.out.text(wordsOf(settings)),
    ...settings.warnings.flatMap((warning) => cli.out.text(`Note: ${inOptions(warning)}`)),
  ]);
  return undefined;
}

async function list(cli: Cli, limit: number): Promise<void> {
  const { out } = cli;
  const list = cli.client().topups.list({ pageSize: pageFor(limit) }, { signal: cli.signal });
  const { rows: topups, words, more } = await readCut(list, limit);
  out.result({ topups, ...more }, () =>
    topups.length === 0
      ? ['You have paid nothing yet. Next: gpu pay 20']
      : [...out.table(columns, topups), ...(words.length === 0 ? [] : ['', ...words])],
  );
}

const columns: Column<Topup>[] = [
  { title: 'WHEN', value: ({ createdAt }) => localTime(createdAt) },
  { title: 'AMOUNT', value: ({ amountCents }) => usd(amountCents), align: 'right' },
  { title: 'STATE', value: ({ status }) => wordOf(stateWords, status) },
  { title: 'HOW', value: ({ source }) => wordOf(sourceWords, source), dropAs: 1 },
  { title: 'ID', value: ({ id }) => id, dropAs: 2 },
];

const stateWords: Readonly<Record<Topup['status'], string>> = {
  creating: 'beginning',
  requires_payment: 'not paid',
  processing: 'at the bank',
  succeeded: 'paid',
  expired: 'not paid',
  failed: 'failed',
};

const sourceWords: Readonly<Record<Topup['source'], string>> = {
  checkout: 'payment page',
  saved_card: 'saved card',
  auto_topup: 'automatic',
};

const whyOff: Readonly<Record<string, string>> = {
  charge_failed: 'the last charge failed',
  card_removed: 'the card was removed',
  card_expired: 'the card has expired',
  charges_held: 'a payment of yours is disputed',
};

function wordsOf({
  enabled,
  thresholdCents,
  topupAmountCents,
  dailyCapCents,
  disabledReason,
}: AutoTopup): string {
  if (!enabled) {
    const why = disabledReason === null ? '' : ` (${whyOff[disabledReason] ?? disabledReason})`;
    return `Automatic top-ups are off${why}. Switch them on: gpu topup auto on --below 10 --amount 25`;
  }
  const cap = dailyCapCents === null ? '' : `, at most ${usd(dailyCapCents)} a day`;
  return `When less than ${usd(thresholdCents ?? 0)} is available, ${usd(topupAmountCents ?? 0)} are charged to your card${cap}.`;
}
