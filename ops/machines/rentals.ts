import type { Command } from 'commander';
import {
  listAllRentals,
  readRentalHistory,
  type RentalHistory,
} from '../../adapters/postgres/explain/rental-timeline.js';
import type { RentalRow } from '../../adapters/postgres/rows/tables.js';
import { signalRental } from '../../adapters/temporal/signal-workflow.js';
import type { RentalId } from '../../domain/ids.js';
import { rentalStatuses, type RentalStatus } from '../../domain/rentals/rental.js';
import { using, type OpsContext } from '../context.js';
import { actByHand } from '../direct.js';
import { operate } from '../operator.js';
import { asOperator, countOf, idOf, oneOf, type OperatorOptions } from '../options.js';
import { iso, printFacts, printRows, readable, whenSet, type Fact, type Print } from '../output.js';
import { linkTo } from '../temporal-links.js';
import { getUser } from '../people/named-user.js';

type Listing = Print & {
  readonly user?: string;
  readonly status?: RentalStatus;
  readonly provider?: string;
  readonly open?: boolean;
  readonly limit: number;
};

/** `ops rentals …` */
export function addRentalCommands(program: Command, context: OpsContext): void {
  const rentals = program
    .command('rentals')
    .alias('rental')
    .description('Rentals: their history, and how to end one.')
    .addHelpText(
      'after',
      `
Examples:
  ops rentals list --open --provider shadeform
  ops rentals show rent_01J…
  ops rentals stop rent_01J… --by ada --reason "abuse" --yes
  ops rentals close-ports rent_01J… --by ada --reason "a phishing page" --yes
  ops rentals force-terminate rent_01J… --by ada --reason "stuck for an hour" --yes`,
    );
  addReading(rentals, context);
  asOperator(rentals.command('stop').argument('<rental>', 'rent_…', idOf('rent')))
    .description('Stops its billing now and then its machine, as if its user had stopped it.')
    .action((rentalId: RentalId, options: OperatorOptions) =>
      actByHand(context, { kind: 'stop_rental', rentalId }, options, {
        then: 'stops its billing now and then its machine, and loses everything on it',
        signal: ({ workflow }) => signalRental(workflow, rentalId),
      }),
    );
  asOperator(rentals.command('close-ports').argument('<rental>', 'rent_…', idOf('rent')))
    .description(
      'Closes its public ports now and tells its user. No upstream can while a machine runs, so this stops the rental.',
    )
    .action((rentalId: RentalId, options: OperatorOptions) =>
      operate(context, { kind: 'close_ports', rentalId }, options),
    );
  asOperator(rentals.command('force-terminate').argument('<rental>', 'rent_…', idOf('rent')))
    .description('Stops its billing, and ends every machine bought for it, at once.')
    .option('--accept-gone', 'does not ask the upstream: you have checked in its console that they are gone')
    .action((rentalId: RentalId, { acceptGone, ...options }: OperatorOptions & { acceptGone?: boolean }) =>
      operate(context, { kind: 'terminate_rental', rentalId, acceptGone: acceptGone === true }, options),
    );
}

function addReading(rentals: Command, context: OpsContext): void {
  readable(rentals.command('list'))
    .description('Lists them, newest first.')
    .option('--user <who>', 'of one user: email address or usr_…')
    .option('--status <status>', rentalStatuses.join(', '), oneOf(rentalStatuses))
    .option('--provider <code>', 'at one upstream')
    .option('--open', 'only open ones: running, or with a machine that is not gone')
    .option('--limit <count>', 'how many at most', countOf, 50)
    .action(({ user, json, limit, ...options }: Listing) =>
      using(context, async (db) => {
        const userId = user === undefined ? undefined : (await getUser(db, user)).id;
        const filter = { ...options, userId, providerCode: options.provider };
        printRows(await listAllRentals(db, filter, limit), json, lineOf);
      }),
    );
  readable(rentals.command('show').argument('<rental>', 'rent_…', idOf('rent')))
    .description('Shows one rental: its money, every try to get a machine, and its history.')
    .action((id: RentalId, { json }: Print) =>
      using(context, async (db) => {
        const history = await readRentalHistory(db, id);
        if (!history) throw new Error(`There is no rental ${id}: see ops rentals list.`);
        const workflow = linkTo(context.ui(), id);
        printFacts({ ...history, workflow }, json, factsOf(history, workflow));
      }),
    );
}

function lineOf(row: RentalRow): string {
  return [
    row.id,
    row.status.padEnd(12),
    `${row.gpu_count} x ${row.model} at ${row.provider_code}, ${row.price_per_hour_cents} cents/h`,
    `${row.charged_cents - row.refunded_cents} cents charged`,
    row.user_id,
    `since ${iso(row.started_at)}`,
    row.stop_reason ?? '',
  ].join('  ');
}

function factsOf({ rental, attempts, timeline }: RentalHistory, workflow: string): Fact[] {
  const net = rental.charged_cents - rental.refunded_cents;
  return [
    ['rental', `${rental.id} ${rental.status} of ${rental.user_id}${whenSet(rental.ended_at, 'ended')}`],
    ['machine', `${rental.gpu_count} x ${rental.model} at ${rental.provider_code}, ${rental.region}`],
    ['address', rental.host && `${rental.username ?? ''}@${rental.host}:${rental.port ?? ''}`],
    [
      'money',
      `${rental.price_per_hour_cents} cents/h; ${rental.charged_cents} charged - ${rental.refunded_cents} refunded = ${net}; ${rental.hold_cents} held; ${rental.overage_cents} overage, ${rental.written_off_cents} written off`,
    ],
    ['error', rental.error],
    ...attempts.map((attempt): Fact => [
      `attempt ${attempt.attempt}`,
      `${attempt.provider_code} ${attempt.offer_id}: ${attempt.state}, machine ${attempt.pod_id ?? 'none'}, tag ${attempt.tag}${attempt.error === null ? '' : `; ${attempt.error}`}`,
    ]),
    ...timeline.map(({ at, what }): Fact => ['timeline', `${at.toISOString()}  ${what}`]),
    ['workflow', workflow],
  ];
}
