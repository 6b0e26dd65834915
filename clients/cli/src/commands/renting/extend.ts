import type { ChangeRental, Rental } from '@gpu-rental/client';
import type { Cli } from '../../cli.js';
import { dollars, instant, timeSpan, type AddCommand } from '../../command.js';
import { Failure, usageFailure } from '../../failure.js';
import { findRental } from '../../rentals/find-rental.js';
import { usd } from '../../output/money.js';
import { localTime } from '../../output/time.js';
import { gpusOf, isLive, limitsOf, shortId } from '../../views/rental.js';
import { guardOf, stopWhenIdleHelp, type GuardOptions } from './idle-guard.js';
import { rentalArgument } from './show.js';

interface Options extends GuardOptions {
  readonly by?: number;
  readonly until?: string;
  readonly maxSpend?: number;
  /** false: --no-time-limit. */
  readonly timeLimit: boolean;
  /** false: --no-spend-limit. */
  readonly spendLimit: boolean;
}

/** gpu extend */
export const addExtend: AddCommand = (program, act) => {
  program
    .command('extend')
    .argument(...rentalArgument)
    .summary('change a machine’s limits')
    .description(
      'Change the limits at which a machine stops. A lower limit does not refund what it has already cost.',
    )
    .option('--by <time>', 'how much longer than its current limit, such as 2h', timeSpan)
    .option('--until <time>', 'until this date or time, such as 2026-11-21T18:00', instant)
    .option('--max-spend <dollars>', 'until it has cost this much in total', dollars)
    .option('--no-time-limit', 'remove the time limit')
    .option('--no-spend-limit', 'remove the spending limit')
    .option('--stop-when-idle <time>', stopWhenIdleHelp, timeSpan)
    .option('--no-stop-when-idle', 'remove that')
    .option('--ignore-sessions', 'with --stop-when-idle: even while somebody is logged in')
    .action(
      act(async (cli, given: string | undefined, options: Options) => {
        await extend(cli, given, options);
        return undefined;
      }),
    );
};

async function extend(cli: Cli, given: string | undefined, options: Options): Promise<void> {
  refuseContradictions(options);
  const client = cli.client();
  const rental = await findRental(cli, client, given, 'extend');
  const change = changeOf(rental, options);
  refuseReached(rental, change, cli.now());
  const about = { details: { rentalId: rental.id }, next: `Check with: gpu show ${shortId(rental.id)}` };
  const changed = await cli.commit(
    () => client.rentals.change(rental.id, change),
    {
      ...about,
      message: `The service did not confirm whether it changed the limits of ${shortId(rental.id)} (${rental.id}).`,
    },
    (after) => ({ ...about, message: `${shortId(after.id)} (${after.id}) now stops ${limitsOf(after)}.` }),
  );
  const { out } = cli;
  out.result(changed, () =>
    out.text(
      `${out.paint('bold', shortId(changed.id))} (${gpusOf(changed)}) now stops ${limitsOf(changed)}.`,
    ),
  );
}

function refuseContradictions(options: Options): void {
  const { by, until, maxSpend, timeLimit, spendLimit } = options;
  const times = [by !== undefined, until !== undefined, !timeLimit].filter(Boolean).length;
  if (times > 1) throw usageFailure('Use only one of --by, --until and --no-time-limit.');
  if (maxSpend !== undefined && !spendLimit)
    throw usageFailure('Use either --max-spend or --no-spend-limit.');
  guardOf(options);
  const isOfGuard = options.stopWhenIdle !== undefined;
  if (times === 0 && maxSpend === undefined && spendLimit && !isOfGuard) {
    throw usageFailure('Say how long.', 'Such as: gpu extend --by 2h, or gpu extend --max-spend 50');
  }
}

function changeOf(rental: Rental, options: Options): ChangeRental {
  const { by, until, maxSpend, timeLimit, spendLimit } = options;
  return {
    ...(options.stopWhenIdle === false ? { stopWhenIdleMinutes: null } : guardOf(options)),
    ...(by !== undefined && { autoStopAt: laterBy(rental, by) }),
    ...(until !== undefined && { autoStopAt: until }),
    ...(!timeLimit && { autoStopAt: null }),
    ...(maxSpend !== undefined && { maxSpendCents: maxSpend }),
    ...(!spendLimit && { maxSpendCents: null }),
  };
}

function laterBy({ autoStopAt, id }: Rental, seconds: number): string {
  if (autoStopAt === null) {
    throw new Failure(
      'usage',
      `${shortId(id)} has no time limit to extend.`,
      `Limit its cost with: gpu extend ${shortId(id)} --max-spend 50. Or set a time with --until.`,
    );
  }
  return new Date(Date.parse(autoStopAt) + seconds * 1_000).toISOString();
}

/** A limit that is reached already ends a machine and its disk at once: that takes gpu stop, not a slip of the pen. */
function refuseReached(rental: Rental, { autoStopAt, maxSpendCents }: ChangeRental, nowMs: number): void {
  if (!isLive(rental)) return;
  const id = shortId(rental.id);
  const costs = rental.totalChargedCents;
  const isOver = typeof autoStopAt === 'string' && Date.parse(autoStopAt) <= nowMs;
  const isSpent = typeof maxSpendCents === 'number' && maxSpendCents <= costs;
  if (!isOver && !isSpent) return;
  const why = isOver ? `${localTime(autoStopAt)} is over` : `${id} has cost ${usd(costs)} already`;
  throw usageFailure(`${why}: ${id} would stop at once.`, `If you want that: gpu stop ${id}`);
}
