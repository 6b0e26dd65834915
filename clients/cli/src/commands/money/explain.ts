import type { Explanation, GpuRental } from '@gpu-rental/client';
import type { Cli } from '../../cli.js';
import type { AddCommand } from '../../command.js';
import { Failure } from '../../failure.js';
import { usd } from '../../output/money.js';
import { duration, localTime } from '../../output/time.js';
import { gpusOf, shortId } from '../../views/rental.js';

/** gpu explain */
export const addExplain: AddCommand = (program, act) => {
  program
    .command('explain')
    .argument('[entry]', 'the ID that gpu ledger shows (default: the newest)')
    .summary('why you were charged')
    .description('Explain a ledger entry, with its calculation.')
    .action(
      act(async (cli, given: string | undefined) => {
        const client = cli.client();
        const id = await entryMeant(cli, client, given);
        const explanation = await client.wallet.explain(id, { signal: cli.signal });
        cli.out.result(explanation, () => linesOf(cli, explanation));
        return undefined;
      }),
    );
};

/** How far back the end of an id is looked for. */
const lookBack = 2_000;

async function entryMeant(cli: Cli, client: GpuRental, given: string | undefined): Promise<string> {
  if (given?.startsWith('led_') === true) return given;
  const pageSize = given === undefined ? 1 : 200;
  const entries = await client.wallet
    .ledger({ pageSize }, { signal: cli.signal })
    .toArray(given === undefined ? 1 : lookBack);
  const meant = entries.find(({ id }) => given === undefined || id.endsWith(given.toUpperCase()));
  if (meant) return meant.id;
  if (given === undefined) throw new Failure('notFound', 'Your ledger is empty.', 'Start with: gpu pay 20');
  throw new Failure(
    'notFound',
    `None of your newest entries is "${given}".`,
    'List them with full ids: gpu ledger --json',
  );
}

function linesOf({ out }: Cli, explanation: Explanation): string[] {
  const { entry, why, rental, invoice, reversal, byHand } = explanation;
  return [
    ...out.text(why),
    '',
    ...out.facts([
      ['Amount', usd(entry.amountCents)],
      ['Wallet', `${usd(entry.balanceBeforeCents)} before, ${usd(entry.balanceAfterCents)} after`],
      ['When', localTime(entry.createdAt)],
      ['Machine', rental && `${shortId(rental.id)}: ${gpusOf(rental)}`],
      ...sumFacts(explanation),
      ...paymentFacts(explanation),
      ['Invoice', invoice && `${invoice.id}, ${invoice.status}`],
      ['Taken back', reversal && `${reversal.kind} of ${usd(reversal.amountCents)}`],
      ['By hand', byHand?.reason],
    ]),
  ];
}

type Fact = readonly [name: string, text: string | null];

function sumFacts({ charge, rentalRefund }: Explanation): Fact[] {
  if (charge === null) return rentalRefund === null ? [] : [['Sum', rentalRefund.formula]];
  return [
    ['Sum', charge.formula],
    ['Ran', duration(charge.elapsedMs / 1_000)],
    ['Not paid', charge.unpaidCents === 0 ? null : usd(charge.unpaidCents)],
  ];
}

function paymentFacts({ payment }: Explanation): Fact[] {
  if (payment === null) return [];
  return [
    ['Payment', payment.topupId ?? payment.paymentId],
    ['Receipt', payment.receiptUrl],
  ];
}
