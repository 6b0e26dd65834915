import type Stripe from 'stripe';

/**
 * The address of the caller's page to which a payer is sent back, with the parameters that the processor adds to a
 * return_url.
 * @returns undefined without a usable return_url
 */
export function returnAddress(
  intent: Stripe.PaymentIntent | Stripe.SetupIntent,
  returnUrl: string | null,
  succeeded: boolean,
): string | undefined {
  if (returnUrl === null || !URL.canParse(returnUrl)) return undefined;
  const url = new URL(returnUrl);
  url.searchParams.set(intent.object, intent.id);
  url.searchParams.set(`${intent.object}_client_secret`, intent.client_secret ?? '');
  url.searchParams.set('redirect_status', succeeded ? 'succeeded' : 'failed');
  return url.toString();
}
