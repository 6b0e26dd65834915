import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import type { Database } from '../../adapters/postgres/database.js';
import { findInvoiceOfAnyone, listAllInvoices } from '../../adapters/postgres/invoices/invoice-reads.js';
import type { Invoice } from '../../adapters/postgres/invoices/invoice-reads.js';
import type { InvoiceRow } from '../../adapters/postgres/rows/tables.js';
import type { InvoiceId } from '../../domain/ids.js';
import { using, type OpsContext } from '../context.js';
import { carryOut, operate, placeOrder } from '../operator.js';
import { asOperator, centsOf, countOf, idOf, type OperatorOptions } from '../options.js';
import { iso, printFacts, printRows, readable, whenSet, type Fact, type Print } from '../output.js';
import { linkTo } from '../temporal-links.js';
import { getUser, userIdOf } from '../people/named-user.js';

type Issue = OperatorOptions & {
  readonly user: string;
  readonly amountCents: number;
  readonly description: string;
};

/** `ops invoice …` */
export function addInvoiceCommands(program: Command, context: OpsContext): void {
  const invoice = program
    .command('invoice')
    .alias('invoices')
    .description('Invoices: list, issue, void and write off.')
    .addHelpText(
      'after',
      `
Examples:
  ops invoices list --user ann@example.com
  ops invoice create --user ann@example.com --amount-cents 900 --description "…" --by ada --reason "a wire came short"`,
    );
  addReading(invoice, context);
  asOperator(invoice.command('create').description('Issues a manual invoice: a debt.'))
    .requiredOption('--user <who>', 'the user: email address or usr_…')
    .requiredOption('--amount-cents <cents>', 'at least 50', centsOf)
    .requiredOption('--description <text>', 'what the user reads on it')
    .action((issue: Issue) => using(context, (db) => issueInvoice(context, db, issue)));
  asOperator(invoice.command('void').description('Voids one that is not paid.'))
    .argument('<invoice>', 'inv_…', idOf('inv'))
    .action((invoiceId: InvoiceId, options: OperatorOptions) =>
      operate(context, { kind: 'void_invoice', invoiceId }, options),
    );
  asOperator(invoice.command('write-off').description('Marks an open one as uncollectible.'))
    .argument('<invoice>', 'inv_…', idOf('inv'))
    .option('--block-user', 'also blocks its user from renting and topping up')
    .action((invoiceId: InvoiceId, { blockUser, ...options }: OperatorOptions & { blockUser?: true }) =>
      operate(
        context,
        {
          kind: 'write_off_invoice',
          invoiceId,
          ...(blockUser === true && { blockUser }),
        },
        options,
      ),
    );
}

/** The time in which the processor should open an invoice that was written. */
const OPEN_MS = 15_000;

/** Issues one, and waits until its user can pay it: until then it is a draft that nobody sees. */
async function issueInvoice(
  context: OpsContext,
  db: Database,
  { user, amountCents, description, ...options }: Issue,
): Promise<void> {
  const userId = await userIdOf(db, user);
  const order = await placeOrder(db, { kind: 'issue_invoice', userId, amountCents, description }, options);
  if (!order) return;
  const { result } = await carryOut(context, db, order.id, options);
  if (result === null || options.json === true) return;
  const row = await awaitOpen(db, result['invoiceId'] as InvoiceId);
  console.log(
    row?.status === 'open'
      ? `It is open, and we emailed its user: ${row.hosted_invoice_url ?? ''}`
      : `It is still ${row?.status ?? 'missing'}: the payment processor has not created it yet. Its workflow continues on its own; check ops invoices show ${String(result['invoiceId'])}.`,
  );
}

async function awaitOpen(db: Database, id: InvoiceId): Promise<InvoiceRow | undefined> {
  const end = performance.now() + OPEN_MS;
  for (;;) {
    const row = await db('invoices').where({ id }).first();
    if (row?.status !== 'draft' || performance.now() > end) return row;
    await sleep(200);
  }
}

function addReading(invoice: Command, context: OpsContext): void {
  readable(invoice.command('list'))
    .description('Lists them, drafts too, newest first.')
    .option('--user <who>', 'of one user: email address or usr_…')
    .option('--limit <count>', 'how many at most', countOf, 50)
    .action(({ user, json, limit }: Print & { user?: string; limit: number }) =>
      using(context, async (db) => {
        const userId = user === undefined ? undefined : (await getUser(db, user)).id;
        printRows(await listAllInvoices(db, userId, limit), json, ({ row }) =>
          [
            row.id,
            row.status.padEnd(13),
            row.reason,
            `${row.amount_cents} cents`,
            row.user_id,
            iso(row.created_at),
          ].join('  '),
        );
      }),
    );
  readable(invoice.command('show').argument('<invoice>', 'inv_…', idOf('inv')))
    .description('Shows one invoice: its lines, its copy at the processor, and its payment.')
    .action((id: InvoiceId, { json }: Print) =>
      using(context, async (db) => {
        const found = await findInvoiceOfAnyone(db, id);
        if (!found) throw new Error(`There is no invoice ${id}: see ops invoices list.`);
        const workflow = linkTo(context.ui(), id);
        printFacts({ ...found, workflow }, json, factsOf(found, workflow));
      }),
    );
}

function factsOf({ row, rentalId, lineItems }: Invoice, workflow: string): Fact[] {
  return [
    ['invoice', `${row.id} ${row.status}, ${row.reason}, ${row.amount_cents} cents, of ${row.user_id}`],
    [
      'since',
      iso(row.created_at) +
        whenSet(row.finalized_at, 'open') +
        whenSet(row.due_at, 'due') +
        whenSet(row.paid_at, 'paid') +
        whenSet(row.voided_at, 'void'),
    ],
    ['rental', rentalId],
    ['cause', row.cause],
    ['mirror', row.processor_invoice_id],
    ['payment', row.payment_id],
    ['receipt', row.receipt_url],
    ['void', row.void_reason],
    ...lineItems.map((line): Fact => ['line', `${line.amountCents} cents  ${line.description}`]),
    ['workflow', workflow],
  ];
}
