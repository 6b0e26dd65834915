import type { Rental } from '@gpu-rental/client';
import type { Cli } from '../../cli.js';
import { instant, timeSpan, type AddCommand } from '../../command.js';
import { usageFailure } from '../../failure.js';
import { localTime } from '../../output/time.js';
import { findRental } from '../../rentals/find-rental.js';
import { shortId } from '../../views/rental.js';
import { rentalArgument } from '../renting/show.js';

interface Options {
  readonly for?: number;
  readonly until?: string;
}

/** gpu keep-alive */
export const addKeepAlive: AddCommand = (program, act) => {
  program
    .command('keep-alive')
    .argument(...rentalArgument)
    .summary('keep an idle machine running')
    .description(
      'Keep a machine running that would stop for being idle. It still stops at its limits, and when your balance runs out.',
    )
    .option('--for <time>', 'for this long, such as 2h; a day at most', timeSpan)
    .option('--until <time>', 'until this date or time', instant)
    .action(
      act(async (cli, given: string | undefined, options: Options) => {
        await keepAlive(cli, given, options);
        return undefined;
      }),
    );
};

async function keepAlive(cli: Cli, given: string | undefined, options: Options): Promise<void> {
  refuseContradictions(options);
  const client = cli.client();
  const rental = await findRental(cli, client, given, 'keep');
  const until = options.until ?? new Date(cli.now() + (options.for ?? 0) * 1_000).toISOString();
  const { out } = cli;
  const endOf = ({ idleGuard }: Rental): string => localTime(idleGuard?.keepAliveUntil ?? until);
  const named = `${shortId(rental.id)} (${rental.id})`;
  const about = { details: { rentalId: rental.id }, next: `Check with: gpu show ${shortId(rental.id)}` };
  const kept = await cli.commit(
    () => client.rentals.keepAlive(rental.id, until),
    {
      ...about,
      message: `The service did not confirm whether it keeps ${named} running. Where it does, it costs money until then.`,
    },
    (after) => ({ ...about, message: `${named} does not stop for being idle before ${endOf(after)}.` }),
  );
  out.result(kept, () =>
    out.text(`${out.paint('bold', shortId(kept.id))} does not stop for being idle before ${endOf(kept)}.`),
  );
}

function refuseContradictions({ for: seconds, until }: Options): void {
  if ((seconds === undefined) === (until === undefined)) {
    throw usageFailure('Say how long, by --for or --until.', 'Such as: gpu keep-alive --for 2h');
  }
}
