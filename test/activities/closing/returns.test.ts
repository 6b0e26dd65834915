import assert from 'node:assert/strict';
import { newId } from '../../../adapters/ids.js';
import { insertClosing } from '../../../adapters/postgres/accounts/closings.js';
import { ProcessorError } from '../../../adapters/processor/processor.js';
import { DAY } from '../../../domain/durations.js';
import { parkPayment } from '../../../money/payments/parked-payments.js';
import { settleInvoice } from '../../../money/payments/settle-invoice.js';
import { lockWalletOfUser, moveHold } from '../../../money/ledger/wallets.js';
import { closingWorld } from '../../support/activities/closing-world.js';
import { dyingOnce } from '../../support/activities/scripted-processor.js';
import { getWallet } from '../../support/money/money.js';

describe('the money of an account that closes', () => {
  const world = closingWorld();

  it('goes back to its cards, newest first, and what was given lapses', async () => {
    const first = await world.pay(1_000);
    const second = await world.pay(500);
    await world.give(300);
    await world.spend(400);
    const row = await world.close();
    // Given money was used first: 100 cents of 1,500 that were paid in are gone.
    assert.deepEqual(world.returned(), [
      [second, 500],
      [first, 900],
    ]);
    assert.deepEqual([row.state, row.lapsed_cents, await world.total()], ['kept', 0, 0]);
  });

  it('gives nothing of given money to a card, whatever was paid in and used before', async () => {
    await world.pay(1_000);
    await world.spend(1_000);
    await world.give(700);
    const row = await world.close();
    assert.deepEqual([world.returned(), row.lapsed_cents, row.lapses, await world.total()], [[], 700, 1, 0]);
    assert.equal(
      await world.whyOf('closing:'),
      '$7.00 was taken from your wallet: it was given to your account, so it lapsed when the account closed.',
    );
  });

  it('gives no more of a payment than it has left', async () => {
    const paymentId = await world.pay(1_000);
    await world.db('refunds_and_disputes').insert({
      ...{ id: `re_${newId('top')}`, kind: 'refund', payment_id: paymentId, amount_cents: 300 },
      ...{
        status: 'succeeded',
        user_id: world.userId,
        wallet_id: (await getWallet(world.db, world.userId)).id,
      },
      ...{ debited_cents: 0, written_off_cents: 300, taken_at: new Date(), closed_at: new Date() },
    });
    await world.close();
    assert.deepEqual(world.returned(), [[paymentId, 700]]);
    const row = await world.look();
    assert.deepEqual(
      [row.state, row.waits_for, await world.total()],
      ['returning', ['refused_refunds'], 300],
    );
  });

  describe('when the processor refuses', () => {
    it('moves on to an older payment only at a word of the payment itself', async () => {
      const first = await world.pay(1_000);
      const second = await world.pay(1_000);
      world.refusals.set(second, { code: 'charge_not_refundable', status: 400 });
      await world.spend(1_000);
      const row = await world.close();
      assert.deepEqual([world.returned(), row.state], [[[first, 1_000]], 'kept']);
    });

    for (const [code, status] of [
      ['balance_insufficient', 400],
      ['charge_disputed', 400],
      ['parameter_invalid_integer', 400],
      ['permission_denied', 403],
      ['api_key_expired', 401],
    ] as const)
      it(`waits and tells operators at ${status} ${code}, and asks for the same refund later`, async () => {
        await world.pay(1_000);
        const second = await world.pay(1_000);
        world.refusals.set(second, { code, status });
        const row = await world.close();
        assert.deepEqual([row.state, row.waits_for, world.returned()], ['returning', ['processor'], []]);
        const [told, ...more] = await world.told();
        assert.match(told ?? '', /\$10\.00/);
        assert.match(told ?? '', new RegExp(code));
        assert.equal((told ?? '').includes('refunds: write'), status !== 400);
        assert.deepEqual(more, []);
        await world.look();
        assert.equal((await world.told()).length, 1);
        // However often it is tried: one row.
        const rows = await world.db('closing_refunds').where({ user_id: world.userId });
        assert.deepEqual(
          rows.map(({ payment_id: id, called_at: at }) => [id, at === null]),
          [[second, status === 400]],
        );
        world.refusals.clear();
        // The answer to the next try is lost: its refund is found, whichever try made it.
        world.lone.processor.answers.createRefund = dyingOnce((input) => world.createRefund(input));
        await assert.rejects(world.look(), /the worker died/);
        assert.equal((await world.look()).state, 'kept');
        assert.equal(world.returned().length, 2);
        const answered = await world.db('closing_refunds').where({ user_id: world.userId }).orderBy('id');
        assert.deepEqual(
          answered.map(({ refund_id: id }) => id),
          world.refunds.map(({ refundId }) => refundId),
        );
      });

    it('takes what somebody has refunded already from the wallet, and asks for the rest', async () => {
      const first = await world.pay(1_000);
      const second = await world.pay(1_000);
      world.refund(second, 400);
      const row = await world.close();
      assert.deepEqual(world.returned(), [
        [second, 400],
        [second, 600],
        [first, 1_000],
      ]);
      assert.deepEqual([row.state, await world.total()], ['kept', 0]);
    });

    it('waits for operators, who are told the sum, and goes on once they have paid it out', async () => {
      world.refusals.set(await world.pay(1_000), { code: 'charge_not_refundable', status: 400 });
      await world.give(200);
      const row = await world.close();
      assert.deepEqual(
        [row.state, row.waits_for, await world.total()],
        ['returning', ['refused_refunds'], 1_200],
      );
      assert.match((await world.told()).join(), /\$10\.00/);
      // What an operator takes afterwards was paid out: it is no money that was given.
      await world.give(-1_000);
      const after = await world.look();
      assert.deepEqual([after.state, after.lapsed_cents, await world.total()], ['kept', 200, 0]);
    });
  });

  describe('when the worker dies', () => {
    it('makes one refund although the answer was lost', async () => {
      const paymentId = await world.pay(1_000);
      world.lone.processor.answers.createRefund = dyingOnce((input) => world.createRefund(input));
      await assert.rejects(world.close(), /the worker died/);
      assert.deepEqual([world.returned(), await world.total()], [[[paymentId, 1_000]], 1_000]);
      // The processor has forgotten the key by now.
      world.lone.processor.answers.createRefund = () => assert.fail('it is found by its key');
      const row = await world.look();
      assert.deepEqual([world.returned().length, row.state, await world.total()], [1, 'kept', 0]);
    });

    it('makes one refund although the wallet followed it by its own event first', async () => {
      await world.pay(1_000);
      world.lone.processor.answers.createRefund = dyingOnce((input) => world.createRefund(input));
      await assert.rejects(world.close(), /the worker died/);
      const [refund] = world.refunds;
      await world.hear('refund.created', refund!);
      assert.equal(await world.total(), 0);
      const row = await world.look();
      assert.deepEqual([world.returned().length, row.state], [1, 'kept']);
    });

    it('withdraws a refund that nobody was asked for once the account has changed', async () => {
      const first = await world.pay(1_000);
      const second = await world.pay(1_000);
      // It dies before the call.
      world.lone.processor.answers.getPayment = dyingOnce((id) => Promise.resolve(world.payments.get(id)!));
      await assert.rejects(world.close(), /the worker died/);
      await world.dispute(second, 1_000);
      const row = await world.look();
      assert.deepEqual(world.returned(), [[first, 1_000]]);
      assert.deepEqual([row.waits_for, await world.total()], [['disputes'], 0]);
    });

    it('waits while a call that was lost may still arrive, though the account has changed', async () => {
      await world.pay(1_000);
      const second = await world.pay(1_000);
      world.lone.processor.answers.createRefund = () =>
        Promise.reject(new ProcessorError('unknown', 'no answer'));
      await assert.rejects(world.close(), /no answer/);
      await world.dispute(second, 1_000);
      world.lone.processor.answers.createRefund = (input) => world.createRefund(input);
      const row = () => world.db('closing_refunds').where({ user_id: world.userId, payment_id: second });
      // A clock that ran ahead and was set back since lets nobody wait for longer, nor for less.
      for (const called_at of [new Date(), new Date(Date.now() + DAY)]) {
        await row().update({ called_at });
        assert.deepEqual([(await world.look()).waits_for, world.returned()], [['processor'], []]);
        assert.ok((await row().first())!.called_at!.getTime() <= Date.now());
      }
      await row().update({ called_at: new Date(0) });
      await world.look();
      assert.deepEqual(world.returned().length, 1);
      assert.equal(await world.total(), 0);
    });
  });

  describe('of what came and went before', () => {
    it('counts what an operator refunded as what it had been: paid in first', async () => {
      const paymentId = await world.pay(1_000);
      await world.give(700);
      await world.spend(1_200);
      // 700 given and 500 paid-in cents were used; 500 of the refund are paid in again.
      await world.give(600, 'refund');
      const row = await world.close();
      assert.deepEqual([world.returned(), row.lapsed_cents], [[[paymentId, 1_000]], 100]);
    });

    it('uses nothing of what was given while a machine ran for what it had cost by then', async () => {
      const paymentId = await world.pay(1_000);
      await world.spend(900, { lastCents: 100, act: () => world.give(500) });
      const row = await world.close();
      // 800 of the payment were used before; then 100 of the given money.
      assert.deepEqual([world.returned(), row.lapsed_cents], [[[paymentId, 200]], 400]);
    });

    it('gives a payment that operators credited by hand back to its card', async () => {
      const payment = world.paid(800);
      await parkPayment(world.db, payment, 'it names nobody', null);
      const operationId = await world.give(800);
      await world.db('operator_actions').insert({
        ...{
          id: operationId,
          kind: 'adjust',
          operator: 'ada',
          reason: 'it is theirs',
          result: '{}',
        },
        request: { kind: 'adjust', userId: world.userId, amountCents: 800 },
      });
      await world
        .db('parked_payments')
        .where({ payment_id: payment.paymentId })
        .update({ resolved_at: new Date(), resolution: 'credited', credited_by: operationId } as never);
      const row = await world.close();
      assert.deepEqual(
        [world.returned(), row.lapsed_cents, await world.total()],
        [[[payment.paymentId, 800]], 0, 0],
      );
    });

    it('gives what was paid in after a dispute took given money, and not what was given', async () => {
      const first = await world.pay(1_000);
      await world.spend(1_000);
      await world.give(500);
      await world.dispute(first, 1_000, { status: 'lost', closed: true });
      const second = await world.pay(500);
      await world.db('invoices').where({ user_id: world.userId }).update({
        status: 'void',
        voided_at: new Date(),
        void_reason: 'a test',
        void_requested_at: new Date(),
        closed_at: new Date(),
      });
      const row = await world.close();
      assert.deepEqual([world.returned(), row.lapsed_cents], [[[second, 500]], 0]);
    });
  });

  it('gives the payment of a debt back where a dispute took its money a second time', async () => {
    const first = await world.pay(1_000);
    const hold = (cents: number) =>
      world.db.transaction(async (trx) => moveHold(trx, await lockWalletOfUser(trx, world.userId), cents));
    await hold(600);
    await world.dispute(first, 1_000, { status: 'lost', closed: true });
    const [invoice] = await world.db('invoices').where({ user_id: world.userId });
    const second = world.paid(600, { userId: null, customerId: world.customer });
    await settleInvoice(world.db, invoice!.id, { payment: second, paidAt: new Date() });
    await hold(-600);
    const row = await world.close();
    assert.deepEqual(
      [world.returned(), row.state, await world.total()],
      [[[second.paymentId, 600]], 'kept', 0],
    );
    // Its bank sends it back after the customer is forgotten: it goes the same way again.
    await world.bounce(world.refunds[0]!);
    assert.equal(await world.total(), 600);
    assert.equal((await world.look()).state, 'kept');
    assert.equal(world.returned().length, 2);
  });

  describe('in a restored database', () => {
    it('follows the refunds of all payments before it decides what goes back of which', async () => {
      const first = await world.pay(1_000);
      await world.pay(1_000);
      await world.spend(1_000);
      // The closing that was lost gave the older one back, since the newer one took nothing then.
      world.refund(first, 1_000);
      await insertClosing(world.db, world.userId);
      await insertClosing(world.db, world.userId, 'restored');
      assert.equal((await world.look()).state, 'kept');
      assert.deepEqual([world.returned(), await world.total()], [[[first, 1_000]], 0]);
    });
  });

  describe('that comes back later', () => {
    it('goes to its card again, and what lapsed lapses once', async () => {
      const paymentId = await world.pay(1_000);
      await world.give(700);
      const before = await world.close();
      assert.deepEqual([before.state, before.lapsed_cents], ['kept', 700]);
      await world.bounce(world.refunds[0]!);
      assert.equal(await world.total(), 1_000);
      const row = await world.look();
      assert.deepEqual([row.state, row.lapses, row.lapsed_cents, await world.total()], ['kept', 1, 700, 0]);
      assert.deepEqual(world.returned()[1], [paymentId, 1_000]);
    });

    it('is tried twice for each payment, then operators are told', async () => {
      await world.pay(1_000);
      await world.close();
      for (const tries of [1, 2]) {
        assert.equal(world.refunds.length, tries);
        await world.bounce(world.refunds.at(-1)!);
        await world.look();
      }
      const row = await world.look();
      assert.deepEqual(
        [row.state, row.waits_for, world.refunds.length],
        ['returning', ['refused_refunds'], 2],
      );
      assert.match((await world.told()).join(), /\$10\.00/);
    });

    it('is told again where it is the sum that operators took before', async () => {
      const first = await world.pay(500);
      world.refusals.set(await world.pay(500), { code: 'charge_not_refundable', status: 400 });
      await world.close();
      await world.look();
      assert.equal((await world.told()).length, 1, 'once, however often somebody looks');
      await world.give(-500);
      for (const tries of [1, 2]) {
        assert.equal((await world.look()).state, 'kept');
        assert.equal(world.refunds.length, tries);
        await world.bounce(world.refunds.at(-1)!);
      }
      assert.deepEqual((await world.look()).waits_for, ['refused_refunds']);
      assert.deepEqual(
        world.returned().map(([paymentId]) => paymentId),
        [first, first],
      );
      assert.equal((await world.told()).length, 2);
    });

    it('wakes a closing that is over, and a dispute that is lost late charges nobody', async () => {
      const paymentId = await world.pay(1_000);
      await world.spend(1_000);
      await world.close();
      await world
        .db('account_closings')
        .where({ user_id: world.userId })
        .update({ late_until: new Date(0) });
      assert.equal((await world.look()).state, 'closed');
      const id = await world.dispute(paymentId, 1_000);
      const woken = await world.db('account_closings').where({ user_id: world.userId }).first();
      assert.deepEqual([woken?.state, woken?.closed_at], ['kept', null]);
      const row = await world.db('refunds_and_disputes').where({ id }).first();
      assert.deepEqual([row?.written_off_cents, row?.invoiced_cents, row?.invoice_id], [1_000, 0, null]);
      assert.deepEqual((await world.look()).waits_for, ['disputes']);
      assert.equal(await world.db('invoices').where({ user_id: world.userId }).first(), undefined);
    });
  });
});
