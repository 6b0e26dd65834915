import type { Topup } from '@gpu-rental/client';
import { writeFile } from 'node:fs/promises';
import { isServiceId } from '../../checked-answers.js';
import type { Cli } from '../../cli.js';
import { wholeNumber, type AddCommand } from '../../command.js';
import { Failure, usageFailure } from '../../failure.js';
import { cutFirst, pageFor } from '../../views/cut-list.js';
import { topupColumns } from './topup.js';

/** gpu receipts */
export const addReceipts: AddCommand = (program, act) => {
  const receipts = program
    .command('receipts')
    .summary('receipts of your payments')
    .description('The payments that have a receipt, newest first. We email each receipt too.')
    .option('-n, --limit <number>', 'how many at most', wholeNumber(1, 10_000), 20)
    .action(
      act(async (cli, { limit }: { limit: number }) => {
        await list(cli, limit);
        return undefined;
      }),
    );
  receipts
    .command('download')
    .argument('[topup]', 'the id of a payment (default: your newest)')
    .description('Save a receipt as a PDF. It names the company of your billing details.')
    .option('-o, --output <file>', 'where to (default: receipt-ID.pdf in this folder)')
    .action(
      act(async (cli, given: string | undefined, { output }: { output?: string }) => {
        await download(cli, given, output);
        return undefined;
      }),
    );
};

/** Reads the newest payments that were paid. */
async function readPaid(cli: Cli, most: number): Promise<Topup[]> {
  const paid: Topup[] = [];
  for await (const topup of cli.client().topups.list({ pageSize: pageFor(most) }, { signal: cli.signal })) {
    if (topup.status === 'succeeded') paid.push(topup);
    if (paid.length === most) break;
  }
  return paid;
}

async function list(cli: Cli, limit: number): Promise<void> {
  const { out } = cli;
  const { rows: topups, words, more } = cutFirst(await readPaid(cli, limit + 1), limit);
  out.result({ topups, ...more }, () =>
    topups.length === 0
      ? ['No receipts yet. Next: gpu pay 20']
      : [
          ...out.table(
            topupColumns.filter(({ title }) => title !== 'STATE'),
            topups,
          ),
          '',
          ...words,
          'Download one: gpu receipts download ID',
        ],
  );
}

async function download(cli: Cli, given: string | undefined, output: string | undefined): Promise<void> {
  if (given !== undefined && !isServiceId(given)) {
    throw usageFailure(`"${given}" is not the id of a payment.`, 'See their ids with: gpu receipts');
  }
  const id = given ?? (await readPaid(cli, 1))[0]?.id;
  if (id === undefined) throw new Failure('notFound', 'You have no receipts yet.', 'Next: gpu pay 20');
  const file = output ?? `receipt-${id}.pdf`;
  await writeFile(file, Buffer.from(await cli.client().topups.receipt(id, { signal: cli.signal })));
  cli.out.result({ id, file }, () => [`Saved the receipt of ${id} as ${file}`]);
}
