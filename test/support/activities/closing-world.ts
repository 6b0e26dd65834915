import assert from 'node:assert/strict';
import { newId } from '../../../adapters/ids.js';
import { insertClosing } from '../../../adapters/postgres/accounts/closings.js';
import { explainEntry } from '../../../adapters/postgres/explain/explain-entry.js';
import { getLedgerIds } from '../../../adapters/postgres/ledger/ledger-ids.js';
import type { AccountClosingRow } from '../../../adapters/postgres/rows/tables.js';
import {
  ProcessorError,
  type Payment,
  type Refund,
  type RefundInput,
} from '../../../adapters/processor/processor.js';
import type { InvoiceId, UserId } from '../../../domain/ids.js';
import type { LedgerEntryType } from '../../../domain/ledger/ledger.js';
import { post } from '../../../money/ledger/post.js';
import { lockWalletOfUser } from '../../../money/ledger/wallets.js';
import { insertManualInvoice } from '../../../money/invoices/manual-invoice.js';
import { creditUser } from '../../../money/payments/credit.js';
import { applyReversal } from '../../../money/reversals/reversals.js';
import { insertRental, insertUser } from '../money/factories.js';
import { verifyLedgerAgain } from '../money/kept-plan.js';
import { getWallet } from '../money/money.js';
import { startActivities, type LoneActivities } from './lone-activities.js';
import { paymentOf } from './scripted-processor.js';
import { ScriptedTemporal } from './scripted-temporal.js';

export const installationKey = Buffer.alloc(32, 7).toString('base64');

/** The world of a suite of tests: each gets a new account, and leaves every wallet adding up. */
export function closingWorld(): ClosingWorld {
  const world = new ClosingWorld();
  before(() => world.start());
  after(() => world.lone.close());
  beforeEach(() => world.begin());
  afterEach(async () => assert.deepEqual(await verifyLedgerAgain(world.db), [], 'every wallet adds up'));
  return world;
}

/** An account that is to be closed, and a processor that keeps books of its own. */
class ClosingWorld {
  readonly temporal = new ScriptedTemporal();
  lone!: LoneActivities;
  userId!: UserId;
  customer!: string;
  payments = new Map<string, Payment>();
  refunds: Refund[] = [];
  deleted: string[] = [];
  /** The payments that take nothing back, each with the processor's word and status. */
  refusals = new Map<string, { code: string; status: number }>();

  async start(): Promise<void> {
    this.lone = await startActivities({ temporal: this.temporal.port, settings: { installationKey } });
  }

  get db() {
    return this.lone.db;
  }

  /** A new account, and a processor that knows nothing. */
  async begin(): Promise<void> {
    this.temporal.reset();
    this.lone.processor.reset();
    this.customer = `cus_${newId('top')}`;
    this.userId = (await insertUser(this.db, { processor_customer_id: this.customer })).id;
    this.payments = new Map();
    this.refunds = [];
    this.deleted = [];
    this.refusals = new Map();
    this.lone.processor.answers = {
      getPayment: (id) => this.getPayment(id),
      listRefundsOfCharge: (id) => Promise.resolve(this.refunds.filter(({ chargeId }) => chargeId === id)),
      getRefund: (id) => Promise.resolve(this.refunds.find(({ refundId }) => refundId === id)!),
      createRefund: (input) => this.createRefund(input),
      deleteCustomer: (id) => Promise.resolve(void this.deleted.push(id)),
    };
  }

  /** As the processor does: it refuses what its account does not know. */
  getPayment(id: string): Promise<Payment> {
    const payment = this.payments.get(id);
    const details = { code: 'resource_missing', status: 404 };
    return payment
      ? Promise.resolve(payment)
      : Promise.reject(new ProcessorError('refused', `no payment ${id}`, details));
  }

  /** As the processor does: a key makes one refund, and a payment gives no more than it brought. */
  createRefund({ paymentId, amountCents, key }: RefundInput): Promise<Refund> {
    const made = this.refunds.find((one) => one.key === key);
    if (made) return Promise.resolve(made);
    const refusal = this.refusals.get(paymentId);
    if (refusal) return Promise.reject(new ProcessorError('refused', 'no', refusal));
    const payment = this.payments.get(paymentId)!;
    const gone = this.refunds.filter((one) => one.paymentId === paymentId && one.status !== 'failed');
    const left = payment.amountReceivedCents - gone.reduce((sum, one) => sum + one.amountCents, 0);
    if (amountCents > left) {
      const details = { code: 'charge_already_refunded', status: 400 };
      return Promise.reject(new ProcessorError('refused', 'too much', details));
    }
    return Promise.resolve(this.refund(paymentId, amountCents, key));
  }

  /** Somebody gives back a part of a payment. */
  refund(paymentId: string, amountCents: number, key: string | null = null): Refund {
    const { chargeId } = this.payments.get(paymentId)!;
    const refund: Refund = {
      ...{ refundId: `re_${newId('top')}`, paymentId, chargeId, amountCents },
      ...{ currency: 'usd', status: 'succeeded', key },
    };
    this.refunds.push(refund);
    return refund;
  }

  /** A bank sends a refund back: its event comes. */
  async bounce(refund: Refund): Promise<void> {
    this.refunds = this.refunds.map((one) => (one === refund ? { ...one, status: 'failed' } : one));
    await this.hear('refund.failed', refund);
  }

  /** An event about a refund comes, and is followed. */
  async hear(kind: string, { refundId }: Refund): Promise<void> {
    await this.db('processor_events').insert({
      ...{ id: `evt_${newId('top')}`, kind, created_at: new Date(), livemode: false, object: {} },
      ...{ workflow_id: refundId, workflow_type: 'refund' },
    });
    await this.lone.run('lookAtRefund', refundId);
  }

  async pay(amountCents: number): Promise<string> {
    const payment = this.paid(amountCents);
    await creditUser(this.db, this.userId, payment);
    return payment.paymentId;
  }

  /** A payment that the processor knows, and no wallet. */
  paid(amountCents: number, columns: Partial<Payment> = {}): Payment {
    const of = { topupId: newId('top'), userId: this.userId, amountCents };
    const payment = paymentOf(of, { topupId: null, ...columns });
    this.payments.set(payment.paymentId, payment);
    return payment;
  }

  /** Given by an operator, or taken. */
  async give(cents: number, type: LedgerEntryType = 'adjustment') {
    const operationId = newId('op');
    await this.db.transaction(async (trx) => {
      const cause = { kind: 'operation', operationId } as const;
      const note = `for ${this.customer}`;
      await post(trx, await lockWalletOfUser(trx, this.userId), { type, availableCents: cents, cause, note });
    });
    return operationId;
  }

  /**
   * A rental of old that cost so much.
   * @param meanwhile what was done while it ran, and what it cost after that, of the whole
   */
  async spend(
    cents: number,
    { lastCents, act }: { lastCents: number; act: () => Promise<unknown> } = {
      lastCents: 0,
      act: () => Promise.resolve(),
    },
  ): Promise<void> {
    const before = await getWallet(this.db, this.userId);
    const at = new Date();
    const begun = new Date(at.getTime() - 3_600_000);
    const { no } = await insertRental(this.db, this.userId, {
      ...{ status: 'stopped', charged_cents: cents, opened_seq: before.seq, settled_seq: before.seq + 1 },
      ...{ started_at: begun, running_at: begun, ended_at: at, settled_at: at, closed_at: at },
      ...{ price_per_hour_cents: cents, stop_reason: 'user', name: `project of ${this.customer}` },
    });
    await this.db('stop_requests').insert({
      rental_no: no,
      requested_by: 'user',
      requested_at: at,
      open: false,
    });
    await this.charge(no, cents - lastCents);
    await act();
    if (lastCents > 0) await this.charge(no, lastCents);
  }

  private async charge(rentalNo: number, cents: number): Promise<void> {
    await this.db.transaction(async (trx) => {
      const cause = { kind: 'settlement', rentalId: newId('rent') } as const;
      const charge = { type: 'rental_charge', availableCents: -cents, cause, rentalNo } as const;
      await post(trx, await lockWalletOfUser(trx, this.userId), charge);
    });
  }

  async owe(amountCents: number) {
    return this.db.transaction(async (trx) => {
      const cause = { kind: 'operation', operationId: newId('op') } as const;
      const wallet = await lockWalletOfUser(trx, this.userId);
      return insertManualInvoice(trx, wallet, { cause, amountCents, description: 'a debt' });
    });
  }

  /** Tells how a dispute of a payment stands. @returns its id */
  async dispute(paymentId: string, amountCents: number, more = {}): Promise<string> {
    const id = `dp_${newId('top')}`;
    await applyReversal(this.db, {
      ...{ id, kind: 'dispute', status: 'needs_response', amountCents, paymentId, userId: this.userId },
      ...{ paymentCents: amountCents, credited: true, taken: true, returned: false, closed: false },
      ...more,
    });
    return id;
  }

  /** An offer to pay what a card did not, which the processor knows. */
  async offer(status: 'open' | 'uncollectible'): Promise<InvoiceId> {
    const id = newId('inv');
    const { id: walletId } = await getWallet(this.db, this.userId);
    await this.db('invoices').insert({
      ...{ id, user_id: this.userId, wallet_id: walletId, status, reason: 'topup_failed', amount_cents: 500 },
      ...{ cause: `test:${id}`, processor_invoice_id: `in_${id}`, finalized_at: new Date() },
      closed_at: status === 'open' ? null : new Date(),
    });
    return id;
  }

  async close(): Promise<AccountClosingRow> {
    await insertClosing(this.db, this.userId);
    return this.look();
  }

  /** Closes it as if it had waited for debts and disputes long enough. */
  async closeLate(): Promise<AccountClosingRow> {
    await insertClosing(this.db, this.userId);
    const requested_at = new Date(Date.now() - 36 * 86_400_000);
    await this.db('account_closings').where({ user_id: this.userId }).update({ requested_at });
    return this.look();
  }

  /** Looks as often as its workflow does while its last mails are sent. */
  async look(): Promise<AccountClosingRow> {
    for (;;) {
      await this.lone.run('lookAtClosing', this.userId);
      const row = (await this.db('account_closings').where({ user_id: this.userId }).first())!;
      if (row.state !== 'erasing' || (await this.sendMails()) === 0) return row;
    }
  }

  /** @returns how many were due */
  async sendMails(): Promise<number> {
    const notices = await this.db('user_notices')
      .whereNull('told_at')
      .update({ told_at: new Date(), is_mailed: false });
    return notices + (await this.db('mail_outbox').whereNull('sent_at').update({ sent_at: new Date() }));
  }

  returned(): [string, number][] {
    return this.refunds.map(({ paymentId, amountCents }) => [paymentId, amountCents]);
  }

  async total(): Promise<number> {
    const { available_cents: available, reserved_cents: reserved } = await getWallet(this.db, this.userId);
    return available + reserved;
  }

  /** What operators were told of it. */
  async told(): Promise<string[]> {
    const rows = await this.db('operator_notices').where('subject', 'like', `%${this.userId}%`).orderBy('id');
    return rows.map(({ body }) => body);
  }

  /** Why the entry was written whose cause begins so, as its payer and operators read it. */
  async whyOf(cause: string): Promise<string | undefined> {
    const { id } = await getWallet(this.db, this.userId);
    const posted = await this.db('ledger_causes')
      .where({ wallet_id: id })
      .whereLike('cause', `${cause}%`)
      .first('seq');
    const ids = await getLedgerIds(this.db);
    return (await explainEntry(this.db, ids.of(id, posted?.seq ?? 0), 0))?.why;
  }
}
