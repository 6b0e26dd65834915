import assert from 'node:assert/strict';
import { parkPayment } from '../../../money/payments/parked-payments.js';
import { operate } from '../../../money/operations/operations.js';
import type { MoneyAction } from '../../../domain/operations/operation.js';
import { closingWorld } from '../../support/activities/closing-world.js';
import { dyingOnce } from '../../support/activities/scripted-processor.js';
import { insertTopup } from '../../support/money/factories.js';
import { placeOrder, testSingleLimitCents } from '../../support/ops/operators.js';

describe('an account that closes, and what operators do by hand', () => {
  const world = closingWorld();

  /** Asks for it, as `ops wallet adjust` and `ops invoices issue` do. @returns what came of it, and its words */
  async function ask(action: MoneyAction): Promise<[string, string]> {
    const id = await placeOrder(world.db, action);
    const outcome = await operate(world.db, id, testSingleLimitCents);
    const order = await world.db('operator_orders').where({ id }).first();
    return ['code' in outcome ? outcome.code : outcome.outcome, JSON.stringify(order)];
  }
  const adjust = (amountCents: number) => ask({ kind: 'adjust', userId: world.userId, amountCents });

  it('takes nothing while a refund may be on its way, so that its money does not leave twice', async () => {
    const paymentId = await world.pay(1_000);
    world.lone.processor.answers.createRefund = dyingOnce((input) => world.createRefund(input));
    await assert.rejects(world.close(), /the worker died/);
    const [code, words] = await adjust(-1_000);
    assert.equal(code, 'account_closing');
    assert.match(words, new RegExp(`1000 cents of ${paymentId} may be on their way to its card: wait`));
    assert.equal((await world.look()).state, 'kept');
    assert.deepEqual([world.returned(), await world.total()], [[[paymentId, 1_000]], 0]);
  });

  it('takes what no card takes back, and what the processor refused for now', async () => {
    world.refusals.set(await world.pay(1_000), { code: 'charge_not_refundable', status: 400 });
    assert.deepEqual((await world.close()).waits_for, ['refused_refunds']);
    assert.equal((await adjust(-400))[0], 'done');
    world.refusals.set(await world.pay(500), { code: 'balance_insufficient', status: 400 });
    assert.deepEqual((await world.look()).waits_for, ['processor']);
    assert.equal((await adjust(-1_100))[0], 'done');
    assert.deepEqual([(await world.look()).state, world.returned(), await world.total()], ['kept', [], 0]);
  });

  it('gives nothing, which would lapse, and issues no invoice', async () => {
    await world.pay(1_000);
    await world.close();
    const [code, words] = await adjust(800);
    assert.equal(code, 'account_closing');
    assert.match(words, /refund it at the processor, then resolve it/);
    const invoice = { kind: 'issue_invoice', userId: world.userId, amountCents: 900 } as const;
    const [refused, why] = await ask({ ...invoice, description: 'a debt' });
    assert.equal(refused, 'account_closing');
    assert.match(why, /nobody would pay the invoice/);
    assert.equal(await world.total(), 0);
  });

  describe('with a payment that is parked', () => {
    const resolve = (paymentId: string) =>
      world
        .db('parked_payments')
        .where({ payment_id: paymentId })
        .update({ resolved_at: new Date(), resolution: 'given back' });

    it('waits until it is resolved, however long, and tells operators', async () => {
      const { payment_id: topupPaymentId } = await parkOfTopup();
      const own = world.paid(800);
      await parkPayment(world.db, own, 'paid in eur', null);
      assert.deepEqual((await world.closeLate()).waits_for, ['parked_payments']);
      const [told] = await world.told();
      assert.match(told ?? '', new RegExp(own.paymentId));
      assert.match(told ?? '', new RegExp(topupPaymentId));
      await resolve(own.paymentId);
      assert.equal((await world.look()).state, 'settling');
      await resolve(topupPaymentId);
      assert.equal((await world.look()).state, 'kept');
    });

    it('waits for one that comes late, before the person goes and after it', async () => {
      await world.close();
      const late = world.paid(800);
      await parkPayment(world.db, late, 'paid in eur', null);
      for (const state of ['kept', 'erasing'] as const) {
        await world.db('account_closings').where({ user_id: world.userId }).update({ state });
        const row = await world.look();
        assert.deepEqual([row.state, row.waits_for], [state, ['parked_payments']]);
      }
      assert.match((await world.told()).join(), new RegExp(late.paymentId));
    });

    /** It names another user than its top-up's. */
    async function parkOfTopup() {
      const topup = await insertTopup(world.db, world.userId);
      const payment = world.paid(700, { userId: null, topupId: topup.id });
      await parkPayment(world.db, payment, 'it names another user', topup.id);
      return (await world.db('parked_payments').where({ payment_id: payment.paymentId }).first())!;
    }
  });
});
