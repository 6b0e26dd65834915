import assert from 'node:assert/strict';
import {
  classifyCharge,
  declineCodeOf,
  type ChargeResult,
} from '../../../activities/payments/classify-charge.js';
import { ProcessorError, type Failure, type Payment } from '../../../adapters/processor/processor.js';

const paymentId = 'pi_1';
const approval = { kind: 'approval_needed', paymentId };

function paymentOf(status: Payment['status'], failure: Failure | null = null): Payment {
  return {
    paymentId,
    status,
    amountReceivedCents: 2_000,
    currency: 'usd',
    chargeId: null,
    receiptUrl: null,
    chargedAt: null,
    customerId: null,
    topupId: null,
    userId: null,
    failure,
    card: null,
  };
}

describe('what a charge of the saved card came to', () => {
  const paid = paymentOf('succeeded');
  const expired: Failure = { code: 'card_declined', declineCode: 'expired_card' };
  const wished: Failure = { code: 'authentication_required', declineCode: 'generic_decline' };
  const payments: readonly [Payment, ChargeResult | object][] = [
    [paid, { kind: 'paid', payment: paid }],
    [paymentOf('processing'), { kind: 'processing', paymentId }],
    [paymentOf('requires_action'), approval],
    [paymentOf('failed', expired), { kind: 'declined', declineCode: 'expired_card', paymentId }],
    [paymentOf('failed', wished), approval],
    [paymentOf('failed'), { kind: 'declined', declineCode: 'generic_decline', paymentId }],
    [paymentOf('canceled'), { kind: 'canceled' }],
  ];
  for (const [payment, result] of payments) {
    const why = payment.failure === null ? '' : ` by ${payment.failure.code ?? ''}`;
    it(`is told by a payment that is ${payment.status}${why}`, () => {
      assert.deepEqual(classifyCharge({ kind: 'payment', payment }), result);
    });
  }

  it('is a decline by the code of the bank, or its wish for an approval', () => {
    assert.deepEqual(classifyCharge({ kind: 'declined', declineCode: 'lost_card', paymentId: null }), {
      kind: 'declined',
      declineCode: 'lost_card',
      paymentId: null,
    });
    assert.deepEqual(
      classifyCharge({ kind: 'declined', declineCode: 'authentication_required', paymentId }),
      approval,
    );
  });

  it('is a card that is gone where the refusal is about that, and otherwise the refusal', () => {
    const error = new ProcessorError('refused', 'no such payment method');
    assert.deepEqual(classifyCharge({ kind: 'refused', error, goneCardId: 'pm_1' }), {
      kind: 'card_gone',
      cardId: 'pm_1',
    });
    assert.deepEqual(classifyCharge({ kind: 'refused', error, goneCardId: null }), {
      kind: 'refused',
      error,
    });
  });

  it('is nothing when it was looked up and never came to be', () => {
    assert.deepEqual(classifyCharge({ kind: 'none' }), { kind: 'never_left' });
  });
});

describe('why a charge failed', () => {
  const cases: readonly [Partial<Failure> | null, string][] = [
    [{ code: 'authentication_required', declineCode: 'generic_decline' }, 'authentication_required'],
    [{ code: 'card_declined', declineCode: 'authentication_required' }, 'authentication_required'],
    [{ code: 'card_declined', declineCode: 'insufficient_funds' }, 'insufficient_funds'],
    [{ code: 'processing_error', declineCode: null }, 'processing_error'],
    [{}, 'generic_decline'],
    [null, 'generic_decline'],
  ];
  for (const [failure, code] of cases) {
    it(`is ${code} by ${JSON.stringify(failure)}`, () => assert.equal(declineCodeOf(failure), code));
  }
});
