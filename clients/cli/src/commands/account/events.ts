import type { Event, EventType, Rental } from '@gpu-rental/client';
import type { Cli } from '../../cli.js';
import { eventTypes, wholeNumber, type AddCommand } from '../../command.js';
import { usageFailure } from '../../failure.js';
import { usd } from '../../output/money.js';
import type { Column } from '../../output/table.js';
import { apart, pad } from '../../output/text.js';
import { clockTime, localTime } from '../../output/time.js';
import { findRental } from '../../rentals/find-rental.js';
import { cutFirst } from '../../views/cut-list.js';
import { isAbout, newestEvents } from '../../views/newest-events.js';
import { aboutWords } from '../../views/rental.js';
import { tellOfConnection } from '../../watch/connection.js';

interface Options {
  readonly follow?: boolean;
  readonly after?: number;
  readonly types?: readonly EventType[];
  readonly limit?: number;
}

const usualLimit = 20;

/** gpu events */
export const addEvents: AddCommand = (program, act) => {
  program
    .command('events')
    .argument('[machine]', 'only its events: its id, the end of its id, or its name')
    .summary('what happened to your account')
    .description('What happened to your account or to one machine, newest first.')
    .option('-f, --follow', 'what happens from now on, until ctrl-C')
    .option('--after <number>', 'only events after this one', wholeNumber(0, Number.MAX_SAFE_INTEGER))
    .option('--types <types>', 'only these, separated by commas: rental.running,rental.stopped', eventTypes)
    .option('-n, --limit <number>', `how many at most (default: ${usualLimit})`, wholeNumber(1, 10_000))
    .action(
      act(async (cli, machine: string | undefined, options: Options) => {
        if (options.follow === true && options.limit !== undefined)
          throw usageFailure('Use either --follow or --limit.');
        const rental =
          machine === undefined ? undefined : await findRental(cli, cli.client(), machine, 'see');
        await (options.follow === true ? follow(cli, rental, options) : list(cli, rental, options));
        return undefined;
      }),
    );
};

async function list(cli: Cli, rental: Rental | undefined, options: Options): Promise<void> {
  const { limit = usualLimit, after, types } = options;
  // One more than is shown tells whether the list is cut.
  const asked = { about: rental, after, types, most: limit + 1 };
  const found = await newestEvents(cli.client(), asked, { signal: cli.signal });
  const { rows: events, words, more } = cutFirst(found, limit);
  const { out } = cli;
  out.result({ events, ...more }, () => {
    if (events.length === 0) return ['No events yet.'];
    return [...out.table(columns, events), ...apart(words.flatMap((text) => out.text(text)))];
  });
}

const columns: Column<Event>[] = [
  { title: 'NUMBER', value: ({ seq }) => String(seq), align: 'right', dropAs: 3 },
  { title: 'WHEN', value: ({ createdAt }) => localTime(createdAt), dropAs: 2 },
  { title: 'EVENT', value: ({ type }) => type },
  { title: 'ABOUT', value: ({ entityId }) => aboutWords(entityId), shrinksTo: 6 },
  { title: 'DETAIL', value: detailOf, dropAs: 1 },
];

async function follow(cli: Cli, rental: Rental | undefined, { after, types }: Options): Promise<void> {
  const { out, signal } = cli;
  try {
    const stream = cli.client().events.stream({ signal, after, types });
    for await (const item of stream) {
      if (item.kind !== 'event') tellOfConnection(out, item, 'Following');
      else if (!isAbout(item.event, rental)) continue;
      else if (out.isJson) out.jsonLine(item.event);
      else out.print(lineOf(item.event));
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

function lineOf(event: Event): string {
  const { createdAt, type, entityId } = event;
  return `${clockTime(createdAt)}  ${pad(type, 22)}  ${aboutWords(entityId)}  ${detailOf(event)}`.trimEnd();
}

const reasons = ['reason', 'warning', 'message'] as const;
const amounts = ['chargedCents', 'creditedCents', 'amountCents', 'balanceCents'] as const;

/** Why, and how much, where an event tells it. */
function detailOf(event: Event): string {
  const data: Readonly<Record<string, unknown>> = event.data;
  const why = reasons.map((field) => data[field]).find((value) => typeof value === 'string');
  const cents = amounts.map((field) => data[field]).find((value) => typeof value === 'number');
  return [...(why === undefined ? [] : [why]), ...(cents === undefined ? [] : [usd(cents)])].join(', ');
}
