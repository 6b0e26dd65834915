import { until } from '../until.js';
import { newId } from '../../../adapters/ids.js';
import { getLedgerIds } from '../../../adapters/postgres/ledger/ledger-ids.js';
import type { Database, Transaction } from '../../../adapters/postgres/database.js';
import { settleInvoice } from '../../../money/payments/settle-invoice.js';
import { requestVoid } from '../../../money/invoices/invoice-voids.js';
import { insertManualInvoice } from '../../../money/invoices/manual-invoice.js';
import { lockRental, type RentalWithStop } from '../../../money/rentals/rentals.js';
import { applyReversal } from '../../../money/reversals/reversals.js';
import { endLost } from '../../../money/rentals/lost.js';
import { endUnstarted, settle } from '../../../money/rentals/settle.js';
import { tick } from '../../../money/metering/tick.js';
import { unnamedSeller } from '../../../domain/payments/receipt.js';
import { creditTopup } from '../../../money/payments/credit.js';
import {
  lockWalletOfRental,
  lockWalletOfUser,
  moveHold,
  type LockedWallet,
} from '../../../money/ledger/wallets.js';
import { insertStopRequest } from '../../../adapters/postgres/rentals/stop-requests.js';
import type { TopupRow } from '../../../adapters/postgres/rows/tables.js';
import type { Payment } from '../../../adapters/processor/processor.js';
import type { InvoiceId, RentalId, UserId } from '../../../domain/ids.js';
import { insertProvider, insertRental, insertTopup } from './factories.js';
import { getRental, getWallet, insertRunning } from './money.js';
import { operateNow } from '../ops/operators.js';

const whole = { shard: 0, shards: 1 };

/** A ledger with every kind of entry, each written by the product's own code. */
export class ToldLedger {
  constructor(
    readonly db: Database,
    readonly userId: UserId,
  ) {}

  /** The public id of the newest entry, or of the entry `before` places earlier. */
  async newestId(before = 0): Promise<string> {
    const { id, seq } = await getWallet(this.db, this.userId);
    return (await getLedgerIds(this.db)).of(id, seq - before);
  }

  async payTopup(
    columns: Partial<TopupRow> = {},
    cents = 2_000,
  ): Promise<{ topupId: string; payment: Payment }> {
    const topup = await insertTopup(this.db, this.userId, columns);
    const payment = paymentOf(topup, cents);
    await creditTopup(this.db, topup.id, payment, unnamedSeller);
    return { topupId: topup.id, payment };
  }

  /** A machine at 360 cents an hour (a tenth of a cent a second) that has run this long and was metered. */
  async runMachine(ranMs: number, more: { maxSpendCents?: number } = {}): Promise<RentalId> {
    await insertProvider(this.db, 'lab');
    const wallet = await getWallet(this.db, this.userId);
    const id = await insertRunning(this.db, wallet, { priceCents: 360, ranMs, ...more });
    await this.db('rentals').where({ id }).update({ opened_seq: wallet.seq });
    // A watcher that runs beside the test may have missed the machine, and have written a row of its own.
    await this.db('pods')
      .insert({
        ...{ provider_code: 'lab', pod_id: `pod-${id}`, tag: `test-${id}-1`, status: 'active' },
        ...{ upstream_status: 'active', first_seen_at: this.db.raw('clock_ms()') },
      })
      .onConflict(['provider_code', 'pod_id'])
      .merge();
    await this.db('providers')
      .where({ code: 'lab' })
      .update({ pods_listed_at: this.db.raw('clock_ms()') });
    await tick(this.db, whole);
    return id;
  }

  /** Stops and settles a rental as its workflow does. */
  async stopMachine(id: RentalId): Promise<void> {
    await insertStopRequest(this.db, (await getRental(this.db, id)).no, 'user');
    // A service that runs beside it ticks too, and this tick skips what that one holds.
    await until('a tick has ended it', async () => {
      await tick(this.db, whole);
      return (await getRental(this.db, id)).ended_at !== null;
    });
    await this.locked(id, (trx, wallet, rental) => settle(trx, wallet, rental));
    await this.db('rentals')
      .where({ id })
      .update({ status: 'stopped', closed_at: this.db.raw('clock_ms()') });
  }

  /** Loses a rental whose machine was last seen alive this long ago. */
  async loseMachine(id: RentalId, agoMs: number): Promise<void> {
    const { rows } = await this.db.raw<{ rows: { at: Date }[] }>(
      `select clock_ms() - ? * interval '1 millisecond' as at`,
      [agoMs],
    );
    await this.locked(id, async (trx, wallet, rental) => {
      await endLost(trx, wallet, rental, rows[0]!.at);
    });
  }

  /** A rental that never ran: its hold is captured and given back. */
  async failToProvision(): Promise<RentalId> {
    const id = newId('rent');
    await this.db.transaction(async (trx) => {
      const wallet = await lockWalletOfUser(trx, this.userId);
      await moveHold(trx, wallet, 50);
      await insertRental(trx, this.userId, { id, hold_cents: 50, opened_seq: wallet.seq });
    });
    await this.locked(id, (trx, wallet, rental) =>
      endUnstarted(trx, wallet, rental, { kind: 'failed', error: 'No machine could be had.' }),
    );
    return id;
  }

  async byHand(kind: 'refund' | 'adjust', amountCents: number): Promise<string> {
    const action = { kind, userId: this.userId, amountCents };
    return operateNow(this.db, action, { reason: 'the machine was slow' });
  }

  /** The processor takes a payment back, or returns it after that. */
  async reverse(payment: Payment, id: string, returned: boolean): Promise<void> {
    await applyReversal(this.db, {
      ...{ id, kind: 'refund', status: returned ? 'failed' : 'succeeded', amountCents: 300 },
      ...{ paymentId: payment.paymentId, userId: this.userId, paymentCents: payment.amountReceivedCents },
      ...{ credited: true, taken: true, returned, closed: true },
    });
  }

  /** An offer paid by a wire, or a debt that was paid although it was to be void. */
  async payInvoice(which: 'offer' | 'void debt'): Promise<InvoiceId> {
    const id = await this.db.transaction(async (trx) => {
      const wallet = await lockWalletOfUser(trx, this.userId);
      const cause = { kind: 'operation', operationId: newId('op') } as const;
      return insertManualInvoice(trx, wallet, { cause, amountCents: 700, description: 'x' });
    });
    await this.db('invoices')
      .where({ id })
      .update({
        status: 'open',
        processor_invoice_id: `in_${id}`,
        ...(which === 'offer' ? { reason: 'topup_failed' } : {}),
      });
    if (which === 'void debt') await this.db.transaction((trx) => requestVoid(trx, id, 'a slip'));
    await settleInvoice(this.db, id, { payment: null, paidAt: null });
    return id;
  }

  private locked(
    id: RentalId,
    work: (trx: Transaction, wallet: LockedWallet, rental: RentalWithStop) => Promise<void>,
  ): Promise<void> {
    return this.db.transaction(async (trx) => {
      const wallet = await lockWalletOfRental(trx, id);
      await work(trx, wallet, await lockRental(trx, id));
    });
  }
}

function paymentOf(topup: TopupRow, cents: number): Payment {
  return {
    paymentId: `pi_${topup.id}`,
    status: 'succeeded',
    amountReceivedCents: cents,
    currency: 'usd',
    chargeId: `ch_${topup.id}`,
    receiptUrl: `https://pay.example/receipts/${topup.id}`,
    chargedAt: null,
    customerId: null,
    topupId: topup.id,
    userId: topup.user_id,
    failure: null,
    card: null,
  };
}
