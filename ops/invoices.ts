import type { Command } from 'commander';
import type { InvoiceId, UserId } from '../domain/ids.js';
import {
  asOperator,
  centsOf,
  idOf,
  operate,
  type OperatorOptions,
  type TemporalAddress,
} from './operator.js';

type Issue = OperatorOptions & {
  readonly user: UserId;
  readonly amountCents: number;
  readonly description: string;
};

/** `ops invoice …` */
export function addInvoiceCommands(program: Command, temporal: () => TemporalAddress): void {
  const invoice = program.command('invoice').description('Invoices by hand.');
  asOperator(invoice.command('create').description('Issues a manual invoice: a debt.'))
    .requiredOption('--user <id>', 'whose (usr_…)', idOf('usr'))
    .requiredOption('--amount-cents <cents>', 'at least 50', centsOf)
    .requiredOption('--description <text>', 'the line that the user reads')
    .action(({ user: userId, amountCents, description, ...options }: Issue) =>
      operate(temporal(), { kind: 'issue_invoice', userId, amountCents, description }, options),
    );
  asOperator(invoice.command('void').description('Voids one that is not paid.'))
    .argument('<invoice>', 'inv_…', idOf('inv'))
    .action((invoiceId: InvoiceId, options: OperatorOptions) =>
      operate(temporal(), { kind: 'void_invoice', invoiceId }, options),
    );
  asOperator(invoice.command('write-off').description('Gives an open one up as uncollectible.'))
    .argument('<invoice>', 'inv_…', idOf('inv'))
    .action((invoiceId: InvoiceId, options: OperatorOptions) =>
      operate(temporal(), { kind: 'write_off_invoice', invoiceId }, options),
    );
}
