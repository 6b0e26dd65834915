import { isApiError, type Rental } from '@gpu-rental/client';
import { Option } from 'commander';
import type { Cli } from '../../cli.js';
import { label, wholeNumber, type AddCommand } from '../../command.js';
import { usageFailure } from '../../failure.js';
import { usd } from '../../output/money.js';
import type { Column } from '../../output/table.js';
import { apart, cut } from '../../output/text.js';
import { localTime } from '../../output/time.js';
import { cutRows, pageFor, readCut, type CutList } from '../../views/cut-list.js';
import { costNow, gpusOf, isLive, runsFor, shortId, stateOf } from '../../views/rental.js';

interface Options {
  readonly all?: boolean;
  readonly limit: number;
  readonly label?: Readonly<Record<string, string>>;
  readonly mine?: boolean;
  readonly sort: (typeof sorts)[number];
}

const sorts = ['newest', 'oldest', 'name', 'price', 'cost'] as const;

/** What the service searches and sorts by. */
interface Query {
  readonly label?: string;
  readonly search?: string;
  readonly mine?: true;
  readonly sort: Options['sort'];
}

/** gpu ls */
export const addLs: AddCommand = (program, act) => {
  program
    .command('ls')
    .alias('list')
    .summary('your machines')
    .description('Your current machines, newest first; with --all, ended ones too.')
    .argument('[word...]', 'only machines with these words in name, id, labels, GPU, region or provider')
    .option('-a, --all', 'include ended ones')
    .option('-n, --limit <number>', 'how many at most', wholeNumber(1, 10_000), 50)
    .option('--label <key=value>', 'only machines with this label', label)
    .option('--mine', 'only machines that the key in use rented')
    .addOption(
      new Option('--sort <by>', 'running machines come first by cost').choices(sorts).default('newest'),
    )
    .action(
      act(async (cli, words: readonly string[], options: Options) => {
        await list(cli, words, options);
        return undefined;
      }),
    );
};

async function list(
  cli: Cli,
  sought: readonly string[],
  { all = false, limit, label: labels, mine = false, sort }: Options,
): Promise<void> {
  const { out } = cli;
  const search = sought.length > 0 && { search: sought.join(' ') };
  const query = { ...labelQuery(labels), ...search, ...(mine && { mine: true as const }), sort };
  const [cut, burn] = await Promise.all([readRentals(cli, all, limit, query), readBurn(cli)]);
  const { rows: rentals, words, more } = cut;
  const nowMs = cli.now();
  out.result({ rentals, ...more }, () => {
    if (rentals.length === 0) {
      return out.text(noneWords(all, search !== false || labels !== undefined || mine));
    }
    const told = [...words, ...(burn > 0 ? [`${sumOf(cut, query)} ${usd(burn)} an hour.`] : [])];
    return [...out.table(columnsOf(cli, rentals, nowMs, all), rentals), ...apart(told)];
  });
}

function noneWords(all: boolean, isNarrowed: boolean): string {
  if (!isNarrowed) {
    return all ? 'No rentals yet. Next: gpu rent' : 'No machines running. To see ended ones: gpu ls --all';
  }
  return all ? 'No rentals match.' : 'No running machines match. To search ended ones too: gpu ls --all';
}

/** The service adds up what runs: the rows that are shown may be some of it. */
function sumOf({ more }: CutList<Rental>, { label, search, mine }: Query): string {
  const isPart = [label, search, mine].some((narrower) => narrower !== undefined) || more.hasMore === true;
  return isPart ? 'All of your machines together:' : 'Together';
}

/** Cents an hour; 0 as well for a key that may not read money. */
async function readBurn(cli: Cli): Promise<number> {
  try {
    return (await cli.client().wallet.get({ signal: cli.signal })).burnPerHourCents;
  } catch (error) {
    if (isApiError(error, 'key_scope')) return 0;
    throw error;
  }
}

/** Those that live are few, and read as a whole: they are among the newest, but not always on the first page. */
async function readRentals(cli: Cli, all: boolean, limit: number, query: Query): Promise<CutList<Rental>> {
  const client = cli.client();
  const { signal } = cli;
  if (all) return readCut(client.rentals.list({ ...query, pageSize: pageFor(limit) }, { signal }), limit);
  return cutRows(
    await client.rentals.list({ ...query, live: true, pageSize: 200 }, { signal }).toArray(),
    limit,
  );
}

function labelQuery(labels: Options['label']): { label?: string } {
  const [first, ...others] = Object.entries(labels ?? {});
  if (others.length > 0) throw usageFailure('Use only one --label at a time.');
  return first === undefined ? {} : { label: `${first[0]}:${first[1]}` };
}

function columnsOf({ out }: Cli, rentals: readonly Rental[], nowMs: number, all: boolean): Column<Rental>[] {
  const hasNames = rentals.some(({ name }) => name !== null);
  return [
    { title: 'ID', value: ({ id }) => shortId(id), dress: (cell) => out.paint('bold', cell) },
    ...(hasNames
      ? [
          {
            title: 'NAME',
            value: ({ name }: Rental) => cut(name ?? '', 24),
            dropAs: 2,
          } satisfies Column<Rental>,
        ]
      : []),
    { title: 'GPUS', value: gpusOf, shrinksTo: 8 },
    { title: 'STATE', value: stateOf, dress: (cell, rental) => out.paint(colourOf(rental), cell) },
    { title: 'RAN', value: (rental) => runsFor(rental, nowMs) ?? '', align: 'right', dropAs: 1 },
    { title: 'COST', value: (rental) => usd(costNow(rental, nowMs)), align: 'right' },
    {
      title: 'PER HOUR',
      value: ({ pricePerHourCents }) => usd(pricePerHourCents),
      align: 'right',
      dropAs: 3,
    },
    { title: 'REGION', value: ({ region }) => cut(region, 24), dropAs: 5 },
    all
      ? { title: 'RENTED', value: ({ startedAt }) => localTime(startedAt), dropAs: 4 }
      : { title: 'ENDS', value: endsAt, dropAs: 4 },
  ];
}

function endsAt(rental: Rental): string {
  if (!isLive(rental) || rental.autoStopAt === null) return '';
  return localTime(rental.autoStopAt);
}

function colourOf({ status }: Rental): 'green' | 'yellow' | 'red' | 'dim' {
  if (status === 'running') return 'green';
  if (status === 'provisioning' || status === 'stopping') return 'yellow';
  return status === 'failed' ? 'red' : 'dim';
}
