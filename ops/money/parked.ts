import type { Command } from 'commander';
import type { OperationId } from '../../domain/ids.js';
import { listParkedPayments } from '../../adapters/postgres/payments/payment-search.js';
import { using, type OpsContext } from '../context.js';
import { actByHand } from '../direct.js';
import { asOperator, idOf, type OperatorOptions } from '../options.js';
import { iso, printRows, readable, type Print } from '../output.js';

/** `ops parked …`: money that came in and belongs to nobody's wallet. */
export function addParkedCommands(program: Command, context: OpsContext): void {
  const parked = program
    .command('parked')
    .description('Payments that we could not credit to anybody: each waits for an operator.')
    .addHelpText(
      'after',
      `
First refund it at the processor or credit its owner, then resolve it:
  ops parked
  ops wallet adjust --user usr_01J… --amount-cents 2000 --by ada --reason "pi_3Q… was paid in euros"
  ops parked resolve pi_3Q… --credited-by op_01J… --by ada --reason "he wrote in"`,
    );
  readable(parked.command('list', { isDefault: true }))
    .description('Lists unresolved ones, oldest first.')
    .action(({ json }: Print) =>
      using(context, async (db) => {
        printRows(await listParkedPayments(db), json, (row) =>
          [
            row.payment_id,
            `${row.amount_cents} ${row.currency}`,
            row.user_id ?? 'no user',
            `since ${iso(row.parked_at)}`,
            row.reason,
          ].join('  '),
        );
      }),
    );
  asOperator(parked.command('resolve').argument('<payment>', 'pi_…'))
    .description('Marks one as credited or refunded. It moves no money itself.')
    .option(
      '--credited-by <operation>',
      'op_… of the correction that credited it, so that a later refund or dispute is charged to its user',
      idOf('op'),
    )
    .action((paymentId: string, options: OperatorOptions & { creditedBy?: OperationId }) =>
      actByHand(
        context,
        {
          kind: 'resolve_parked',
          paymentId,
          ...(options.creditedBy === undefined ? {} : { creditedBy: options.creditedBy }),
        },
        options,
      ),
    );
}
