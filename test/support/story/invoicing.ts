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

/** Actions and reads of the tests of invoices, on one service. */
export class Invoicing extends Paying {
  constructor(private readonly living: TestService) {
    super(living);
  }

  /**
   * The draft of a debt. Within two seconds the engine signals its workflow; with `attention_at: null` among the
   * columns it never does.
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

  /** Starts the invoice's workflow, with a shorter day if wanted. */
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

  /** Waits until the invoice's workflow has ended. */
  async awaitClosed(id: InvoiceId): Promise<void> {
    const handle = this.living.temporal.workflow.getHandle(id);
    await until(
      `the workflow of ${id} has ended`,
      async () => (await handle.describe()).status.name === 'COMPLETED',
    );
  }

  /** The statuses of the invoice's mirrors at the processor. */
  async mirrors(id: InvoiceId): Promise<string[]> {
    const { data } = await this.living.stripe.invoices.list({ limit: 100 });
    return data.filter(({ metadata }) => metadata?.['invoice_id'] === id).map(({ status }) => String(status));
  }
}
