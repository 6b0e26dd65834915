import assert from 'node:assert/strict';
import { ApiError, ConnectionError, type Invoice, type Topup } from '@gpu-rental/client';
import fc from 'fast-check';
import { autoTopupWarnings } from '../../api/topups/auto-topup-shapes.js';
import type { AutoTopupRow } from '../../adapters/postgres/rows/tables.js';
import { cleanedAddress } from '../../clients/dashboard/src/app/clean-address.js';
import { decimal, money, parseMoney, typedMoney } from '../../clients/dashboard/src/format/money.js';
import { firstAmount, presetsWithin, readAmount } from '../../clients/dashboard/src/pages/billing/amounts.js';
import {
  autoTopupLimits,
  readFields,
  warningOf,
} from '../../clients/dashboard/src/pages/billing/auto-topup-form.js';
import { cardName, validityOf } from '../../clients/dashboard/src/pages/billing/card-state.js';
import { returnStateOf } from '../../clients/dashboard/src/pages/billing/returned.js';
import { readBillingSearch } from '../../clients/dashboard/src/pages/billing/search.js';
import { isOutcomeUnknown, isRefused, sendWish } from '../../clients/dashboard/src/data/outcome.js';
import { readableError } from '../../clients/dashboard/src/data/errors.js';
import { nextWish, outcomeOf } from '../../clients/dashboard/src/pages/billing/topup-wish.js';
import { whyOf } from '../../clients/dashboard/src/pages/invoices/invoice-state.js';
import { billingTexts } from '../../clients/dashboard/src/texts/billing.js';
import { declineOf, knownDecline } from '../../clients/dashboard/src/texts/declines.js';
import { paymentLimits } from '../../domain/payments/limits.js';
import { testCards } from '../../lab/processor/cards/cards.js';

describe('amounts that are typed', () => {
  const read: readonly (readonly [string, number | undefined])[] = [
    ['25', 2_500],
    ['25.5', 2_550],
    ['25.50', 2_550],
    ['0.01', 1],
    ['  $1,234.56 ', 123_456],
    ['1,234,567', 123_456_700],
    ['$ 7', 700],
    ['0', 0],
    ['19.99', 1_999],
    ['２５．５０', 2_550],
    ['٢٥.5', 2_550],
    ['4503599627.37', 450_359_962_737],
    ...[
      '',
      ' ',
      '.',
      '.5',
      '5.',
      '1.234',
      '1,23',
      '12,34.5',
      '1e3',
      '-5',
      '+5',
      'NaN',
      '1 000',
      '5$',
      '1.2.3',
    ].map((text) => [text, undefined] as const),
  ];
  for (const [text, cents] of read) {
    it(`“${text}” is ${cents === undefined ? 'no amount' : `${cents} cents`}`, () => {
      assert.equal(parseMoney(text), cents);
    });
  }

  it('are read as they were written, whatever they are', () => {
    fc.assert(
      fc.property(fc.nat({ max: 9_999_999_999_999 }), (cents) => {
        assert.equal(parseMoney(typedMoney(cents)), cents);
        assert.equal(parseMoney(money(cents)), cents);
        assert.equal(parseMoney(decimal(cents)), cents);
      }),
    );
  });

  it('are offered and taken within what the service takes', () => {
    assert.deepEqual(
      presetsWithin({ minCents: 100, maxCents: 500_000 }),
      [1_000, 2_500, 5_000, 10_000, 25_000],
    );
    assert.deepEqual(presetsWithin({ minCents: 3_000, maxCents: 6_000 }), [5_000]);
    assert.deepEqual(presetsWithin({ minCents: 1, maxCents: 2 }), [1]);
    const limits = { minCents: 100, maxCents: 500_000 };
    const t = billingTexts.topup;
    assert.deepEqual(readAmount('0.99', limits, t), { error: t.tooSmall('$1.00') });
    assert.deepEqual(readAmount('1', limits, t), { cents: 100 });
    assert.deepEqual(readAmount('5000', limits, t), { cents: 500_000 });
    assert.deepEqual(readAmount('5000.01', limits, t), { error: t.tooLarge('$5,000.00') });
    assert.deepEqual(readAmount('much', limits, t), { error: t.notMoney });
    assert.deepEqual(
      [undefined, 12, 1_234, 600_000].map((missing) => firstAmount(missing, limits)),
      [2_500, 100, 1_234, 500_000],
    );
  });
});

describe('a wish to pay', () => {
  let keys = 0;
  const newKey = (): string => `key-${(keys += 1)}`;
  const sent = { amountCents: 5_000, idempotencyKey: 'first' };

  it('keeps its key and its amount while nobody knows whether it was done', () => {
    assert.deepEqual(nextWish({ ...sent, outcome: 'open' }, 9_900, newKey), sent);
  });

  it('leads to the page that was opened for it, unless another amount is wished', () => {
    assert.deepEqual(nextWish({ ...sent, outcome: 'page' }, 5_000, newKey), sent);
    assert.notEqual(nextWish({ ...sent, outcome: 'page' }, 5_100, newKey).idempotencyKey, 'first');
  });

  it('is a new one once the one before is over, and at first', () => {
    assert.notEqual(nextWish({ ...sent, outcome: 'over' }, 5_000, newKey).idempotencyKey, 'first');
    assert.match(nextWish(undefined, 5_000, newKey).idempotencyKey, /^key-/);
  });

  const answer = (status: number, code: string, details?: object): Error =>
    new ApiError({
      ...{
        status,
        code: code as 'internal_error',
        message: '',
        requestId: 'r',
        retryAfterSeconds: undefined,
      },
      details: details as never,
    });
  const outcomes: readonly (readonly [string, unknown, 'open' | 'over'])[] = [
    ['silence', new ConnectionError('no answer'), 'open'],
    ['another answer in its place', new ConnectionError('HTTP 502', { status: 502 }), 'open'],
    ['a connection that never came about', new ConnectionError('no', { neverSent: true }), 'over'],
    ['an error of this page', new TypeError('x'), 'open'],
    ['a fault of the service', answer(500, 'internal_error'), 'open'],
    ['503 unknown', answer(503, 'temporarily_unavailable', { outcome: 'unknown' }), 'open'],
    ['503 not done', answer(503, 'temporarily_unavailable', { outcome: 'not_done' }), 'over'],
    ['a twin under way', answer(409, 'idempotency_in_progress'), 'open'],
    ['a decline', answer(402, 'card_declined', { declineCode: 'x', topupId: 'top_1' }), 'over'],
    ['a refusal', answer(403, 'blocked', { reason: 'account' }), 'over'],
  ];
  for (const [what, error, outcome] of outcomes) {
    it(`is ${outcome} after ${what}`, () => assert.equal(outcomeOf(error), outcome));
  }

  /** What a second try under the same key says of a wish whose first one is open. */
  const again = (error: unknown) =>
    sendWish(true, () => Promise.reject(error as Error)).catch((failure: unknown) => failure);
  const silent: readonly (readonly [string, unknown])[] = [
    ['too many requests', answer(429, 'rate_limited', { retryAfterSeconds: 3 })],
    ['the end of the session', answer(401, 'unauthorized')],
    ['a connection that never came about', new ConnectionError('no', { neverSent: true })],
    ['503 not done', answer(503, 'temporarily_unavailable', { outcome: 'not_done' })],
  ];
  for (const [what, error] of silent) {
    it(`stays open when it is asked for again and meets ${what}`, async () => {
      const failure = await again(error);
      assert.deepEqual(
        [outcomeOf(failure), isOutcomeUnknown(failure), isRefused(failure)],
        ['open', true, false],
      );
      assert.deepEqual(readableError(failure), readableError(error), 'in the same words');
      await assert.rejects(
        sendWish(false, () => Promise.reject(error as Error)),
        error as Error,
      );
    });
  }

  it('is over when the second try is refused itself', async () => {
    for (const error of [
      answer(402, 'card_declined', { declineCode: 'x', topupId: 'top_1' }),
      answer(429, 'rate_limited', { retryAfterSeconds: 3, reason: 'too_many_free_machines' }),
    ])
      assert.equal(outcomeOf(await again(error)), 'over');
  });
});

describe('coming back from the payment page', () => {
  const topup = (status: Topup['status'], more: Partial<Topup> = {}): Topup => ({
    ...{
      id: 'top_1',
      source: 'checkout',
      status,
      amountCents: 5_000,
      creditedCents: null,
      reversedCents: 0,
      checkoutUrl: null,
    },
    ...{ sessionId: 'cs_1', processorChargeId: null, receiptUrl: null, error: null, declineCode: null },
    ...{ createdAt: '2026-11-22T10:00:00.000Z', expiresAt: null, creditedAt: null, ...more },
  });

  it('claims no money before the service tells of it', () => {
    for (const told of [undefined, null, topup('creating'), topup('requires_payment'), topup('processing')]) {
      assert.deepEqual(returnStateOf('success', told, false), { kind: 'waiting', isLate: false });
    }
  });

  it('tells what was received, which may differ from what was asked for', () => {
    const paid = topup('succeeded', { creditedCents: 4_900, creditedAt: '2026-11-22T10:01:00.000Z' });
    const state = { kind: 'paid', creditedCents: 4_900, creditedAt: '2026-11-22T10:01:00.000Z' };
    assert.deepEqual(returnStateOf('success', paid, true), state);
    assert.deepEqual(returnStateOf('cancel', paid, false), state, 'whatever the address says');
  });

  it('says that nothing was charged only where that is so', () => {
    assert.deepEqual(returnStateOf('cancel', undefined, false), { kind: 'asking' });
    assert.deepEqual(returnStateOf('cancel', topup('processing'), true), { kind: 'waiting', isLate: true });
    assert.deepEqual(returnStateOf('cancel', topup('expired'), false), {
      kind: 'cancelled',
      resume: undefined,
    });
    const open = topup('requires_payment', { checkoutUrl: 'https://pay.example.com/1' });
    const resume = { url: 'https://pay.example.com/1', amountCents: 5_000 };
    assert.deepEqual(returnStateOf('cancel', open, false), { kind: 'cancelled', resume });
  });

  it('tells a payment that failed, and a page that nobody paid on', () => {
    assert.equal(returnStateOf('success', topup('failed'), false).kind, 'failed');
    assert.equal(returnStateOf('success', topup('expired'), false).kind, 'expired');
  });

  it('reads its address, and nothing that is none of it', () => {
    assert.deepEqual(readBillingSearch({ session: 'success', other: 1 }), { session: 'success' });
    assert.deepEqual(readBillingSearch({ session: 'paid', setup: 'x', amountCents: -5 }), {});
    assert.deepEqual(readBillingSearch({ amountCents: 2_500 }), { amountCents: 2_500 });
    assert.deepEqual(readBillingSearch({ amountCents: 0.5 }), {});
  });

  it('leaves no secret of the processor in the address', () => {
    const base = 'https://gpu.example.com/app/billing';
    const secret = 'setup_intent=seti_1&setup_intent_client_secret=seti_1_secret_x';
    assert.equal(
      cleanedAddress(`${base}?${secret}&redirect_status=succeeded`),
      '/app/billing?setup=succeeded',
    );
    assert.equal(cleanedAddress(`${base}?${secret}&redirect_status=failed#x`), '/app/billing?setup=failed#x');
    assert.equal(cleanedAddress(`${base}?${secret}`), '/app/billing');
    assert.equal(cleanedAddress(`${base}?session=success`), undefined);
    const payment = 'payment_intent=pi_1&payment_intent_client_secret=pi_1_secret_x&session=success';
    assert.equal(cleanedAddress(`${base}?${payment}`), '/app/billing?session=success');
  });
});

describe('declines', () => {
  /** https://docs.stripe.com/declines/codes */
  const documented = `authentication_required approve_with_id call_issuer card_not_supported card_velocity_exceeded
    currency_not_supported do_not_honor do_not_try_again duplicate_transaction expired_card fraudulent generic_decline
    incorrect_address incorrect_cvc incorrect_number incorrect_pin incorrect_zip insufficient_funds invalid_account
    invalid_amount invalid_cvc invalid_expiry_month invalid_expiry_year invalid_number invalid_pin issuer_not_available
    lost_card merchant_blacklist new_account_information_available no_action_taken not_permitted offline_pin_required
    online_or_offline_pin_required pickup_card pin_try_exceeded processing_error reenter_transaction restricted_card
    revocation_of_all_authorizations revocation_of_authorization security_violation service_not_allowed stolen_card
    stop_payment_order testmode_decline transaction_not_allowed try_again_later withdrawal_count_limit_exceeded`;
  const ofTestCards = testCards.flatMap(({ decline }) =>
    decline ? [decline.declineCode, decline.code] : [],
  );
  /** activities/topups, activities/payments/classify-charge.ts */
  const ofTheService = ['canceled', 'card_removed', 'refused', 'generic_decline', 'authentication_required'];

  for (const code of new Set([...documented.split(/\s+/), ...ofTestCards, ...ofTheService])) {
    it(`tells ${code} with what helps`, () => {
      assert.match(knownDecline(code)?.text ?? '', /\. ./, 'what happened, and what to do');
    });
  }

  it('tells an unknown word as a bank’s that gave no reason', () => {
    assert.deepEqual(declineOf('toString'), declineOf('generic_decline'));
    assert.deepEqual(declineOf(undefined), declineOf('generic_decline'));
  });

  it('does not tell a thief that a card was reported', () => {
    for (const code of ['lost_card', 'stolen_card', 'pickup_card', 'fraudulent']) {
      assert.equal(declineOf(code).text, declineOf('generic_decline').text);
    }
  });
});

describe('a saved card', () => {
  const now = new Date('2026-11-22T12:00:00Z');
  const cases = [
    [2026, 10, 'expired'],
    [2026, 11, 'soon'],
    [2026, 12, 'soon'],
    [2027, 1, 'valid'],
    [2025, 12, 'expired'],
    [2030, 1, 'valid'],
  ] as const;
  for (const [expYear, expMonth, validity] of cases) {
    it(`of ${expMonth}/${expYear} is ${validity}`, () => {
      assert.equal(validityOf({ expMonth, expYear }, now), validity);
    });
  }

  it('has a name, even where little is known of it', () => {
    assert.equal(cardName({ brand: 'amex', last4: '0005' }), 'American Express •••• 0005');
    assert.equal(cardName({ brand: 'newbrand', last4: null }), 'newbrand •••• ????');
    assert.equal(cardName({ brand: null, last4: null }), 'Card •••• ????');
  });
});

describe('the form of automatic top-ups', () => {
  it('has the limits of the service', () => {
    assert.deepEqual(autoTopupLimits, {
      threshold: { minCents: paymentLimits.minThresholdCents, maxCents: paymentLimits.maxThresholdCents },
      amount: { minCents: paymentLimits.minAutoTopupCents, maxCents: paymentLimits.maxAutoTopupCents },
      cap: { minCents: paymentLimits.minAutoTopupCents, maxCents: paymentLimits.maxDailyCapCents },
    });
  });

  it('reads what is to be stored, or names each fault', () => {
    assert.deepEqual(readFields({ threshold: '10', amount: '25', cap: ' ' }), {
      ...{ enabled: true, thresholdCents: 1_000, topupAmountCents: 2_500, dailyCapCents: null },
    });
    const t = billingTexts.auto;
    assert.deepEqual(readFields({ threshold: 'x', amount: '9.99', cap: '1' }), {
      ...{
        threshold: t.notMoney,
        amount: t.outside('$10.00', '$5,000.00'),
        cap: t.outside('$10.00', '$50,000.00'),
      },
    });
    assert.deepEqual(readFields({ threshold: '10', amount: '25', cap: '24.99' }), {
      cap: t.capBelow('$25.00'),
    });
  });

  it('tells the service’s warning in its own words', () => {
    const row = { enabled: true, topup_amount_cents: 1_000 } as AutoTopupRow;
    const [warning = ''] = autoTopupWarnings(row, 240_000);
    assert.equal(warningOf(warning), billingTexts.auto.burning('$200.00', '$200.00'));
    assert.equal(warningOf('Something new.'), 'Something new.');
  });
});

describe('why there is an invoice', () => {
  it('asks nobody to pay what is paid or void', () => {
    const why = (status: Invoice['status']) => whyOf({ reason: 'topup_failed', status });
    assert.match(why('open') ?? '', /charge your card .*You don’t owe this: pay it to add the money\.$/);
    for (const status of ['paid', 'void'] as const) assert.match(why(status) ?? '', /automatic top-up\.$/);
    assert.equal(whyOf({ reason: 'a newer one' as Invoice['reason'], status: 'paid' }), undefined);
  });
});
