import { type Rental, wordOf } from '@gpu-rental/client';
import type { Cli } from '../../cli.js';
import type { AddCommand } from '../../command.js';
import { usd } from '../../output/money.js';
import { localTime } from '../../output/time.js';
import { findRental } from '../../rentals/find-rental.js';
import {
  costNow,
  endpointFacts,
  gpusOf,
  isLive,
  limitsOf,
  phaseWords,
  runsFor,
  stateOf,
  warningWords,
  whyEnded,
} from '../../views/rental.js';
import { wordFacts } from './words.js';

/** How a machine may be named on the command line. */
const names = 'its id, the end of its id, or its name';
export const machineArgument = ['<machine>', names] as const;
export const rentalArgument = ['[machine]', `${names} (default: your only one)`] as const;

/** gpu show */
export const addShow: AddCommand = (program, act) => {
  program
    .command('show')
    .argument(...rentalArgument)
    .summary('details of a machine')
    .description('Details of one of your machines.')
    .action(
      act(async (cli, given: string | undefined) => {
        const rental = await findRental(cli, cli.client(), given, 'see');
        cli.out.result(rental, () => linesOf(cli, rental));
        return undefined;
      }),
    );
};

function linesOf(cli: Cli, rental: Rental): string[] {
  const { out } = cli;
  const nowMs = cli.now();
  return [
    ...out.facts([
      ['Id', rental.id],
      ['Name', rental.name],
      ['Machine', `${gpusOf(rental)} in ${rental.region}`],
      ['Installed', rental.software?.image ?? rental.templateId],
      ['State', stateWords(rental)],
      ['Ended', whyEnded(rental)],
      ['Ran', runsFor(rental, nowMs)],
      ['Cost', `${usd(costNow(rental, nowMs))}, at ${usd(rental.pricePerHourCents)} an hour`],
      ['Ends', isLive(rental) ? limitsOf(rental) : null],
      ...wordFacts(rental),
      ['Rented', localTime(rental.startedAt)],
      ['Ready', rental.runningAt === null ? null : localTime(rental.runningAt)],
      ['Stopped', rental.stoppedAt === null ? null : localTime(rental.stoppedAt)],
      ...(isLive(rental) ? endpointFacts(rental) : []),
      ['SSH', isLive(rental) ? addressOf(rental) : null],
      ['Host key', isLive(rental) ? rental.hostKeyFingerprint : null],
    ]),
    ...(isLive(rental) ? rental.warnings : []).flatMap((warning) =>
      out.text(`Note: ${warningWords(warning)}`),
    ),
  ];
}

function stateWords(rental: Rental): string {
  if (rental.status !== 'provisioning' || rental.phase === null) return stateOf(rental);
  return wordOf(phaseWords, rental.phase).toLowerCase();
}

/** Without its user, whose name is the upstream's: `gpu ssh` knows it. */
function addressOf({ host, port }: Rental): string | null {
  return host === null || port === null ? host : `${host} port ${port}`;
}
