import type { Command } from 'commander';
import {
  approveOrder,
  getOrder,
  listOrders,
  operatorsOf,
  rejectOrder,
} from '../../adapters/postgres/operators/operator-orders.js';
import {
  listItems,
  readProgress,
  type OrderProgress,
  type ShownItem,
} from '../../adapters/postgres/operators/order-items.js';
import type { OperatorOrderRow } from '../../adapters/postgres/rows/tables.js';
import type { OperationId } from '../../domain/ids.js';
import { Refusal } from '../../domain/refusal.js';
import { using, type OpsContext } from '../context.js';
import { askConsent, carryOut, printRefused, progressText } from '../operator.js';
import { countOf, idOf, type OperatorOptions } from '../options.js';
import { iso, printFacts, printRows, readable, whenSet, type Fact, type Print } from '../output.js';
import { linkTo } from '../temporal-links.js';

/** `ops orders …`: operators' orders that move money, and the word of a second operator. */
export function addOrderCommands(program: Command, context: OpsContext): void {
  const orders = program
    .command('orders')
    .alias('order')
    .description('Orders that move money by hand: who asked for them, and who approves them.')
    .addHelpText(
      'after',
      `
Examples:
  ops orders                        those that wait
  ops orders show op_01J…
  ops orders items op_01J…          of a bulk refund: what each rental gets, and which fail
  ops orders approve op_01J…        as another operator than who asked
  ops orders reject op_01J… --reason "the wrong user"`,
    );
  addReading(orders, context);
  readable(orders.command('approve').argument('<order>', 'op_…', idOf('op')))
    .description('Approves another operator’s order and starts it.')
    .option('--yes', 'do not ask')
    .action((id: OperationId, options: Pick<OperatorOptions, 'yes' | 'json'>) =>
      approve(context, id, options),
    );
  readable(orders.command('reject').argument('<order>', 'op_…', idOf('op')))
    .description('Rejects an order that is not done. You can’t undo this.')
    .requiredOption('--reason <text>', 'why; recorded permanently')
    .option('--yes', 'do not ask')
    .action((id: OperationId, { reason, ...options }: Pick<OperatorOptions, 'yes' | 'json' | 'reason'>) =>
      using(context, (db) =>
        orRefused(id, options, async () => {
          const { request, status, requested_by: by } = await getOrder(db, id);
          await askConsent({ reject: request, status, requestedBy: by }, options);
          const order = await rejectOrder(db, id, reason);
          console.log(options.json === true ? JSON.stringify(order) : `${id} is ${order.status}.`);
        }),
      ),
    );
}

function addReading(orders: Command, context: OpsContext): void {
  readable(orders.command('list', { isDefault: true }))
    .description('Lists those that wait, newest first.')
    .option('--all', 'include ended ones')
    .option('--limit <count>', 'how many at most', countOf, 50)
    .action(({ all, limit, json }: Print & { all?: boolean; limit: number }) =>
      using(context, async (db) => {
        printRows(await listOrders(db, all !== true, limit), json, lineOf);
      }),
    );
  readable(orders.command('show').argument('<order>', 'op_…', idOf('op')))
    .description('Shows one order: who asked for what and why, who approved it, and the result.')
    .action((id: OperationId, options: Print) =>
      using(context, (db) =>
        orRefused(id, options, async () => {
          const order = await getOrder(db, id);
          const workflow = linkTo(context.ui(), id);
          const progress = order.kind === 'refund_rentals' ? await readProgress(db, id) : undefined;
          printFacts({ ...order, progress, workflow }, options.json, factsOf(order, workflow, progress));
        }),
      ),
    );
  readable(orders.command('items').argument('<order>', 'op_…', idOf('op')))
    .description('Shows what a bulk order gives each rental. Failing ones come first, with their errors.')
    .action((id: OperationId, options: Print) =>
      using(context, (db) =>
        orRefused(id, options, async () => {
          await getOrder(db, id);
          printRows(await listItems(db, id), options.json, itemLine);
        }),
      ),
    );
}

async function approve(
  context: OpsContext,
  id: OperationId,
  options: Pick<OperatorOptions, 'yes' | 'json'>,
): Promise<void> {
  await using(context, (db) =>
    orRefused(id, options, async () => {
      const { request, reason, requested_by: by } = await getOrder(db, id);
      await askConsent({ ...request, requestedBy: by, reason }, options);
      await approveOrder(db, id);
      await carryOut(context, db, id, options);
    }),
  );
}

/** Prints a refusal as an answer. */
async function orRefused(operationId: OperationId, options: Print, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    printRefused({ operationId }, error, options);
  }
}

function lineOf(order: OperatorOrderRow): string {
  const { id, status, kind, amount_cents: cents, reason } = order;
  return [
    id,
    status.padEnd(9),
    kind,
    ...(cents === null ? [] : [`${cents} cents`]),
    `${iso(order.requested_at)} by ${operatorsOf(order)}: ${reason}`,
  ].join('  ');
}

function itemLine(item: ShownItem): string {
  const { rentalId, userId, amountCents, refundedCents, doneAt, error } = item;
  const state = doneAt === null ? 'open' : `${refundedCents ?? 0} refunded at ${iso(doneAt)}`;
  const failed = `${item.tries ?? 0} tries failed, next ${iso(item.nextTryAt)}: ${error ?? ''}`;
  return [rentalId, userId, `${amountCents} cents`, error === null ? state : failed].join('  ');
}

function factsOf(order: OperatorOrderRow, workflow: string, progress?: OrderProgress): Fact[] {
  return [
    ['order', `${order.id} ${order.status}${whenSet(order.closed_at, 'since')}`],
    ['asks', JSON.stringify(order.request)],
    ['why', order.reason],
    ['asked by', `${order.requested_by} at ${iso(order.requested_at)}`],
    ['approved', order.approved_by && `by ${order.approved_by} at ${iso(order.approved_at)}`],
    ['rejected', order.rejected_by && `by ${order.rejected_by}: ${order.rejected_why ?? ''}`],
    ['refused', order.code && `(${order.code}) ${order.message ?? ''}`],
    ['result', order.result && JSON.stringify(order.result)],
    ['items', progress === undefined ? null : progressText(progress)],
    ['workflow', workflow],
  ];
}
