import type { Command } from 'commander';
import {
  readSettlementSheet,
  type SettlementSheet,
  type SheetLine,
} from '../../adapters/postgres/explain/settlement-sheet.js';
import type { RentalId } from '../../domain/ids.js';
import { using, type OpsContext } from '../context.js';
import { idOf } from '../options.js';
import { iso, printFacts, readable, type Fact, type Print } from '../output.js';

/** `ops statement --rental rent_…`: all charges of a rental, and the check that they match the formula. */
export function addStatementCommand(program: Command, context: OpsContext): void {
  readable(program.command('statement'))
    .description('Shows the final bill of a rental, to check by hand. Exit code 1 if it does not add up.')
    .requiredOption('--rental <id>', 'the rental (rent_…)', idOf('rent'))
    .addHelpText('after', '\nExample:\n  ops statement --rental rent_01J… --json')
    .action(({ rental, json }: Print & { rental: RentalId }) =>
      using(context, async (db) => {
        const sheet = await readSettlementSheet(db, rental);
        if (!sheet) throw new Error(`There is no rental ${rental}: see ops rentals list.`);
        if (sheet.agrees === false) process.exitCode = 1;
        printFacts(sheet, json, factsOf(sheet));
      }),
    );
}

function factsOf(sheet: SettlementSheet): Fact[] {
  const { rental, price, overage } = sheet;
  return [
    ['rental', `${rental.id} ${rental.status} of ${rental.user_id}: ${rental.gpu_count} x ${rental.model}`],
    ['rate', `${rental.price_per_hour_cents} cents/h${limitText(rental.max_spend_cents)}`],
    [
      'running',
      `from ${iso(rental.running_at)} until ${iso(rental.ended_at)} (${rental.stop_reason ?? 'not ended'})`,
    ],
    [
      'hold',
      `${rental.price_per_hour_cents} cents held at first, ${rental.released_cents} given back unused`,
    ],
    ...sheet.lines.map((line): Fact => [line.charge?.occasion ?? 'refund', lineText(line)]),
    [
      'charged',
      `${sheet.chargedCents} cents by ${sheet.lines.filter(({ charge }) => charge).length} entries`,
    ],
    ['refunded', `${sheet.refundedCents} cents`],
    ['net', `${sheet.chargedCents} - ${sheet.refundedCents} = ${sheet.netCents} cents`],
    ['overage', overage && `${overage.cents} cents, invoice ${overage.invoiceId} (${overage.status})`],
    ['given up', sheet.writtenOffCents === 0 ? null : `${sheet.writtenOffCents} cents written off`],
    ['price', price && `${price.formula} cents for ${price.billedMs} ms`],
    ['check', checkText(sheet)],
    ...sheet.byHand.map(({ operationId, cents }): Fact => [
      'by hand',
      `${cents} cents on top: ${operationId}`,
    ]),
  ];
}

function limitText(maxSpendCents: number | null): string {
  return maxSpendCents === null ? '' : `, at most ${maxSpendCents} cents`;
}

function lineText({ id, at, amountCents, balanceAfterCents, charge, refund }: SheetLine): string {
  const sum = charge?.formula ?? refund?.formula ?? '';
  return `${at.toISOString()}  ${id}  ${amountCents}  balance ${balanceAfterCents}  ${sum}`;
}

function checkText({
  agrees,
  netCents,
  overage,
  writtenOffCents,
  settledCents,
  price,
}: SettlementSheet): string {
  if (agrees === null || price === null) return 'not settled yet: it is still being charged';
  const sum = `net ${netCents} + overage ${overage?.cents ?? 0} + written off ${writtenOffCents} = ${settledCents}`;
  return agrees
    ? `${sum}, which is its price`
    : `${sum}, but its price is ${price.cents}: run ops ledger verify`;
}
