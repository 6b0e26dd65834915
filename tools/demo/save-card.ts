import { request } from './request.js';
import { tell, waitFor, type Stage } from './stage.js';
import { claim } from './story-error.js';

/** The answer of GET /v1/billing/card; all fields are null without a card. */
interface SavedCard {
  readonly brand: string | null;
  readonly last4: string | null;
  readonly pmId: string | null;
}

/** The processor's test card, as its form in the browser would have made it from the number 4242 4242 4242 4242. */
const paymentMethod = 'pm_card_visa';

/**
 * Saves a card for later charges. The number never passes through the service: the browser gives it to the processor
 * itself, with the publishable key and the secret of this one setup.
 */
export async function saveCard(stage: Stage): Promise<void> {
  const { clientSecret, publishableKey } = (await stage.api.post('/v1/billing/setup-intent', {})) as {
    clientSecret: string;
    publishableKey: string;
  };
  const setupId = clientSecret.split('_secret_')[0] ?? '';
  const confirmed = await request(`${stage.urls.processor}/v1/setup_intents/${setupId}/confirm`, {
    method: 'POST',
    headers: { authorization: `Bearer ${publishableKey}` },
    body: new URLSearchParams({ client_secret: clientSecret, payment_method: paymentMethod }),
  });
  const setup = (await confirmed.json()) as { status?: string; error?: { message: string } };
  claim(
    setup.status === 'succeeded',
    `the payment processor did not confirm the card: ${setup.error?.message ?? String(setup.status)}.`,
  );
  const card = await waitFor(
    stage,
    {
      what: 'saved card',
      limitMs: 30_000,
      everyMs: 200,
      advice:
        'The processor tells the API by webhook, and a "card" workflow saves it: see the log of the payment ' +
        'processor and that workflow in the Temporal UI.',
    },
    async () => {
      const found = (await stage.api.get('/v1/billing/card')) as SavedCard;
      return found.pmId === null ? undefined : found;
    },
  );
  tell(
    stage,
    `${String(card.brand)} ending in ${String(card.last4)} is saved; the service never saw its number`,
  );
}
