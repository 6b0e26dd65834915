import type { Command } from 'commander';
import { readAffected, type AffectedRental } from '../../adapters/postgres/operators/affected-rentals.js';
import { readClock } from '../../adapters/postgres/clock.js';
import type { Database } from '../../adapters/postgres/database.js';
import { findOrder, type OrderedItem } from '../../adapters/postgres/operators/operator-orders.js';
import type { OperationId } from '../../domain/ids.js';
import type { RefundRentalsAction } from '../../domain/operations/operation.js';
import type { TimeWindow } from '../../domain/metering/window-charge.js';
import { using, type OpsContext } from '../context.js';
import { carryOut, placeOrder } from '../operator.js';
import { asOperator, instantOf, type OperatorOptions } from '../options.js';
import { iso, readable, type Print } from '../output.js';

interface Where extends TimeWindow {
  readonly provider: string;
}

/**
 * `ops affected …`: the users who had a machine of an upstream in a window, and one order that gives them its charge
 * back.
 */
export function addAffectedCommands(program: Command, context: OpsContext): void {
  const affected = program
    .command('affected')
    .description('Outages: whose machines ran at an upstream in a window, and how to refund them.')
    .addHelpText(
      'after',
      `
Give times with their offset, or days, which start at midnight UTC.
Examples:
  ops affected --provider shadeform --from 2026-11-21T09:00:00Z --to 2026-11-21T10:30:00Z
  ops affected refund --provider shadeform --from 2026-11-21T09:00:00Z --to 2026-11-21T10:30:00Z --reason "their network was down"
  ops orders show op_01J…           how far it has come
  ops orders items op_01J…          what each rental gets`,
    );
  inWindow(readable(affected.command('list', { isDefault: true })))
    .description(
      'Lists the rentals, what each was charged for the window, and how much can still be refunded.',
    )
    .action(({ json, ...where }: Where & Print) =>
      using(context, async (db) => {
        const rentals = await listAffected(db, where);
        print(where, rentals, json === true);
      }),
    );
  inWindow(asOperator(affected.command('refund')))
    .description('Refunds the rest, with one order that names each rental’s cents.')
    .action((options: Where & OperatorOptions) =>
      using(context, async (db) => {
        const { action, items } = await findAsked(db, options, options.operation);
        const order = await placeOrder(db, action, options, items);
        if (order) await carryOut(context, db, order.id, options);
      }),
    );
}

function inWindow(command: Command): Command {
  return command
    .requiredOption('--provider <code>', 'the upstream')
    .requiredOption('--from <time>', 'when it started, such as 2026-11-21T09:00:00Z', instantOf)
    .requiredOption('--to <time>', 'when it ended', instantOf);
}

/** Lists the rentals of a window. @throws Error naming what is wrong with the window or the upstream */
async function listAffected(db: Database, { provider, from, to }: Where): Promise<AffectedRental[]> {
  if (from >= to) throw new Error(`--from (${iso(from)}) must be before --to (${iso(to)}).`);
  const now = await readClock(db);
  if (to > now) {
    throw new Error(`--to (${iso(to)}) is in the future: it is now ${iso(now)}. Use a time that has passed.`);
  }
  if (!(await db('providers').where({ code: provider }).first('code'))) {
    throw new Error(`There is no upstream ${provider}: see ops providers.`);
  }
  const rentals = await readAffected(db, provider, { from, to }, MAX_RENTALS + 1);
  if (rentals.length <= MAX_RENTALS) return rentals;
  throw new Error(`More than ${MAX_RENTALS} rentals ran then. Use a shorter window, then the next one.`);
}

/** The most rentals of one order: a second operator reads it to approve it. */
const MAX_RENTALS = 20_000;

interface Asked {
  readonly action: RefundRentalsAction;
  readonly items: readonly OrderedItem[];
}

/**
 * The order's request. An order that is repeated by its id asks for the same as before, whatever has been given since.
 */
async function findAsked(db: Database, where: Where, repeated: OperationId | undefined): Promise<Asked> {
  const { provider: providerCode, from, to } = where;
  const window = { providerCode, from: iso(from), to: iso(to) };
  const known = repeated === undefined ? undefined : (await findOrder(db, repeated))?.request;
  if (known?.kind === 'refund_rentals' && isOf(known, window)) return { action: known, items: [] };
  const rentals = await listAffected(db, where);
  const items = rentals
    .map(({ no, refundableCents }) => ({ rentalNo: no, amountCents: refundableCents }))
    .filter(({ amountCents }) => amountCents > 0);
  if (items.length === 0) throw new Error(nothingLeft(where, rentals));
  const amountCents = items.reduce((sum, item) => sum + item.amountCents, 0);
  return { action: { kind: 'refund_rentals', ...window, amountCents, rentals: items.length }, items };
}

function isOf(
  action: RefundRentalsAction,
  window: Pick<RefundRentalsAction, 'providerCode' | 'from' | 'to'>,
): boolean {
  const { providerCode, from, to } = window;
  return action.providerCode === providerCode && action.from === from && action.to === to;
}

function nothingLeft({ provider, from, to }: Where, rentals: readonly AffectedRental[]): string {
  if (rentals.length === 0) return noneText(provider, from, to);
  return `There is nothing to refund: ${totalText(totalsOf(rentals))}.`;
}

function noneText(provider: string, from: Date, to: Date): string {
  return `No machine of ${provider} was billed between ${iso(from)} and ${iso(to)}.`;
}

type Totals = Omit<AffectedRental, 'no' | 'rentalId' | 'userId' | 'status' | 'runningAt' | 'endedAt'> & {
  readonly rentals: number;
  readonly users: number;
};

function totalsOf(rentals: readonly AffectedRental[]): Totals {
  const sum = (of: (rental: AffectedRental) => number): number =>
    rentals.reduce((total, rental) => total + of(rental), 0);
  return {
    rentals: rentals.length,
    users: new Set(rentals.map(({ userId }) => userId)).size,
    chargedCents: sum((rental) => rental.chargedCents),
    refundedCents: sum((rental) => rental.refundedCents),
    orderedCents: sum((rental) => rental.orderedCents),
    unsettledCents: sum((rental) => rental.unsettledCents),
    refundableCents: sum((rental) => rental.refundableCents),
  };
}

function print({ provider, from, to }: Where, rentals: readonly AffectedRental[], json: boolean): void {
  const totals = totalsOf(rentals);
  if (json) {
    console.log(JSON.stringify({ providerCode: provider, from, to, rentals, totals }));
  } else if (rentals.length === 0) {
    console.log(noneText(provider, from, to));
  } else {
    for (const rental of rentals) console.log(lineOf(rental));
    console.log(`${totals.rentals} rentals of ${totals.users} users: ${totalText(totals)}`);
  }
}

function lineOf(rental: AffectedRental): string {
  const until = rental.endedAt === null ? 'now' : iso(rental.endedAt);
  return [
    rental.rentalId,
    rental.status.padEnd(8),
    rental.userId,
    `${iso(rental.runningAt)} until ${until}`,
    totalText(rental),
  ].join('  ');
}

/** "120 cents charged, 20 given back already, 100 left"; zero amounts are left out. */
function totalText(
  cents: Pick<
    AffectedRental,
    'chargedCents' | 'refundedCents' | 'orderedCents' | 'unsettledCents' | 'refundableCents'
  >,
): string {
  const parts: [number, string][] = [
    [cents.refundedCents, 'already refunded'],
    [cents.orderedCents, 'already ordered'],
    [cents.unsettledCents, 'not settled: the machine was not seen alive since'],
  ];
  const told = parts.filter(([amount]) => amount > 0).map(([amount, what]) => `, ${amount} ${what}`);
  return `${cents.chargedCents} cents charged${told.join('')}, ${cents.refundableCents} left`;
}
