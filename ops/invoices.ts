import type { Command } from 'commander';
import { findInvoiceOfAnyone, listAllInvoices } from '../adapters/postgres/invoice-reads.js';
import type { Invoice } from '../adapters/postgres/invoice-reads.js';
import type { InvoiceId, UserId } from '../domain/ids.js';
import { using, type OpsContext } from './context.js';
import { operate } from './operator.js';
import { asOperator, centsOf, countOf, idOf, type OperatorOptions } from './options.js';
import { iso, printFacts, printRows, readable, whenSet, type Fact, type Print } from './output.js';
import { linkTo } from './temporal-links.js';
import { getUser } from './users.js';

type Issue = OperatorOptions & {
  readonly user: UserId;
  readonly amountCents: number;
  readonly description: string;
};

/** `ops invoice …` */
export function addInvoiceCommands(program: Command, context: OpsContext): void {
  const invoice = program
    .command('invoice')
    .alias('invoices')
    .description('Invoices: what is owed and what was offered, and the same by hand.')
    .addHelpText(
      'after',
      `
Examples:
  ops invoices list --user ann@example.com
  ops invoice create --user usr_01J… --amount-cents 900 --description "…" --by ada --reason "a wire came short"`,
    );
  addReading(invoice, context);
  asOperator(invoice.command('create').description('Issues a manual invoice: a debt.'))
    .requiredOption('--user <id>', 'whose (usr_…)', idOf('usr'))
    .requiredOption('--amount-cents <cents>', 'at least 50', centsOf)
    .requiredOption('--description <text>', 'the line that the user reads')
    .action(({ user: userId, amountCents, description, ...options }: Issue) =>
      operate(context, { kind: 'issue_invoice', userId, amountCents, description }, options),
    );
  asOperator(invoice.command('void').description('Voids one that is not paid.'))
    .argument('<invoice>', 'inv_…', idOf('inv'))
    .action((invoiceId: InvoiceId, options: OperatorOptions) =>
      operate(context, { kind: 'void_invoice', invoiceId }, options),
    );
  asOperator(invoice.command('write-off').description('Gives an open one up as uncollectible.'))
    .argument('<invoice>', 'inv_…', idOf('inv'))
    .option('--block-user', 'its user may rent and top up no more, by the same order')
    .action((invoiceId: InvoiceId, { blockUser, ...options }: OperatorOptions & { blockUser?: true }) =>
      operate(
        context,
        { ...{ kind: 'write_off_invoice', invoiceId }, ...(blockUser === true && { blockUser }) },
        options,
      ),
    );
}

function addReading(invoice: Command, context: OpsContext): void {
  readable(invoice.command('list'))
    .description('Lists them, drafts too, newest first.')
    .option('--user <who>', 'of one user: e-mail address or usr_…')
    .option('--limit <count>', 'at most this many', countOf, 50)
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
    .description('One invoice: its lines, its mirror at the processor, and what was paid.')
    .action((id: InvoiceId, { json }: Print) =>
      using(context, async (db) => {
        const found = await findInvoiceOfAnyone(db, id);
        if (!found) throw new Error(`There is no invoice ${id}: see ops invoices list.`);
        const workflow = linkTo(context.temporal(), id);
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
