import type { Family, Listing } from '@gpu-rental/client';
import type { Cli } from '../../cli.js';
import { dollars, wholeNumber, type AddCommand } from '../../command.js';
import { Failure } from '../../failure.js';
import { usd } from '../../output/money.js';
import type { Column } from '../../output/table.js';
import { duration } from '../../output/time.js';
import { unknownFamily } from '../../rentals/unknown-family.js';
import { pageFor, readCut } from '../../views/cut-list.js';

interface Options {
  readonly gpus?: number;
  readonly region?: string;
  readonly minVram?: number;
  readonly minVcpus?: number;
  readonly minMemory?: number;
  readonly minDisk?: number;
  readonly maxPrice?: number;
  readonly limit: number;
}

/** gpu offers */
export const addOffers: AddCommand = (program, act) => {
  program
    .command('offers')
    .argument('[family]', 'such as h100-80gb (default: list all families)')
    .summary('what you can rent, and the prices')
    .description('What you can rent now, and the prices. Name a family to see its machines, cheapest first.')
    .option('-g, --gpus <number>', 'how many GPUs per machine: 1, 2, 4 or 8', wholeNumber(1, 8))
    .option('-r, --region <region>', 'us, eu, apac, or a country such as DE')
    .option('--min-vram <gb>', 'minimum memory per GPU', wholeNumber(1, 10_000))
    .option('--min-vcpus <number>', 'minimum virtual CPUs', wholeNumber(1, 10_000))
    .option('--min-memory <gb>', 'minimum memory of the machine', wholeNumber(1, 100_000))
    .option('--min-disk <gb>', 'minimum disk', wholeNumber(1, 1_000_000))
    .option('--max-price <dollars>', 'maximum price an hour', dollars)
    .option('-n, --limit <number>', 'how many machines at most', wholeNumber(1, 10_000), 20)
    .action(
      act(async (cli, family: string | undefined, options: Options) => {
        if (family === undefined && !isFiltered(options)) await showFamilies(cli);
        else await showListings(cli, family, options);
        return undefined;
      }),
    );
};

function isFiltered(options: Options): boolean {
  return Object.entries(options).some(
    ([name, value]: [string, unknown]) => name !== 'limit' && value !== undefined,
  );
}

async function showFamilies(cli: Cli): Promise<void> {
  const { out } = cli;
  const families = await cli.anyone().catalog.families({ signal: cli.signal });
  const onOffer = families.filter(({ liveCount }) => liveCount > 0).toSorted(byPrice);
  const others = families.filter(({ liveCount }) => liveCount === 0);
  const columns: Column<Family>[] = [
    { title: 'FAMILY', value: ({ family }) => family },
    { title: 'FROM', value: priceFrom, align: 'right' },
    { title: 'MACHINES', value: ({ liveCount }) => String(liveCount), align: 'right', dropAs: 1 },
  ];
  out.result({ families }, () => [
    ...out.table(columns, onOffer),
    '',
    ...(others.length === 0
      ? []
      : out.text(`Not available now: ${others.map(({ family }) => family).join(', ')}`)),
    ...out.text(`FROM is the lowest hourly price. See the machines: gpu offers ${onOffer[0]?.family ?? ''}`),
  ]);
}

function byPrice(a: Family, b: Family): number {
  return (a.fromPricePerHourCents ?? Infinity) - (b.fromPricePerHourCents ?? Infinity);
}

function priceFrom({ fromPricePerHourCents }: Family): string {
  return fromPricePerHourCents === null ? '' : usd(fromPricePerHourCents);
}

const startsLegend =
  'STARTS: how many of 100 started, and how fast, in 30 days; in brackets, of this machine in the last day. LOST: machines per 1,000 hours.';

const columns: Column<Listing>[] = [
  { title: 'GPUS', value: ({ gpuCount, model }) => `${gpuCount} x ${model.replaceAll('_', ' ')}` },
  { title: 'PER HOUR', value: ({ pricePerHourCents }) => usd(pricePerHourCents), align: 'right' },
  { title: 'REGION', value: ({ region }) => region, shrinksTo: 8 },
  { title: 'MACHINE', value: machineWords, dropAs: 3 },
  { title: 'STARTS', value: startsWords, align: 'right', dropAs: 1 },
  { title: 'LOST', value: lostWords, align: 'right', dropAs: 2 },
];

function queryOf(family: string | undefined, options: Options) {
  const { gpus: gpuCount, region, minVram: minVramGb, maxPrice: maxPricePerHourCents } = options;
  const { minVcpus, minMemory: minMemoryGb, minDisk: minDiskGb } = options;
  return {
    ...(family !== undefined && { familyId: family }),
    ...(gpuCount !== undefined && { gpuCount: gpuCount as 1 | 2 | 4 | 8 }),
    ...(region !== undefined && { region }),
    ...(minVramGb !== undefined && { minVramGb }),
    ...(minVcpus !== undefined && { minVcpus }),
    ...(minMemoryGb !== undefined && { minMemoryGb }),
    ...(minDiskGb !== undefined && { minDiskGb }),
    ...(maxPricePerHourCents !== undefined && { maxPricePerHourCents }),
  };
}

async function showListings(cli: Cli, family: string | undefined, options: Options): Promise<void> {
  const { out } = cli;
  const { limit } = options;
  const query = queryOf(family, options);
  const list = cli.anyone().catalog.listings({ ...query, pageSize: pageFor(limit) }, { signal: cli.signal });
  const { rows: listings, words, more } = await readCut(list, limit);
  const [cheapest] = listings;
  if (!cheapest && !out.isJson) await throwNothingFound(cli, family);
  const hasReliability = listings.some(({ reliability }) => Boolean(reliability));
  const shown = hasReliability ? columns : columns.filter(({ title }) => !['STARTS', 'LOST'].includes(title));
  out.result({ listings, ...more }, () => [
    ...out.table(shown, listings),
    '',
    ...words,
    ...(hasReliability && out.width >= 60 ? out.text(startsLegend) : []),
    ...(cheapest ? out.text(`Rent one: gpu rent ${cheapest.family} --gpus ${cheapest.gpuCount}`) : []),
  ]);
}

async function throwNothingFound(cli: Cli, family: string | undefined): Promise<never> {
  const families = await cli.anyone().catalog.families({ signal: cli.signal });
  if (family !== undefined && !families.some((each) => each.family === family)) {
    throw unknownFamily(family, families);
  }
  throw new Failure(
    'notAvailable',
    'No matching machine is available now.',
    'Change your filters, or see everything with: gpu offers',
  );
}

/** "16 CPUs, 64 GB", as far as the provider says. */
function machineWords({ vcpus, memoryGb, availableUntil }: Listing): string {
  // A service of an earlier release leaves them out.
  const words = [
    typeof vcpus === 'number' ? `${vcpus} CPUs` : '',
    typeof memoryGb === 'number' ? `${memoryGb} GB` : '',
    typeof availableUntil === 'string' ? `until ${availableUntil.slice(0, 10)}` : '',
  ];
  return words.filter((word) => word !== '').join(', ');
}

function startsWords({ reliability, recentStarts }: Listing): string {
  if (!reliability) return '';
  const speed = reliability.timeToSshSeconds;
  const share = `${Math.round(reliability.createSuccess * 100)}%`;
  return `${speed === null ? share : `${share}, ${duration(speed.p50)}`}${latelyWords(recentStarts)}`;
}

/** " (3 of 4)" where a machine of this very offer failed to start in the last day. */
function latelyWords(recent: Listing['recentStarts'] | undefined): string {
  return recent && recent.succeeded < recent.asked ? ` (${recent.succeeded} of ${recent.asked})` : '';
}

function lostWords({ reliability }: Listing): string {
  const lost = reliability?.lossesPer1000Hours ?? null;
  return lost === null ? '' : lost.toFixed(1);
}
