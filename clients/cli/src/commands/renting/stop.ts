import { isApiError, mayBeDone, type GpuRental, type Rental, type StoppedRental } from '@gpu-rental/client';
import type { Cli } from '../../cli.js';
import type { AddCommand } from '../../command.js';
import { Failure, usageFailure } from '../../failure.js';
import { usd } from '../../output/money.js';
import { findRental } from '../../rentals/find-rental.js';
import type { Standing } from '../../standing.js';
import { forgetMachine } from '../../ssh/pinned.js';
import { costNow, gpusOf, nameOf, shortId } from '../../views/rental.js';
import { rentalArgument } from './show.js';

/** What became of one stop. */
interface Outcome {
  readonly rental: Rental;
  readonly answer: StoppedRental | undefined;
  readonly error: unknown;
}

/** gpu stop */
export const addStop: AddCommand = (program, act) => {
  program
    .command('stop')
    .argument('[machine...]', rentalArgument[1])
    .summary('stop machines and their billing')
    .description('Stop one or more machines. Billing stops at once, and everything on their disks is lost.')
    .option('--all', 'all of your machines')
    .action(
      act(async (cli, given: readonly string[], { all = false }: { all?: boolean }) => {
        if (all && given.length > 0) throw usageFailure('Name the machines, or say --all.');
        await stop(cli, given, all);
        return undefined;
      }),
    );
};

async function stop(cli: Cli, given: readonly string[], all: boolean): Promise<void> {
  const client = cli.client();
  const rentals = all ? await liveOnes(cli, client) : await namedOnes(cli, client, given);
  if (given.length === 0) await agree(cli, rentals);
  cli.standing = standingOf(rentals.map((rental) => ({ rental, answer: undefined, error: undefined })));
  const outcomes = await Promise.all(rentals.map((rental) => stopOne(client, rental)));
  cli.standing = standingOf(outcomes);
  cli.out.result({ stopped: outcomes.flatMap(({ answer }) => (answer ? [answer] : [])) }, () =>
    outcomes.flatMap(({ rental, answer }) => (answer ? wordsOf(cli, rental, answer) : [])),
  );
  for (const { rental, answer } of outcomes) if (answer) forgetMachine(cli, rental.id);
  const [failed] = outcomes.filter(({ answer }) => answer === undefined);
  if (failed) throw failed.error;
}

/** Who names a machine means it; otherwise the question says which one. */
async function agree(cli: Cli, rentals: readonly Rental[]): Promise<void> {
  const [first] = rentals;
  if (!first) return;
  const nowMs = cli.now();
  const what =
    rentals.length === 1
      ? `${nameOf(first)} (${gpusOf(first)}, ${usd(costNow(first, nowMs))} so far)`
      : `all ${rentals.length} machines`;
  const agreed = await cli.asking.agree({
    message: `Stop ${what}? Everything on ${rentals.length === 1 ? 'its disk' : 'their disks'} is lost.`,
    otherwise: 'Name the machine, or add --yes.',
    givenUp: 'Nothing was stopped.',
  });
  if (!agreed) throw new Failure('givenUp', 'Nothing was stopped.');
}

/** Finds all that are named, each once, before one is stopped: a mistyped name stops nothing. */
async function namedOnes(cli: Cli, client: GpuRental, given: readonly string[]): Promise<Rental[]> {
  const found = new Map<string, Rental>();
  for (const name of given.length === 0 ? [undefined] : given) {
    const rental = await findRental(cli, client, name, 'end');
    found.set(rental.id, rental);
  }
  return [...found.values()];
}

async function liveOnes(cli: Cli, client: GpuRental): Promise<Rental[]> {
  const live = await client.rentals.list({ live: true, pageSize: 200 }, { signal: cli.signal }).toArray();
  const rentals = live.filter(({ status }) => status !== 'stopping');
  if (rentals.length === 0)
    throw new Failure('notFound', 'You have no machines now.', 'To see ended ones: gpu ls --all');
  return rentals;
}

/** Ctrl-C does not end it: a machine that should stop, should. */
async function stopOne(client: GpuRental, rental: Rental): Promise<Outcome> {
  try {
    return { rental, answer: await client.rentals.stop(rental.id), error: undefined };
  } catch (error) {
    if (isApiError(error, 'already_stopped')) {
      return { rental, answer: { id: rental.id, ...error.details }, error: undefined };
    }
    return { rental, answer: undefined, error };
  }
}

/** What was stopped, and what may go on; undefined where nothing was, for certain. */
function standingOf(outcomes: readonly Outcome[]): Standing | undefined {
  const idsOf = (some: readonly Outcome[]): string[] => some.map(({ rental }) => rental.id);
  const named = (ids: readonly string[]): string => ids.map((id) => `${shortId(id)} (${id})`).join(', ');
  const stopped = idsOf(outcomes.filter(({ answer }) => answer !== undefined));
  const failed = outcomes.filter(({ answer }) => answer === undefined);
  const unknown = idsOf(failed.filter(({ error }) => mayBeDone(error)));
  const running = idsOf(failed.filter(({ error }) => !mayBeDone(error)));
  if (stopped.length === 0 && unknown.length === 0) return undefined;
  return {
    details: { stopped, unknown, running },
    message: [
      ...(stopped.length === 0 ? [] : [`Stopped: ${named(stopped)}.`]),
      ...(unknown.length === 0 ? [] : [`May or may not be stopped: ${named(unknown)}.`]),
      ...(running.length === 0 ? [] : [`Not stopped, and still costing money: ${named(running)}.`]),
    ].join(' '),
    next: 'Check with: gpu ls. It is safe to stop one twice: gpu stop',
  };
}

function wordsOf(
  { out }: Cli,
  rental: Rental,
  { finalChargedCents, refundedCents }: StoppedRental,
): string[] {
  const cost =
    finalChargedCents === null
      ? 'The final bill is on its way: gpu show'
      : `It cost ${usd(finalChargedCents)}${refundedCents === null || refundedCents === 0 ? '' : `; you got back ${usd(refundedCents)} of the hold`}.`;
  return out.text(`Stopped ${out.paint('bold', shortId(rental.id))} (${gpusOf(rental)}). ${cost}`);
}
