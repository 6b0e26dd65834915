import type Stripe from 'stripe';
import { checkCard, createMethod } from './cards.js';
import type { World } from '../http/endpoint.js';
import { escapeHtml } from '../http/html.js';

/** The form fields of a card. */
export const cardFields = `<label for="n">Card number</label><input id="n" name="cardNumber" inputmode="numeric" autocomplete="cc-number" placeholder="4242 4242 4242 4242" required>
<label for="e">Expiry (MM/YY)</label><input id="e" name="cardExpiry" autocomplete="cc-exp" placeholder="12/34" required>
<label for="c">Security code</label><input id="c" name="cardCvc" inputmode="numeric" autocomplete="cc-csc" placeholder="123" required>
<label for="b">Name on the card</label><input id="b" name="billingName" autocomplete="cc-name">`;

/** The error message above a form; empty for null. */
export function alertOf(message: string | null): string {
  return message === null ? '' : `<p class="error" role="alert">${escapeHtml(message)}</p>`;
}

/**
 * Makes a payment method from a payer's form.
 * @throws ApiError 402 with the code of the wrong field
 */
export function methodOfForm(
  world: World,
  form: URLSearchParams,
  email: string | null,
): Stripe.PaymentMethod {
  const [month = '', year = ''] = (form.get('cardExpiry') ?? '').split('/');
  const shortYear = Number(year);
  const card = {
    number: (form.get('cardNumber') ?? '').replace(/[\s-]/g, ''),
    expMonth: Number(month),
    expYear: shortYear < 100 ? 2000 + shortYear : shortYear,
    cvc: (form.get('cardCvc') ?? '').trim(),
  };
  return createMethod(world, checkCard(card, world.now()), {
    expMonth: card.expMonth,
    expYear: card.expYear,
    name: form.get('billingName'),
    email,
  });
}
