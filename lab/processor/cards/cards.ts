import type Stripe from 'stripe';
import { ApiError } from '../http/errors.js';
import type { World } from '../http/endpoint.js';
import { newId } from '../ids.js';

/** The reason of a bank's decline, in the two codes that the processor gives (docs.stripe.com/declines/codes). */
export interface Decline {
  readonly code: string;
  readonly declineCode: string;
  readonly message: string;
}

/** A documented test card (docs.stripe.com/testing) and its behaviour. */
export interface TestCard {
  readonly number: string;
  /** The ready-made payment methods that stand for it. */
  readonly methods: readonly string[];
  readonly brand: 'amex' | 'discover' | 'mastercard' | 'visa';
  readonly decline: Decline | null;
  /** False: only charges are declined, and the card can be attached to a customer. */
  readonly declinesAttach: boolean;
  readonly authentication: 'never' | 'unless_set_up' | 'always';
  /** The outcome of its refunds. */
  readonly refund: 'succeeds' | 'fails' | 'pending';
  /** The owner's reaction right after a charge. */
  readonly disputes: 'never' | 'at_once' | 'inquires';
  /** True: its bank warns that the charge is fraud. */
  readonly warns: boolean;
}

export function decline(declineCode: string): Decline {
  const known = messages[declineCode];
  return {
    code: known?.code ?? 'card_declined',
    declineCode,
    message: known?.message ?? 'The bank declined the card. Try another card.',
  };
}

const messages: Record<string, { code?: string; message: string }> = {
  insufficient_funds: { message: 'The card has not enough funds. Try another card.' },
  expired_card: { code: 'expired_card', message: 'The card has expired. Try another card.' },
  incorrect_cvc: { code: 'incorrect_cvc', message: 'The security code is wrong. Correct it and try again.' },
  processing_error: {
    code: 'processing_error',
    message: 'The card could not be processed just now. Try again in a moment.',
  },
  authentication_required: {
    code: 'authentication_required',
    message: 'The bank asks the card’s owner to approve this payment. Pay on the payment page.',
  },
};

function card(
  number: string,
  methods: string,
  details: Partial<Omit<TestCard, 'number' | 'methods' | 'decline'>> & { decline?: string } = {},
): TestCard {
  const { decline: declineCode, ...rest } = details;
  return {
    number,
    methods: methods.split(' '),
    brand: 'visa',
    decline: declineCode === undefined ? null : decline(declineCode),
    declinesAttach: declineCode !== undefined,
    authentication: 'never',
    refund: 'succeeds',
    disputes: 'never',
    warns: false,
    ...rest,
  };
}

export const testCards: readonly TestCard[] = [
  card('4242424242424242', 'pm_card_visa'),
  card('4000056655665556', 'pm_card_visa_debit'),
  card('5555555555554444', 'pm_card_mastercard', { brand: 'mastercard' }),
  card('378282246310005', 'pm_card_amex', { brand: 'amex' }),
  card('6011111111111117', 'pm_card_discover', { brand: 'discover' }),
  card('4000000000000077', 'pm_card_bypassPending'),
  card('4000000000000002', 'pm_card_visa_chargeDeclined pm_card_chargeDeclined', {
    decline: 'generic_decline',
  }),
  card(
    '4000000000009995',
    'pm_card_visa_chargeDeclinedInsufficientFunds pm_card_chargeDeclinedInsufficientFunds',
    {
      decline: 'insufficient_funds',
    },
  ),
  card('4000000000009987', 'pm_card_visa_chargeDeclinedLostCard', { decline: 'lost_card' }),
  card('4000000000009979', 'pm_card_visa_chargeDeclinedStolenCard', { decline: 'stolen_card' }),
  card('4000000000000069', 'pm_card_chargeDeclinedExpiredCard', { decline: 'expired_card' }),
  card('4000000000000127', 'pm_card_chargeDeclinedIncorrectCvc', { decline: 'incorrect_cvc' }),
  card('4000000000000119', 'pm_card_chargeDeclinedProcessingError', { decline: 'processing_error' }),
  card('4000000000006975', 'pm_card_visa_chargeDeclinedVelocityLimitExceeded', {
    decline: 'card_velocity_exceeded',
  }),
  card('4100000000000019', 'pm_card_radarBlock', { decline: 'fraudulent' }),
  card('4000000000000341', 'pm_card_chargeCustomerFail', {
    decline: 'generic_decline',
    declinesAttach: false,
  }),
  card('4000002500003155', 'pm_card_authenticationRequiredOnSetup', { authentication: 'unless_set_up' }),
  card('4000002760003184', 'pm_card_authenticationRequired', { authentication: 'always' }),
  card('4000008260003178', 'pm_card_authenticationRequiredChargeDeclinedInsufficientFunds', {
    authentication: 'always',
    decline: 'insufficient_funds',
    declinesAttach: false,
  }),
  card('4000000000005126', 'pm_card_refundFail', { refund: 'fails' }),
  card('4000000000007726', 'pm_card_pendingRefund', { refund: 'pending' }),
  card('4000000000000259', 'pm_card_createDispute', { disputes: 'at_once' }),
  card('4000000000001976', 'pm_card_createDisputeInquiry', { disputes: 'inquires' }),
  card('4000000000005423', 'pm_card_createIssuerFraudRecord', { warns: true }),
];

/** The first test card again, for as many people as there are numbers: each has a fingerprint of its own. */
const manyCards = '424200';

export function findTestCard(number: string): TestCard | undefined {
  return (
    testCards.find((candidate) => candidate.number === number) ??
    (number.startsWith(manyCards) && passesLuhn(number) ? card(number, 'pm_card_visa') : undefined)
  );
}

/** The number of the n-th card of many that pay like the first test card. */
export function numberOfCard(no: number): string {
  const beginning = manyCards + String(no).padStart(9, '0');
  const last = Array.from({ length: 10 }, (_, digit) => String(digit)).find((digit) =>
    passesLuhn(beginning + digit),
  );
  return `${beginning}${last ?? ''}`;
}

/** The card that a ready-made payment method such as `pm_card_visa` stands for. */
export function findTestMethod(id: string): TestCard | undefined {
  return testCards.find((candidate) => candidate.methods.includes(id));
}

/** The fields of a card form. */
export interface CardForm {
  readonly number: string;
  readonly expMonth: number;
  readonly expYear: number;
  readonly cvc: string;
}

/**
 * Checks the fields of a card form, as the processor's form does before any charge.
 * @throws ApiError 402 with the code of the wrong field
 */
export function checkCard(form: CardForm, nowSeconds: number): TestCard {
  if (!passesLuhn(form.number)) {
    throw cardError('incorrect_number', 'The card number is wrong. Correct it and try again.');
  }
  if (form.expMonth < 1 || form.expMonth > 12) {
    throw cardError(
      'invalid_expiry_month',
      'The month must lie between 01 and 12. Correct it and try again.',
    );
  }
  const today = new Date(nowSeconds * 1000);
  const endsAt = Date.UTC(form.expYear, form.expMonth, 1);
  if (!(endsAt > today.getTime())) {
    throw cardError('invalid_expiry_year', 'The card’s date is over. Correct it or take another card.');
  }
  if (!/^\d{3,4}$/.test(form.cvc)) {
    throw cardError('invalid_cvc', 'The security code has 3 or 4 digits. Correct it and try again.');
  }
  const found = findTestCard(form.number);
  if (found === undefined) {
    throw cardError(
      'card_declined',
      'Only test cards can be used here, for example 4242 4242 4242 4242.',
      'test_mode_live_card',
    );
  }
  return found;
}

export function cardError(code: string, message: string, declineCode?: string): ApiError {
  return new ApiError(402, { type: 'card_error', code, decline_code: declineCode, message });
}

/** ISO/IEC 7812-1, annex B. */
function passesLuhn(number: string): boolean {
  if (!/^\d{12,19}$/.test(number)) return false;
  const digits = Array.from(number, Number).reverse();
  const sum = digits.reduce((total, digit, position) => {
    const value = digit * (position % 2 === 1 ? 2 : 1);
    return total + (value > 9 ? value - 9 : value);
  }, 0);
  return sum % 10 === 0;
}

/** Makes a payment method of a card; it belongs to no customer yet. */
export function createMethod(
  world: World,
  testCard: TestCard,
  details: { expMonth?: number; expYear?: number; name?: string | null; email?: string | null } = {},
): Stripe.PaymentMethod {
  const id = newId('pm');
  world.store.put('cards', { id, number: testCard.number, setUp: false, spent: false });
  return world.store.put('payment_methods', {
    id,
    object: 'payment_method',
    allow_redisplay: 'unspecified',
    billing_details: {
      address: {
        city: null,
        country: null,
        line1: null,
        line2: null,
        postal_code: null,
        state: null,
      },
      email: details.email ?? null,
      name: details.name ?? null,
      phone: null,
      tax_id: null,
    },
    card: {
      brand: testCard.brand,
      checks: { address_line1_check: null, address_postal_code_check: null, cvc_check: 'pass' },
      country: 'US',
      display_brand: testCard.brand === 'amex' ? 'american_express' : testCard.brand,
      exp_month: details.expMonth ?? 12,
      exp_year: details.expYear ?? new Date(world.now() * 1000).getUTCFullYear() + 5,
      fingerprint: `lab${testCard.number.slice(-12)}`,
      funding: testCard.methods[0] === 'pm_card_visa_debit' ? 'debit' : 'credit',
      generated_from: null,
      last4: testCard.number.slice(-4),
      networks: { available: [testCard.brand], preferred: null },
      regulated_status: 'unregulated',
      three_d_secure_usage: { supported: true },
      wallet: null,
    },
    created: world.now(),
    customer: null,
    customer_account: null,
    livemode: false,
    metadata: {},
    type: 'card',
  });
}
