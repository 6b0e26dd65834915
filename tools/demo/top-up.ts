import { formatUsd } from '../../domain/money.js';
import { request } from './request.js';
import { tell, waitFor, type Stage } from './stage.js';
import { claim } from './story-error.js';

/** The answer of GET /v1/billing/balance; amounts in cents. */
export interface Balance {
  readonly availableCents: number;
  readonly reservedCents: number;
  readonly totalCents: number;
}

/** The processor's test card that is always accepted, as the form of its payment page takes it. */
const card = { cardNumber: '4242424242424242', cardExpiry: '12/34', cardCvc: '123' };

/** Puts money into the wallet through the hosted payment page, whose form it posts as a browser would. */
export async function topUp(stage: Stage, amountCents: number): Promise<void> {
  const { checkoutUrl } = (await stage.api.post('/v1/billing/checkout', { amountCents })) as {
    checkoutUrl: string;
  };
  tell(stage, `the payment page is ${checkoutUrl}`);
  const paid = await request(checkoutUrl, {
    method: 'POST',
    body: new URLSearchParams(card),
    redirect: 'manual',
  });
  await paid.body?.cancel();
  const returnUrl = paid.headers.get('location') ?? '';
  claim(
    paid.status === 303 && returnUrl.includes('session=success'),
    `the payment page answered ${paid.status} and sends the browser to "${returnUrl}". Open it in a browser to see why.`,
  );
  const balance = await waitFor(
    stage,
    {
      what: `credit of ${formatUsd(amountCents)}`,
      limitMs: 30_000,
      everyMs: 200,
      advice:
        'The processor tells the API by webhook, and a "topup" workflow credits: see the log of the payment ' +
        'processor and that workflow in the Temporal UI.',
    },
    async () => {
      const now = await readBalance(stage);
      return now.totalCents >= amountCents ? now : undefined;
    },
  );
  tell(stage, `paid by card; ${formatUsd(balance.availableCents)} available`);
}

/** Charges the saved card: no page, no browser, and the answer tells the outcome. */
export async function topUpBySavedCard(stage: Stage, amountCents: number): Promise<void> {
  const before = await readBalance(stage);
  const { checkoutUrl, status, processorChargeId } = (await stage.api.post('/v1/billing/checkout', {
    amountCents,
  })) as { checkoutUrl: string | null; status: string; processorChargeId: string | null };
  claim(
    checkoutUrl === null && status === 'succeeded' && processorChargeId !== null,
    `the charge of the saved card was answered "${status}", not "succeeded". See the newest "topup" workflow in the Temporal UI.`,
  );
  const { totalCents, availableCents } = await readBalance(stage);
  claim(
    totalCents === before.totalCents + amountCents,
    `the wallet holds ${totalCents} cents after ${amountCents} were charged and ${before.totalCents} were in it.`,
  );
  tell(stage, `succeeded, charge ${processorChargeId}; ${formatUsd(availableCents)} available`);
}

export async function readBalance(stage: Stage): Promise<Balance> {
  return (await stage.api.get('/v1/billing/balance')) as Balance;
}
