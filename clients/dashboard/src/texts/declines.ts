import { texts } from './texts.js';

/** What a bank's word means for whoever wants to pay, and what helps. */
interface Decline {
  readonly text: string;
  /** `again`: the same card may work later; `card`: another card; `page`: the payment page, with the bank's approval. */
  readonly helps: 'again' | 'card' | 'page';
  /** Whether the text sends people to support. */
  readonly asksSupport?: true;
}

const t = texts({
  bank: 'The bank declined the payment and gave no reason. Ask your bank, or use another card.',
  noFunds: 'The card has insufficient funds. Use another card, or a smaller amount.',
  limit:
    'The card has reached its limit. Ask your bank to raise it, try a smaller amount, or use another card.',
  expired: 'The card has expired. Use another card.',
  wrongNumber: 'The card number is wrong. Save the card again.',
  wrongCode: 'The card’s security code is wrong. Save the card again.',
  wrongExpiry: 'The card’s expiry date is wrong. Save the card again.',
  wrongPostcode: 'The postal code does not match the card. Save the card again.',
  wrongPin: 'The card’s PIN was refused. Use another card.',
  unsupported: 'The card can’t be used for this kind of purchase. Ask your bank, or use another card.',
  currency: 'The card can’t pay in US dollars. Use another card.',
  amount: 'The bank does not accept this amount. Try a smaller one, or use another card.',
  approve: 'Your bank wants you to approve the payment. Pay on the payment page.',
  busy: 'We can’t reach the bank right now. Try again in a few minutes.',
  twice: 'You made the same payment a moment ago. Check the list below before you pay again.',
  account: 'The card’s account is no longer valid. Use another card.',
  blocked: 'The bank does not allow the payment. Ask your bank, or use another card.',
  gone: 'The card was removed. Save a card, and try again.',
  cancelled: 'The payment was cancelled, and you were not charged. Try again.',
  refused:
    'The payment processor refused the charge, and you were not charged. Use another card, or contact support.',
  test: 'This is a test card, and this installation takes real ones. Use another card.',
});

const again = (text: string): Decline => ({ text, helps: 'again' });
const card = (text: string): Decline => ({ text, helps: 'card' });

/**
 * All that a bank or the processor may say (https://docs.stripe.com/declines/codes), and the service's own words. A card
 * that was reported lost or stolen, or that looks like fraud, is told as any other: whoever holds it may be a thief.
 */
const declines: Readonly<Record<string, Decline>> = {
  approve_with_id: again(t.bank),
  authentication_not_handled: { text: t.approve, helps: 'page' },
  authentication_required: { text: t.approve, helps: 'page' },
  call_issuer: card(t.bank),
  card_declined: card(t.bank),
  card_not_supported: card(t.unsupported),
  card_velocity_exceeded: card(t.limit),
  currency_not_supported: card(t.currency),
  do_not_honor: card(t.bank),
  do_not_try_again: card(t.bank),
  duplicate_transaction: again(t.twice),
  expired_card: card(t.expired),
  fraudulent: card(t.bank),
  generic_decline: card(t.bank),
  incorrect_address: card(t.wrongPostcode),
  incorrect_cvc: card(t.wrongCode),
  incorrect_number: card(t.wrongNumber),
  incorrect_pin: card(t.wrongPin),
  incorrect_zip: card(t.wrongPostcode),
  insufficient_funds: card(t.noFunds),
  invalid_account: card(t.account),
  invalid_amount: card(t.amount),
  invalid_cvc: card(t.wrongCode),
  invalid_expiry_month: card(t.wrongExpiry),
  invalid_expiry_year: card(t.wrongExpiry),
  invalid_number: card(t.wrongNumber),
  invalid_pin: card(t.wrongPin),
  issuer_not_available: again(t.busy),
  lost_card: card(t.bank),
  merchant_blacklist: card(t.bank),
  mobile_device_authentication_required: { text: t.approve, helps: 'page' },
  new_account_information_available: card(t.account),
  no_action_taken: card(t.bank),
  not_permitted: card(t.blocked),
  offline_pin_required: card(t.wrongPin),
  online_or_offline_pin_required: card(t.wrongPin),
  pickup_card: card(t.bank),
  pin_try_exceeded: card(t.wrongPin),
  processing_error: again(t.busy),
  reenter_transaction: again(t.busy),
  restricted_card: card(t.bank),
  revocation_of_all_authorizations: card(t.blocked),
  revocation_of_authorization: card(t.blocked),
  security_violation: card(t.bank),
  service_not_allowed: card(t.blocked),
  stolen_card: card(t.bank),
  stop_payment_order: card(t.blocked),
  testmode_decline: card(t.test),
  transaction_not_allowed: card(t.blocked),
  try_again_later: again(t.busy),
  withdrawal_count_limit_exceeded: card(t.limit),
  // The service's own words for a charge that it did not get.
  canceled: again(t.cancelled),
  card_removed: card(t.gone),
  refused: { ...card(t.refused), asksSupport: true },
};

/** Explains a decline; a word that is not known here is told as a bank's that gave no reason. */
export function declineOf(code: string | undefined): Decline {
  return (code === undefined ? undefined : knownDecline(code)) ?? card(t.bank);
}

/** The text of exactly this word; undefined where there is none. */
export function knownDecline(code: string): Decline | undefined {
  return Object.hasOwn(declines, code) ? declines[code] : undefined;
}
