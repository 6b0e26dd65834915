import { isPayable, payableStatuses, type Invoice, wordOf } from '@gpu-rental/client';
import { openPage } from '../../asking/open-page.js';
import type { Cli } from '../../cli.js';
import { wholeNumber, type AddCommand } from '../../command.js';
import { Failure } from '../../failure.js';
import { usd } from '../../output/money.js';
import type { Column } from '../../output/table.js';
import { localDate } from '../../output/time.js';
import { cutFirst, pageFor } from '../../views/cut-list.js';

/** gpu invoices */
export const addInvoices: AddCommand = (program, act) => {
  const invoices = program
    .command('invoices')
    .summary('your invoices')
    .description('Your invoices, newest first.')
    .option('-n, --limit <number>', 'how many at most', wholeNumber(1, 10_000), 50)
    .action(
      act(async (cli, { limit }: { limit: number }) => {
        await list(cli, limit);
        return undefined;
      }),
    );
  invoices
    .command('pay')
    .argument('[invoice]', 'its id (default: your only open one, else your only one not paid)')
    .description('Pay an invoice on the payment processor’s page. One that we gave up can still be paid.')
    .option('--no-browser', 'only print the page’s address')
    .action(
      act(async (cli, given: string | undefined, { browser }: { browser: boolean }) => {
        await pay(cli, given, browser);
        return undefined;
      }),
    );
};

async function list(cli: Cli, limit: number): Promise<void> {
  const { out } = cli;
  const { rows: invoices, words, more } = cutFirst(await readNewest(cli, limit), limit);
  const payable = invoices.filter(isPayable);
  out.result({ invoices, ...more }, () => {
    if (invoices.length === 0) return ['No invoices yet.'];
    return [
      ...out.table(columns, invoices),
      ...(words.length + payable.length === 0 ? [] : ['', ...words]),
      ...(payable.length === 0 ? [] : ['Pay one: gpu invoices pay ID']),
    ];
  });
}

/** The newest invoices, page by page, up to one more than are shown. */
async function readNewest(cli: Cli, shown: number): Promise<Invoice[]> {
  const found: Invoice[] = [];
  for (;;) {
    const limit = pageFor(shown - found.length);
    const before = found.at(-1)?.id;
    const page = await cli
      .client()
      .invoices.list({ limit, ...(before !== undefined && { before }) }, { signal: cli.signal });
    found.push(...page);
    if (page.length < limit || found.length > shown) return found;
  }
}

const columns: Column<Invoice>[] = [
  { title: 'WHEN', value: ({ createdAt }) => localDate(createdAt) },
  { title: 'AMOUNT', value: ({ amountCents }) => usd(amountCents), align: 'right' },
  { title: 'STATE', value: ({ status }) => wordOf(stateWords, status) },
  { title: 'FOR', value: forWhat, dropAs: 1 },
  {
    title: 'DUE',
    value: ({ status, dueAt }) => (status === 'open' && dueAt !== null ? localDate(dueAt) : ''),
    dropAs: 2,
  },
  { title: 'ID', value: ({ id }) => id, dropAs: 3 },
];

const stateWords: Readonly<Record<Invoice['status'], string>> = {
  draft: 'draft',
  open: 'to pay',
  paid: 'paid',
  void: 'void',
  uncollectible: 'not paid',
};

const reasonWords: Readonly<Record<Invoice['reason'], string>> = {
  topup_failed: 'a top-up that failed',
  overage: 'use beyond your balance',
  manual: 'a correction',
};

/** A correction says itself what it is for: a payment that was refunded or taken back, say. */
function forWhat({ reason, lineItems }: Invoice): string {
  const [item] = reason === 'manual' ? lineItems : [];
  return item?.description ?? wordOf(reasonWords, reason);
}

async function pay(cli: Cli, given: string | undefined, browser: boolean): Promise<void> {
  const client = cli.client();
  const id = given ?? (await onlyPayable(cli));
  const { url } = await client.invoices.payUrl(id, { signal: cli.signal });
  if (url === null) {
    throw new Failure(
      'notReached',
      'There is nothing to pay, or its page is not ready yet.',
      'See its state: gpu invoices',
    );
  }
  if (cli.out.isJson) cli.out.json({ url });
  cli.out.note('Pay on this page:');
  await openPage(cli, url, browser);
}

/** One that is open comes first: those that were given up are in nobody's way, and stay for ever. */
async function onlyPayable(cli: Cli): Promise<string> {
  for (const status of payableStatuses) {
    const [first, ...others] = await cli.client().invoices.list({ status }, { signal: cli.signal });
    if (others.length > 0)
      throw new Failure('usage', 'You have several invoices to pay.', 'Name one: gpu invoices');
    if (first) return first.id;
  }
  throw new Failure('notFound', 'You have no invoice to pay.');
}
