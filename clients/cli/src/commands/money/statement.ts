import type { Statement } from '@gpu-rental/client';
import type { Cli } from '../../cli.js';
import { instant, type AddCommand } from '../../command.js';
import { usageFailure } from '../../failure.js';
import { usd } from '../../output/money.js';
import type { Column } from '../../output/table.js';
import { localDate, localTime } from '../../output/time.js';
import { shortId } from '../../views/rental.js';

interface Options {
  readonly from?: string;
  readonly to?: string;
  readonly by?: string;
}

const names: Readonly<Record<string, string>> = {
  processor_topup: 'Paid in',
  auto_topup: 'Automatic top-ups',
  rental_charge: 'Machines',
  refund: 'Refunds',
  adjustment: 'Corrections',
};

/** gpu statement */
export const addStatement: AddCommand = (program, act) => {
  program
    .command('statement')
    .summary('totals of a month or any period')
    .description('Totals of this month or any period: what you paid in, and what each machine cost.')
    .option('--from <time>', 'from this date or time on (default: the first of this month)', instant)
    .option('--to <time>', 'before this date or time (default: now)', instant)
    .option('--by <label>', 'also add up by the values of a label')
    .action(
      act(async (cli, options: Options) => {
        const statement = await read(cli, options);
        cli.out.result(statement, () => linesOf(cli, statement));
        return undefined;
      }),
    );
};

async function read(cli: Cli, { from, to, by }: Options): Promise<Statement> {
  const now = new Date(cli.surroundings.now());
  const firstOfMonth = new Date(now.getFullYear(), now.getMonth(), 1);
  const span = { from: from ?? firstOfMonth.toISOString(), to: to ?? now.toISOString() };
  if (span.from >= span.to)
    throw usageFailure(`${localTime(span.from)} is not before ${localTime(span.to)}.`);
  const query = { ...span, ...(by !== undefined && { groupBy: `label:${by}` }) };
  return cli.client().wallet.statement(query, { signal: cli.signal });
}

function linesOf({ out }: Cli, statement: Statement): string[] {
  const { from, to, openingBalanceCents, closingBalanceCents, totals, rentals, groups = [] } = statement;
  const sums: (readonly [string, number])[] = [
    [`Balance on ${localDate(from)}`, openingBalanceCents],
    ...totals.map(({ type, amountCents }) => [names[type] ?? type, amountCents] as const),
    [`Balance on ${localDate(to)}`, closingBalanceCents],
  ];
  return [
    ...out.table(sumColumns, sums),
    ...(groups.length === 0 ? [] : ['', ...out.table(groupColumns, groups)]),
    ...(rentals.length === 0 ? [] : ['', ...out.table(rentalColumns(rentals), rentals)]),
  ];
}

const sumColumns: Column<readonly [string, number]>[] = [
  { title: '', value: ([name]) => name },
  { title: 'AMOUNT', value: ([, cents]) => usd(cents), align: 'right' },
];

const groupColumns: Column<NonNullable<Statement['groups']>[number]>[] = [
  { title: 'LABEL', value: ({ kind, key, value }) => (kind === 'label' ? `${key}=${value ?? ''}` : kind) },
  { title: 'AMOUNT', value: ({ amountCents }) => usd(amountCents), align: 'right' },
];

function rentalColumns(rentals: Statement['rentals']): Column<Statement['rentals'][number]>[] {
  const hasRefunds = rentals.some(({ refundedCents }) => refundedCents !== 0);
  const refunded: Column<Statement['rentals'][number]> = {
    title: 'REFUNDED',
    value: ({ refundedCents }) => (refundedCents === 0 ? '' : usd(refundedCents)),
    align: 'right',
    dropAs: 1,
  };
  return [
    { title: 'MACHINE', value: ({ rentalId }) => shortId(rentalId) },
    {
      title: 'COST',
      value: ({ chargedCents, refundedCents }) => usd(chargedCents - refundedCents),
      align: 'right',
    },
    ...(hasRefunds ? [refunded] : []),
    { title: 'ID', value: ({ rentalId }) => rentalId, dropAs: 2 },
  ];
}
