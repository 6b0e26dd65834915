import { type AutoTopup, type GpuRental, type Topup, wordOf } from '@gpu-rental/client';
import { withSession } from '../../asking/with-session.js';
import type { Cli } from '../../cli.js';
import { dollars, wholeNumber, type AddCommand } from '../../command.js';
import { usageFailure } from '../../failure.js';
import { inOptions } from '../../fields.js';
import { usd } from '../../output/money.js';
import type { Column } from '../../output/table.js';
import { apart } from '../../output/text.js';
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
    .summary('your payments and automatic top-ups')
    .description('Your payments, newest first.')
    .option('-n, --limit <number>', 'how many at most', wholeNumber(1, 10_000), 20)
    .action(
      act(async (cli, { limit }: { limit: number }) => {
        await list(cli, limit);
        return undefined;
      }),
    );
  const auto = topup
    .command('auto')
    .summary('automatic top-ups')
    .description('Automatic top-ups: whether we charge your saved card when your balance runs low.')
    .action(
      act(async (cli) => {
        const settings = await cli.client().autoTopup.get({ signal: cli.signal });
        cli.out.result(settings, () => cli.out.text(wordsOf(settings)));
        return undefined;
      }),
    );
  auto
    .command('on')
    .description('Charge your saved card when your balance runs low. Asks for a code that we email you.')
    .requiredOption('--below <dollars>', 'when your available balance falls below this', dollars)
    .requiredOption('--amount <dollars>', 'how much each time', dollars)
    .option('--daily-cap <dollars>', 'how much a day at most (default: unchanged)', dollars)
    .option('--no-daily-cap', 'no daily cap')
    .action(act((cli, options: AutoOptions) => switchOn(cli, options)));
  auto
    .command('off')
    .description('Turn off automatic top-ups. Asks for a code that we email you.')
    .action(
      act(async (cli) => {
        const settings = await save(cli, { enabled: false });
        cli.out.result(settings, () => cli.out.text(wordsOf(settings)));
        return undefined;
      }),
    );
};

async function switchOn(cli: Cli, { below, amount, dailyCap }: AutoOptions): Promise<undefined> {
  if (below === undefined || amount === undefined) throw usageFailure('Use both --below and --amount.');
  const body = {
    ...{ enabled: true, thresholdCents: below, topupAmountCents: amount },
    ...(dailyCap !== undefined && { dailyCapCents: dailyCap === false ? null : dailyCap }),
  };
  const settings = await save(cli, body);
  cli.out.result(settings, () => [
    ...cli.out.text(wordsOf(settings)),
    ...settings.warnings.flatMap((warning) => cli.out.text(`Note: ${inOptions(warning)}`)),
  ]);
  return undefined;
}

type SaveAutoTopup = GpuRental['autoTopup']['save'];

function save(cli: Cli, body: Parameters<SaveAutoTopup>[0]): ReturnType<SaveAutoTopup> {
  const { enabled, topupAmountCents } = body;
  const state = enabled ? 'on' : 'off';
  const about = {
    details: { enabled, ...(topupAmountCents !== undefined && { topupAmountCents }) },
    next: 'Check with: gpu topup auto',
  };
  return withSession(cli, 'change automatic top-ups', (client) =>
    cli.commit(
      () => client.autoTopup.save(body),
      { ...about, message: `The service did not confirm whether automatic top-ups are ${state}.` },
      () => ({ ...about, message: `Automatic top-ups are now ${state}.` }),
    ),
  );
}

async function list(cli: Cli, limit: number): Promise<void> {
  const { out } = cli;
  const list = cli.client().topups.list({ pageSize: pageFor(limit) }, { signal: cli.signal });
  const { rows: topups, words, more } = await readCut(list, limit);
  out.result({ topups, ...more }, () =>
    topups.length === 0
      ? ['No payments yet. Next: gpu pay 20']
      : [...out.table(topupColumns, topups), ...apart(topups.flatMap(pageLines)), ...apart(words)],
  );
}

/** Where a payment that is open goes on. */
function pageLines({ amountCents, checkoutUrl }: Topup): string[] {
  return checkoutUrl === null ? [] : [`Pay the ${usd(amountCents)} on: ${checkoutUrl}`];
}

/** What of a payment is shown in lists. */
export const topupColumns: readonly Column<Topup>[] = [
  { title: 'WHEN', value: ({ createdAt }) => localTime(createdAt) },
  { title: 'AMOUNT', value: ({ amountCents }) => usd(amountCents), align: 'right' },
  { title: 'STATE', value: ({ status }) => wordOf(stateWords, status) },
  { title: 'HOW', value: ({ source }) => wordOf(sourceWords, source), dropAs: 1 },
  { title: 'ID', value: ({ id }) => id, dropAs: 2 },
];

const stateWords: Readonly<Record<Topup['status'], string>> = {
  creating: 'beginning',
  requires_payment: 'not paid yet',
  processing: 'at the bank',
  succeeded: 'paid',
  expired: 'page expired',
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
  charges_held: 'one of your payments is disputed',
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
    return `Automatic top-ups are off${why}. Turn them on: gpu topup auto on --below 10 --amount 25`;
  }
  const cap = dailyCapCents === null ? '' : `, at most ${usd(dailyCapCents)} a day`;
  return `When less than ${usd(thresholdCents ?? 0)} is available, we charge your card ${usd(topupAmountCents ?? 0)}${cap}.`;
}
