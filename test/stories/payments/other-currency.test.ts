import assert from 'node:assert/strict';
import type { Processor } from '../../../adapters/processor/processor.js';
import type { SignedIn } from '../../support/http/api.js';
import { startService, type TestService } from '../../support/service/living-service.js';
import { Paying } from '../../support/story/paying.js';
import { Reversing } from '../../support/story/reversing.js';
import { until } from '../../support/until.js';

/** The objects that the processor shows in euros from now on. */
const inEuros = { payments: false, reversals: false };

/** A processor whose account also takes euros, which the service never asks for. */
function withEuros(processor: Processor): Processor {
  const shown = <T extends { readonly currency: string }>(object: T, euros: boolean): T =>
    euros ? { ...object, currency: 'eur' } : object;
  return {
    ...processor,
    async getPayment(paymentId) {
      return shown(await processor.getPayment(paymentId), inEuros.payments);
    },
    async getCheckoutSession(sessionId) {
      const session = await processor.getCheckoutSession(sessionId);
      const { payment } = session;
      return { ...session, payment: payment && shown(payment, inEuros.payments) };
    },
    async chargeSavedCard(input) {
      return shown(await processor.chargeSavedCard(input), inEuros.payments);
    },
    async getRefund(refundId) {
      return shown(await processor.getRefund(refundId), inEuros.reversals);
    },
    async listRefundsOfCharge(chargeId) {
      const refunds = await processor.listRefundsOfCharge(chargeId);
      return refunds.map((refund) => shown(refund, inEuros.reversals));
    },
    async getDispute(disputeId) {
      return shown(await processor.getDispute(disputeId), inEuros.reversals);
    },
  };
}

describe('money of another currency than US dollars', () => {
  let service: TestService;
  let paying: Paying;
  let user: SignedIn;
  let reversing: Reversing;

  before(async () => {
    service = await startService({ wrapProcessor: withEuros });
    paying = new Paying(service);
  });
  beforeEach(async () => {
    user = await service.signIn();
    reversing = new Reversing(service, paying, user);
  });
  afterEach(async () => {
    Object.assign(inEuros, { payments: false, reversals: false });
    await paying.awaitHandled();
    await paying.liftMarks();
  });
  after(() => service.stop());

  /** The line logged as an error, which wakes an operator. */
  function alarmAbout(name: string, id: string): Record<string, unknown> | undefined {
    return service.api.logged.find((line) => line['level'] === 50 && line[name] === id);
  }

  async function assertParked(topupId: string): Promise<void> {
    const parked = await until('it is parked', () =>
      service.db('parked_payments').where({ topup_id: topupId }).first(),
    );
    assert.deepEqual(
      [parked.amount_cents, parked.currency, parked.reason, parked.resolved_at],
      [2_000, 'eur', 'paid in eur', null],
    );
    assert.ok(alarmAbout('paymentId', parked.payment_id), 'an operator is told');
    await paying.awaitHandled();
    assert.deepEqual(await paying.entries(user), []);
    const topup = await paying.topup(topupId);
    assert.deepEqual([topup.credited_cents, topup.closed_at instanceof Date], [null, true]);
    assert.match(topup.error!, /operator/);
    assert.equal((await service.db('parked_payments').where({ topup_id: topupId })).length, 1);
  }

  it('paid on the page is credited nowhere, and parked for operators once', async () => {
    inEuros.payments = true;
    const { topupId, url } = await paying.page(user, 2_000);
    await paying.pay(url);
    await assertParked(topupId);
  });

  it('charged to the saved card is credited nowhere, and parked for operators once', async () => {
    await paying.saveCard(user);
    inEuros.payments = true;
    const { body } = await paying.checkout(user, 2_000);
    await assertParked(body.topupId);
  });

  it('refunded leaves the wallet alone, loudly', async () => {
    const { paymentId } = await reversing.paid(2_000);
    inEuros.reversals = true;
    const refund = await service.stripe.refunds.create({ payment_intent: paymentId });
    await until('an operator is told', () => alarmAbout('id', refund.id));
    await paying.awaitHandled();
    assert.deepEqual(await paying.entries(user), [['processor_topup', 2_000]]);
    assert.equal(await reversing.row(refund.id), undefined);
  });

  it('disputed leaves the wallet alone, loudly', async () => {
    const { chargeId } = await reversing.paid(2_000);
    inEuros.reversals = true;
    const dispute = (await paying.order(`charges/${chargeId}/dispute`)) as { id: string };
    await until('an operator is told', () => alarmAbout('id', dispute.id));
    await paying.awaitHandled();
    assert.deepEqual(await paying.entries(user), [['processor_topup', 2_000]]);
    assert.equal(await reversing.row(dispute.id), undefined);
  });
});
