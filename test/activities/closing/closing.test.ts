import assert from 'node:assert/strict';
import { newId } from '../../../adapters/ids.js';
import { insertClosing, listOpenClosings } from '../../../adapters/postgres/accounts/closings.js';
import { findOrInsertUser } from '../../../adapters/postgres/accounts/users.js';
import { carryCardMarks } from '../../../adapters/postgres/accounts/carry-marks.js';
import { isHeld } from '../../../adapters/postgres/payments/charge-marks.js';
import { verifyLedger } from '../../../adapters/postgres/ledger/verify.js';
import type { AccountClosingRow } from '../../../adapters/postgres/rows/tables.js';
import { ProcessorError, type Payment, type Refund } from '../../../adapters/processor/processor.js';
import type { UserId } from '../../../domain/ids.js';
import { post } from '../../../money/ledger/post.js';
import { lockWalletOfUser } from '../../../money/ledger/wallets.js';
import { insertManualInvoice } from '../../../money/invoices/manual-invoice.js';
import { creditUser } from '../../../money/payments/credit.js';
import { startActivities, type LoneActivities } from '../../support/activities/lone-activities.js';
import { dyingOnce, paymentOf } from '../../support/activities/scripted-processor.js';
import { ScriptedTemporal } from '../../support/activities/scripted-temporal.js';
import { insertRental, insertUser } from '../../support/money/factories.js';
import { getWallet } from '../../support/money/money.js';

const installationKey = Buffer.alloc(32, 7).toString('base64');

describe('the closing of an account', () => {
  const temporal = new ScriptedTemporal();
  let lone: LoneActivities;
  let userId: UserId;
  let customer: string;
  /** The processor's own books. */
  let payments: Map<string, Payment>;
  let refunds: Refund[];
  let deleted: string[];
  /** Payments whose card takes nothing back. */
  let closedCards: Set<string>;

  before(async () => {
    lone = await startActivities({ temporal: temporal.port, settings: { installationKey } });
  });
  after(() => lone.close());
  beforeEach(async () => {
    temporal.reset();
    lone.processor.reset();
    customer = `cus_${newId('top')}`;
    userId = (await insertUser(lone.db, { processor_customer_id: customer })).id;
    payments = new Map();
    [refunds, deleted, closedCards] = [[], [], new Set()];
    lone.processor.answers = {
      getPayment: (id) => Promise.resolve(payments.get(id) ?? assert.fail(`no payment ${id}`)),
      listRefundsOfCharge: (id) => Promise.resolve(refunds.filter(({ chargeId }) => chargeId === id)),
      createRefund,
      deleteCustomer: (id) => Promise.resolve(void deleted.push(id)),
    };
  });
  afterEach(async () => assert.deepEqual(await verifyLedger(lone.db), [], 'every wallet adds up'));

  function createRefund({
    paymentId,
    amountCents,
    key,
  }: {
    paymentId: string;
    amountCents: number;
    key: string;
  }): Promise<Refund> {
    const made = refunds.find((one) => one.key === key);
    if (made) return Promise.resolve(made);
    if (closedCards.has(paymentId))
      return Promise.reject(new ProcessorError('refused', 'no', { code: 'expired_card' }));
    const payment = payments.get(paymentId)!;
    const gone = refunds.filter((one) => one.paymentId === paymentId && one.status !== 'failed');
    const left = payment.amountReceivedCents - gone.reduce((sum, one) => sum + one.amountCents, 0);
    if (amountCents > left) return Promise.reject(new ProcessorError('refused', 'too much'));
    const refund: Refund = {
      ...{ refundId: `re_${newId('top')}`, paymentId, chargeId: payment.chargeId, amountCents },
      ...{ currency: 'usd', status: 'succeeded', key },
    };
    refunds.push(refund);
    return Promise.resolve(refund);
  }

  async function pay(amountCents: number): Promise<string> {
    const payment = paymentOf({ topupId: newId('top'), userId, amountCents }, { topupId: null });
    payments.set(payment.paymentId, payment);
    await creditUser(lone.db, userId, payment);
    return payment.paymentId;
  }

  /** Given by an operator, or taken. */
  async function give(cents: number): Promise<void> {
    await move(cents, 'adjustment');
  }

  async function move(cents: number, type: 'adjustment' | 'rental_charge', rentalNo?: number): Promise<void> {
    await lone.db.transaction(async (trx) => {
      await post(trx, await lockWalletOfUser(trx, userId), {
        ...{ type, availableCents: cents },
        ...(rentalNo === undefined
          ? { cause: { kind: 'operation', operationId: newId('op') } as const, note: `for ${customer}` }
          : { cause: { kind: 'settlement', rentalId: newId('rent') } as const, rentalNo }),
      });
    });
  }

  /** A rental of old that cost so much. */
  async function spend(cents: number): Promise<void> {
    const before = await getWallet(lone.db, userId);
    const at = new Date();
    const begun = new Date(at.getTime() - 3_600_000);
    const { no } = await insertRental(lone.db, userId, {
      ...{ status: 'stopped', charged_cents: cents, opened_seq: before.seq, settled_seq: before.seq + 1 },
      ...{ started_at: begun, running_at: begun, ended_at: at, settled_at: at, closed_at: at },
      ...{ price_per_hour_cents: cents, stop_reason: 'user', name: `project of ${customer}` },
    });
    await lone
      .db('stop_requests')
      .insert({ rental_no: no, requested_by: 'user', requested_at: at, open: false });
    await move(-cents, 'rental_charge', no);
  }

  async function look(): Promise<AccountClosingRow> {
    await lone.run('lookAtClosing', userId);
    return (await lone.db('account_closings').where({ user_id: userId }).first())!;
  }

  const close = async (): Promise<AccountClosingRow> => {
    await insertClosing(lone.db, userId);
    return look();
  };

  const returned = (): [string, number][] =>
    refunds.map(({ paymentId, amountCents }) => [paymentId, amountCents]);

  async function total(): Promise<number> {
    const { available_cents: available, reserved_cents: reserved } = await getWallet(lone.db, userId);
    return available + reserved;
  }

  describe('of its money', () => {
    it('gives what was paid in back to its cards, newest first, and lets what was given lapse', async () => {
      const first = await pay(1_000);
      const second = await pay(500);
      await give(300);
      await spend(400);
      const row = await close();
      // Given money was used first: 100 cents of 1,500 that were paid in are gone.
      assert.deepEqual(returned(), [
        [second, 500],
        [first, 900],
      ]);
      assert.deepEqual([row.state, row.lapsed_cents, await total()], ['kept', 0, 0]);
    });

    it('gives nothing of given money to a card, whatever was paid in and used before', async () => {
      await pay(1_000);
      await spend(1_000);
      await give(700);
      const row = await close();
      assert.deepEqual([returned(), row.lapsed_cents, row.lapses, await total()], [[], 700, 1, 0]);
    });

    it('gives no more of a payment than it has left', async () => {
      const paymentId = await pay(1_000);
      await lone.db('refunds_and_disputes').insert({
        ...{ id: `re_${newId('top')}`, kind: 'refund', payment_id: paymentId, amount_cents: 300 },
        ...{ status: 'succeeded', user_id: userId, wallet_id: (await getWallet(lone.db, userId)).id },
        ...{ debited_cents: 0, written_off_cents: 300, taken_at: new Date(), closed_at: new Date() },
      });
      await close();
      assert.deepEqual(returned(), [[paymentId, 700]]);
      const row = await look();
      assert.deepEqual([row.state, row.waits_for, await total()], ['returning', ['refused_refunds'], 300]);
    });

    it('makes one refund although the worker died before it heard the answer', async () => {
      const paymentId = await pay(1_000);
      lone.processor.answers.createRefund = dyingOnce(createRefund);
      await assert.rejects(close(), /the worker died/);
      assert.deepEqual([returned(), await total()], [[[paymentId, 1_000]], 1_000]);
      // The processor has forgotten the key by now.
      lone.processor.answers.createRefund = () => assert.fail('it is found by its key');
      const row = await look();
      assert.deepEqual([returned().length, row.state, await total()], [1, 'kept', 0]);
    });

    it('waits for operators when no card takes it back, and goes on once they have paid it out', async () => {
      closedCards.add(await pay(1_000));
      const row = await close();
      assert.deepEqual([row.state, row.waits_for, await total()], ['returning', ['refused_refunds'], 1_000]);
      const told = await lone.db('operator_notices').where('subject', 'like', `%${userId}%`);
      assert.equal(told.length, 1);
      await give(-1_000);
      assert.equal((await look()).state, 'kept');
    });

    it('gives back again what comes back after it', async () => {
      const paymentId = await pay(1_000);
      await close();
      const [refund] = refunds;
      refunds[0] = { ...refund!, status: 'failed' };
      await lone.db('processor_events').insert({
        ...{
          id: `evt_${newId('top')}`,
          kind: 'refund.failed',
          created_at: new Date(),
          livemode: false,
          object: {},
        },
        ...{ workflow_id: refund!.refundId, workflow_type: 'refund' },
      });
      lone.processor.answers.getRefund = () => Promise.resolve(refunds[0]!);
      await lone.run('lookAtRefund', refund!.refundId);
      assert.equal(await total(), 1_000);
      const row = await look();
      assert.deepEqual([row.state, await total()], ['kept', 0]);
      assert.deepEqual(returned()[1], [paymentId, 1_000]);
    });
  });

  describe('of what is open', () => {
    it('ends machines, and goes on only when they are gone', async () => {
      const rental = await insertRental(lone.db, userId);
      const row = await close();
      assert.deepEqual([row.state, row.waits_for], ['stopping', ['rentals']]);
      const stop = await lone.db('stop_requests').where({ rental_no: rental.no }).first();
      assert.equal(stop?.requested_by, 'user');
      assert.ok(temporal.ids.includes(rental.id));
      const at = new Date();
      await lone.db('stop_requests').where({ rental_no: rental.no }).update({ open: false });
      await lone
        .db('rentals')
        .where({ no: rental.no })
        .update({ status: 'stopped', ended_at: at, settled_at: at, closed_at: at, settled_seq: 0 });
      assert.equal((await look()).state, 'kept');
    });

    it('waits for a debt and a dispute, for a while', async () => {
      const paymentId = await pay(1_000);
      const wallet = await getWallet(lone.db, userId);
      await lone.db.transaction(async (trx) => {
        const cause = { kind: 'operation', operationId: newId('op') } as const;
        await insertManualInvoice(trx, await lockWalletOfUser(trx, userId), {
          ...{ cause, amountCents: 900, description: 'a debt' },
        });
      });
      await lone.db('refunds_and_disputes').insert({
        ...{ id: `dp_${newId('top')}`, kind: 'dispute', payment_id: paymentId, amount_cents: 1_000 },
        ...{ status: 'needs_response', user_id: userId, wallet_id: wallet.id },
      });
      const row = await close();
      assert.deepEqual([row.state, row.waits_for], ['settling', ['invoices', 'disputes']]);
      await lone
        .db('account_closings')
        .where({ user_id: userId })
        .update({ requested_at: new Date(0) });
      // The disputed payment gives nothing back: what was paid in waits for operators.
      assert.deepEqual((await look()).waits_for, ['refused_refunds']);
    });
  });

  describe('of its person', () => {
    it('erases the processor’s customer, the address, names and keys, and mails nothing more', async () => {
      await pay(500);
      await spend(500);
      await give(100);
      const { email } = (await lone.db('users').where({ id: userId }).first())!;
      await lone.db('ssh_keys').insert({
        ...{
          id: newId('key'),
          user_id: userId,
          name: 'my laptop',
          public_key: 'ssh-ed25519 AAAA',
          fingerprint: 'SHA256:x',
        },
      });
      await close();
      assert.deepEqual(deleted, [customer]);
      const { rows } = await lone.db.raw<{ rows: { name: string }[] }>(
        `select table_name as name from information_schema.tables
          where table_schema = 'public' and table_type = 'BASE TABLE'`,
      );
      for (const { name } of rows) {
        for (const word of [email, `project of ${customer}`, 'my laptop', customer]) {
          const found = await lone.db.raw<{ rows: unknown[] }>(
            `select 1 from ${name} t where strpos(to_jsonb(t)::text, ?) > 0`,
            [word],
          );
          assert.equal(found.rows.length, 0, `${word} in ${name}`);
        }
      }
      assert.ok((await lone.db('rentals').where({ user_id: userId })).length > 0, 'what was rented stays');
    });

    it('recognizes a blocked mailbox, and a card whose payment was denied', async () => {
      const email = `ann.${userId.toLowerCase()}@gmail.com`;
      await lone
        .db('users')
        .where({ id: userId })
        .update({ email, blocked_at: new Date(), blocked_reason: 'fraud' });
      await lone.db('account_ties').insert({ user_id: userId, kind: 'card', value: 'fp_1' });
      await lone.db('charge_marks').insert({
        ...{ id: `dp_${userId}`, kind: 'dispute', charge_id: 'ch_1', user_id: userId, fingerprint: 'fp_1' },
      });
      await close();
      const kept = await lone
        .db('charge_marks')
        .where({ id: `dp_${userId}` })
        .first();
      assert.match(kept?.fingerprint ?? '', /^hmac:[0-9a-f]{64}$/);
      const make = (address: string) =>
        lone.db.transaction((trx) =>
          findOrInsertUser(trx, address, {
            ...{ id: newId('usr'), autoTopupDailyCapCents: null, madeFrom: undefined, installationKey },
          }),
        );
      const again = await make(email.replace('ann.', 'a.n.n.').replace('@', '+x@'));
      const row = await lone.db('users').where({ id: again.user.id }).first();
      assert.notEqual(row?.blocked_at, null);
      assert.equal(await isHeld(lone.db, again.user.id), true);
      const other = await make(`other-${userId.toLowerCase()}@example.com`);
      assert.equal(other.user.blocked_at, null);
      await lone.db('account_ties').insert({ user_id: other.user.id, kind: 'card', value: 'fp_1' });
      await carryCardMarks(lone.db, other.user.id, installationKey);
      assert.equal(await isHeld(lone.db, other.user.id), true);
    });

    it('waits for a key when what it leaves would not be recognized', async () => {
      const keyless = await startActivities({ temporal: temporal.port });
      try {
        const user = await insertUser(keyless.db, { blocked_at: new Date(), blocked_reason: 'fraud' });
        await insertClosing(keyless.db, user.id);
        const seen = await keyless.run('lookAtClosing', user.id);
        assert.equal(seen.status, 'erasing');
        assert.equal((await keyless.db('users').where({ id: user.id }).first())?.email, user.email);
      } finally {
        await keyless.close();
      }
    });

    it('is over once nothing late can come, and is looked at until then', async () => {
      await close();
      await lone
        .db('account_closings')
        .where({ user_id: userId })
        .update({ requested_at: new Date(0) });
      assert.ok((await listOpenClosings(lone.db)).includes(userId));
      await lone
        .db('account_closings')
        .where({ user_id: userId })
        .update({ erased_at: new Date(0) });
      assert.equal((await look()).state, 'closed');
      assert.ok(!(await listOpenClosings(lone.db)).includes(userId));
    });
  });
});
