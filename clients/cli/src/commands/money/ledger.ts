import { type LedgerEntry, wordOf } from '@gpu-rental/client';
import type { Cli } from '../../cli.js';
import { instant, wholeNumber, type AddCommand } from '../../command.js';
import { usageFailure } from '../../failure.js';
import { usd } from '../../output/money.js';
import type { Column } from '../../output/table.js';
import { localTime } from '../../output/time.js';
import { findRental } from '../../rentals/find-rental.js';
import { pageFor, readCut } from '../../views/cut-list.js';
import { shortId } from '../../views/rental.js';

interface Options {
  readonly machine?: string;
  readonly type?: LedgerEntry['type'];
  readonly limit: number;
  readonly csv?: boolean;
  readonly from?: string;
  readonly to?: string;
}

const kinds: Readonly<Record<LedgerEntry['type'], string>> = {
  processor_topup: 'paid in',
  auto_topup: 'automatic top-up',
  rental_charge: 'machine',
  refund: 'refund',
  adjustment: 'correction',
};

/** gpu ledger */
export const addLedger: AddCommand = (program, act) => {
  program
    .command('ledger')
    .summary('every change to your wallet')
    .description('Every change to your wallet, newest first, with the balance after it.')
    .option('-m, --machine <machine>', 'only this machine’s entries')
    .option('--type <type>', `only this kind: ${Object.keys(kinds).join(', ')}`, kind)
    .option('-n, --limit <number>', 'how many at most', wholeNumber(1, 100_000), 20)
    .option('--csv', 'everything, as a file for a spreadsheet')
    .option('--from <time>', 'with --csv: from this day or instant on', instant)
    .option('--to <time>', 'with --csv: before this date or time', instant)
    .action(
      act(async (cli, options: Options) => {
        await (options.csv === true ? writeCsv(cli, options) : list(cli, options));
        return undefined;
      }),
    );
};

function kind(text: string): LedgerEntry['type'] {
  const found = (Object.keys(kinds) as LedgerEntry['type'][]).find((each) => each === text);
  if (found !== undefined) return found;
  throw usageFailure(`--type must be one of ${Object.keys(kinds).join(', ')}.`);
}

async function list(cli: Cli, { machine, type, limit, from, to }: Options): Promise<void> {
  if (from !== undefined || to !== undefined)
    throw usageFailure('--from and --to need --csv. See also: gpu statement');
  const { out } = cli;
  const client = cli.client();
  const rentalId = machine === undefined ? undefined : (await findRental(cli, client, machine, 'see')).id;
  const query = { ...(rentalId !== undefined && { rentalId }), ...(type !== undefined && { type }) };
  const list = client.wallet.ledger({ ...query, pageSize: pageFor(limit) }, { signal: cli.signal });
  const { rows: entries, words, more } = await readCut(list, limit);
  out.result({ entries, ...more }, () =>
    entries.length === 0
      ? ['No entries yet.']
      : [...out.table(columns, entries), '', ...words, 'To explain an entry: gpu explain ID'],
  );
}

const columns: Column<LedgerEntry>[] = [
  { title: 'ID', value: ({ id }) => shortId(id) },
  { title: 'WHEN', value: ({ createdAt }) => localTime(createdAt), dropAs: 3 },
  { title: 'AMOUNT', value: ({ amountCents }) => usd(amountCents), align: 'right' },
  { title: 'AFTER', value: ({ balanceAfterCents }) => usd(balanceAfterCents), align: 'right', dropAs: 2 },
  { title: 'WHAT', value: whatWords, shrinksTo: 8 },
];

function whatWords({ type, rentalId }: LedgerEntry): string {
  const what = wordOf(kinds, type);
  return rentalId === undefined ? what : `${what} ${shortId(rentalId)}`;
}

/** The service's own CSV, as it is. */
async function writeCsv(cli: Cli, { from, to, machine, type }: Options): Promise<void> {
  if (machine !== undefined || type !== undefined)
    throw usageFailure('--csv always has all kinds and machines.');
  if (cli.out.isJson) throw usageFailure('Use either --csv or --json.');
  const query = { ...(from !== undefined && { from }), ...(to !== undefined && { to }) };
  const { signal } = cli;
  await cli.out.pour(() => cli.client().wallet.ledgerCsvStream(query, { signal }), signal);
}
