import assert from 'node:assert/strict';
import { newId } from '../../../adapters/ids.js';
import { ProcessorError, type Processor } from '../../../adapters/processor/processor.js';
import { listFindings, listGaps } from '../../../adapters/postgres/reconcile/findings.js';
import type { Database, Transaction } from '../../../adapters/postgres/database.js';
import type { ReconcileFindingRow } from '../../../adapters/postgres/rows/tables.js';
import type { FindingKind, ReconcileReport, ReconcileScope } from '../../../domain/operations/reconcile.js';
import { taskQueues } from '../../../domain/task-queues.js';
import type { TestService } from '../service/living-service.js';

/** One service whose books are compared by hand; in the product, schedules do it. */
export class Reconciling {
  constructor(private readonly service: TestService) {}

  /** Does one run. No row is too young for it. */
  async run(scope: ReconcileScope = 'window', graceMs = 0): Promise<ReconcileReport> {
    return (await this.service.temporal.workflow.execute('reconcile', {
      workflowId: `reconcile-test-${newId('op')}`,
      taskQueue: taskQueues.rentals,
      args: [{ scope, graceMs, confirmMs: 50 }],
    })) as ReconcileReport;
  }

  /** The kind and the subject of each standing finding. */
  async standing(): Promise<[kind: FindingKind, subject: string][]> {
    const rows = await listFindings(this.service.db, ['open', 'acknowledged'], 1_000);
    return rows.map(({ kind, subject }) => [kind, subject]);
  }

  /** Asserts that one run finds exactly this, and leaves nothing out. */
  async assertFinds(
    expected: readonly [kind: FindingKind, subject: string][],
    scope: ReconcileScope = 'window',
  ): Promise<void> {
    await this.run(scope);
    const sorted = (pairs: readonly [string, string][]): string[] =>
      pairs.map((pair) => pair.join(' ')).sort();
    assert.deepEqual(
      { findings: sorted(await this.standing()), gaps: await this.gaps() },
      { findings: sorted(expected), gaps: [] },
    );
  }

  /** The one standing finding of a kind. */
  async finding(kind: FindingKind): Promise<ReconcileFindingRow> {
    const rows = await listFindings(this.service.db, ['open', 'acknowledged'], 1_000);
    const found = rows.filter((row) => row.kind === kind);
    assert.equal(found.length, 1, `${found.length} of ${kind}`);
    return found[0]!;
  }

  /** The sources that could not be compared. */
  async gaps(): Promise<string[]> {
    return (await listGaps(this.service.db)).map(({ source }) => source);
  }
}

/** Writes rows that the schema refuses, with the table's triggers off: only a fault of the database could do so. */
export async function tamper(
  db: Database,
  table:
    | 'wallets'
    | 'ledger_entries'
    | 'ledger_hashes'
    | 'ledger_roots'
    | 'lost_roots'
    | 'operator_order_items',
  work: (trx: Transaction) => Promise<unknown>,
): Promise<void> {
  await db.transaction(async (trx) => {
    await trx.raw('alter table ?? disable trigger user', [table]);
    await work(trx);
    await trx.raw('alter table ?? enable trigger user', [table]);
  });
}

/** A processor that returns no usable answer about some payments, neither in its lists nor for a single payment. */
export function withUnreadable(paymentIds: ReadonlySet<string>): (processor: Processor) => Processor {
  return (processor) => ({
    ...processor,
    async listCharges(input) {
      const page = await processor.listCharges(input);
      const items = page.items.map((charge) =>
        paymentIds.has(charge.paymentId ?? '') ? { ...charge, currency: 'u\u0000d' } : charge,
      );
      return { ...page, items };
    },
    findCharge: (id) =>
      paymentIds.has(id)
        ? Promise.reject(new ProcessorError('unknown', 'no answer', { status: 500 }))
        : processor.findCharge(id),
  });
}
