import type { Rental, Telemetry } from '@gpu-rental/client';
import { Option } from 'commander';
import type { Cli } from '../../cli.js';
import { timeSpan, type AddCommand } from '../../command.js';
import type { Column } from '../../output/table.js';
import { duration, localTime } from '../../output/time.js';
import { findRental } from '../../rentals/find-rental.js';
import { shortId } from '../../views/rental.js';
import { rentalArgument } from '../renting/show.js';

type Point = Telemetry['points'][number];

/** How many lines a time gets at most: of 20 of them, one begins within a minute. */
const LINES = 21;
const BAR_CHARS = 20;
const HOUR_SECONDS = 3_600;

/** gpu usage */
export const addUsage: AddCommand = (program, act) => {
  program
    .command('usage')
    .argument(...rentalArgument)
    .summary('how busy a machine was')
    .description(
      'How busy a machine’s GPUs, processors and memory were, if its provider reports that or you rented it with --telemetry. Kept for 32 days.',
    )
    .addOption(
      new Option('--last <time>', 'how far back, such as 30m or 2d')
        .argParser(timeSpan)
        .default(HOUR_SECONDS, '1h'),
    )
    .action(
      act(async (cli, given: string | undefined, { last }: { readonly last: number }) => {
        const client = cli.client();
        const rental = await findRental(cli, client, given, 'see');
        const end = rental.stoppedAt === null ? cli.now() : Date.parse(rental.stoppedAt);
        const from = new Date(end - last * 1_000).toISOString();
        const query = { from, points: LINES };
        const told = await client.rentals.telemetry(rental.id, query, { signal: cli.signal });
        cli.out.result(told, () => linesOf(cli, rental, told));
        return undefined;
      }),
    );
};

function linesOf({ out }: Cli, rental: Rental, { source, points, stepSeconds }: Telemetry): string[] {
  if (rental.runningAt === null) return out.text(`${shortId(rental.id)} has not started yet.`);
  if (source === null)
    return out.text(`${rental.provider} reported no usage of ${shortId(rental.id)} in that time.`);
  const reporter = source === 'reporter' ? 'the machine' : rental.provider;
  return [
    ...out.table(columns, points),
    '',
    ...out.text(`Each line is ${duration(stepSeconds)}. A dash means no data from ${reporter}.`),
  ];
}

const columns: Column<Point>[] = [
  { title: 'FROM', value: ({ at }) => localTime(at) },
  { title: 'GPUS', value: ({ gpuPercent }) => percent(gpuPercent), align: 'right' },
  { title: '', value: ({ gpuPercent }) => bar(gpuPercent), dropAs: 1 },
  {
    title: 'BUSIEST',
    value: ({ busiestGpuPercent }) => percent(busiestGpuPercent),
    align: 'right',
    dropAs: 2,
  },
  {
    ...{ title: 'GPU MEMORY', align: 'right', dropAs: 4 },
    value: ({ gpuMemoryPercent }) => percent(gpuMemoryPercent),
  },
  { title: 'CPU', value: ({ cpuPercent }) => percent(cpuPercent), align: 'right', dropAs: 3 },
  { title: 'MEMORY', value: ({ memoryPercent }) => percent(memoryPercent), align: 'right', dropAs: 3 },
];

function percent(value: number | null): string {
  return value === null ? '–' : `${value}%`;
}

function bar(value: number | null): string {
  return '█'.repeat(Math.round(((value ?? 0) / 100) * BAR_CHARS));
}
