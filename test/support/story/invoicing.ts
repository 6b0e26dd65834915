import { insertManualInvoice } from '../../../money/invoices/manual-invoice.js';
import { lockWalletOfUser } from '../../../money/ledger/wallets.js';
import { newId } from '../../../adapters/ids.js';
import type { InvoiceRow } from '../../../adapters/postgres/rows/tables.js';
import type { InvoiceId } from '../../../domain/ids.js';
import { taskQueues } from '../../../domain/task-queues.js';
import type { SignedIn } from '../http/api.js';
import type { TestService } from '../service/living-service.js';
import { Paying } from './paying.js';
import { until } from '../until.js';

/** What the tests of invoices do with one service, and what they look at. */
export class Invoicing extends Paying {
  constructor(private readonly living: TestService) {
    super(living);
  }

  /**
   * The draft of a debt. Within two seconds the engine tells its workflow of it; never with `attention_at: null` among
   * the columns.
   */
  async draft(
    user: SignedIn,
    amountCents: number,
    reason: InvoiceRow['reason'] = 'manual',
    columns: Pick<Partial<InvoiceRow>, 'attention_at'> = {},
  ): Promise<InvoiceId> {
    return this.living.db.transaction(async (trx) => {
      const wallet = await lockWalletOfUser(trx, user.user.id);
      const id = await insertManualInvoice(trx, wallet, {
        cause: { kind: 'operation', operationId: newId('op') },
        amountCents,
        description: 'What is owed',
      });
      await trx('invoices')
        .where({ id })
        .update({ reason, ...columns });
      return id;
    });
  }

  /** Starts its workflow, with days as short as wanted. */
  async start(invoiceId: InvoiceId, dayMs?: number): Promise<void> {
    await this.living.temporal.workflow.start('invoice', {
      workflowId: invoiceId,
      taskQueue: taskQueues.rentals,
      args: [{ invoiceId, ...(dayMs === undefined ? {} : { dayMs }) }],
      workflowIdConflictPolicy: 'USE_EXISTING',
    });
  }

  async open(user: SignedIn, amountCents: number, reason?: InvoiceRow['reason']): Promise<InvoiceRow> {
    const id = await this.draft(user, amountCents, reason);
    await this.start(id);
    return this.awaitInvoice(id, 'open');
  }

  async invoice(id: InvoiceId): Promise<InvoiceRow> {
    return (await this.living.db('invoices').where({ id }).first())!;
  }

  async awaitInvoice(id: InvoiceId, status: InvoiceRow['status']): Promise<InvoiceRow> {
    return until(`invoice ${id} is ${status}`, async () => {
      const row = await this.invoice(id);
      return row.status === status && row;
    });
  }

  /** Waits until its workflow has ended. */
  async awaitClosed(id: InvoiceId): Promise<void> {
    const handle = this.living.temporal.workflow.getHandle(id);
    await until(
      `the workflow of ${id} has ended`,
      async () => (await handle.describe()).status.name === 'COMPLETED',
    );
  }

  /** The mirrors that the processor has of an invoice, by status. */
  async mirrors(id: InvoiceId): Promise<string[]> {
    const { data } = await this.living.stripe.invoices.list({ limit: 100 });
    return data.filter(({ metadata }) => metadata?.['invoice_id'] === id).map(({ status }) => String(status));
  }
}
