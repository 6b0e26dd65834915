import assert from 'node:assert/strict';
import Stripe from 'stripe';
import { verifyLedgerAgain } from '../money/kept-plan.js';
import type {
  LedgerEntryRow,
  MailOutboxRow,
  TopupRow,
  WalletRow,
} from '../../../adapters/postgres/rows/tables.js';
import type { TopupId } from '../../../domain/ids.js';
import type { Answer } from '../http/answers.js';
import type { SignedIn } from '../http/api.js';
import { publishableKey, type TestService } from '../service/living-service.js';
import { getWallet } from '../money/money.js';
import { until } from '../until.js';

export const testCards = {
  good: '4242424242424242',
  declined: '4000000000000002',
  insufficientFunds: '4000000000009995',
};

/** Actions and reads of the payment tests, on one service. */
export class Paying {
  constructor(private readonly service: TestService) {}

  checkout(user: SignedIn, amountCents: number, headers: Record<string, string> = {}): Promise<Answer> {
    return user.post('/v1/billing/checkout', { amountCents }, headers);
  }

  /** Opens a payment page. @throws AssertionError when the answer is no 200 with a page */
  async page(
    user: SignedIn,
    amountCents: number,
  ): Promise<{ topupId: TopupId; url: string; sessionId: string }> {
    const { status, body } = await this.checkout(user, amountCents);
    assert.equal(status, 200, JSON.stringify(body));
    return { topupId: body.topupId as TopupId, url: body.checkoutUrl, sessionId: body.sessionId };
  }

  /** Pays a page as a browser does. @returns the page's answer: 303 back to the shop when it is paid */
  async pay(url: string, cardNumber = testCards.good, fields: Record<string, string> = {}): Promise<number> {
    const form = new URLSearchParams({ cardNumber, cardExpiry: '12/40', cardCvc: '123', ...fields });
    const response = await fetch(url, { method: 'POST', body: form, redirect: 'manual' });
    await response.arrayBuffer();
    return response.status;
  }

  /** Begins the saving of a card, and confirms it as the processor's own form does in the browser. */
  async confirmCard(user: SignedIn, method = 'pm_card_visa'): Promise<string> {
    const { body, status } = await user.post('/v1/billing/setup-intent');
    assert.equal(status, 200, JSON.stringify(body));
    const { clientSecret } = body as unknown as { clientSecret: string };
    const browser = new Stripe(publishableKey, {
      ...{ host: '127.0.0.1', port: this.service.processor.port, protocol: 'http', telemetry: false },
      maxNetworkRetries: 0,
    });
    const setup = await browser.setupIntents.confirm(clientSecret.split('_secret_')[0]!, {
      client_secret: clientSecret,
      payment_method: method,
    } as Stripe.SetupIntentConfirmParams);
    assert.equal(setup.status, 'succeeded');
    return setup.payment_method as string;
  }

  /** Begins and confirms the saving of a card, and waits until the service has saved it. */
  async saveCard(user: SignedIn, method = 'pm_card_visa'): Promise<string> {
    const pmId = await this.confirmCard(user, method);
    await until('the card is saved', async () => (await this.card(user)) === pmId);
    return pmId;
  }

  /** The id of the saved card; null when there is none. */
  async card(user: SignedIn): Promise<string | null> {
    return ((await user.get('/v1/billing/card')).body as unknown as { pmId: string | null }).pmId;
  }

  /** Gives the lab's processor an order: a fault, or an act of a bank. */
  async order(path: string, fields: Record<string, unknown> = {}): Promise<Record<string, unknown>> {
    const response = await fetch(`${this.service.processor.url}/lab/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(fields),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(text);
    return JSON.parse(text) as Record<string, unknown>;
  }

  /** The ordered faults that still have to happen at least once. */
  async faults(): Promise<{ readonly kind: string }[]> {
    return (await (await fetch(`${this.service.processor.url}/lab/faults`)).json()) as { kind: string }[];
  }

  async clearFaults(): Promise<void> {
    await fetch(`${this.service.processor.url}/lab/faults`, { method: 'DELETE' });
  }

  async state(): Promise<ProcessorState> {
    return (await (await fetch(`${this.service.processor.url}/lab/state`)).json()) as ProcessorState;
  }

  wallet(user: SignedIn): Promise<WalletRow> {
    return getWallet(this.service.db, user.user.id);
  }

  async entries(user: SignedIn): Promise<[type: string, cents: number][]> {
    const wallet = await this.wallet(user);
    const rows: LedgerEntryRow[] = await this.service
      .db('ledger_entries')
      .where({ wallet_id: wallet.id })
      .orderBy('seq');
    return rows.map(({ type, amount_cents: cents }) => [type, cents]);
  }

  async topup(id: string): Promise<TopupRow> {
    return (await this.service
      .db('topups')
      .where({ id: id as TopupId })
      .first())!;
  }

  async awaitTopup(id: string, status: TopupRow['status']): Promise<TopupRow> {
    return until(`top-up ${id} is ${status}`, async () => {
      const topup = await this.topup(id);
      return topup.status === status && topup;
    });
  }

  async awaitAvailable(user: SignedIn, cents: number): Promise<void> {
    await until(
      `${cents} cents are available`,
      async () => (await this.wallet(user)).available_cents === cents,
    );
  }

  /** The subjects of a user's mails, without the notices: those are gathered, and come in their own time. */
  async mails(user: SignedIn): Promise<string[]> {
    const rows: MailOutboxRow[] = await this.service
      .db('mail_outbox')
      .where({ recipient: user.user.email })
      .andWhereNot('cause', 'like', 'notice:%')
      .orderBy('id');
    return rows.map(({ subject }) => subject);
  }

  /**
   * Removes the marks. A test card has one fingerprint for all who save it, so one dispute would keep all tests from
   * charging it.
   */
  async liftMarks(): Promise<void> {
    await this.service
      .db('charge_marks')
      .whereNull('lifted_at')
      .update({ lifted_at: this.service.db.raw('clock_ms()') });
  }

  /** Waits until every event that the processor has begun to send has come, and is handled. */
  async awaitHandled(): Promise<void> {
    await until('every event has come', async () => {
      const { deliveries } = await this.state();
      return deliveries.every(({ state }) => state !== 'pending');
    });
    await until('every event is handled', async () => {
      const waiting = await this.service.db('processor_events').whereNull('handled_at').first('id');
      return waiting === undefined;
    });
  }

  /**
   * Checks that each wallet equals its ledger, and that what users paid was credited to them, payment by payment.
   */
  async assertAddsUp(): Promise<void> {
    const faults = await verifyLedgerAgain(this.service.db);
    assert.deepEqual(faults, []);
    const { payment_intents: intents } = await this.state();
    const paid = intents.filter(({ status }) => status === 'succeeded').map(({ id }) => `payment:${id}`);
    const rows = await this.service
      .db('ledger_causes')
      .where('cause', 'like', 'payment:pi_%')
      .select('cause');
    assert.deepEqual(rows.map(({ cause }) => cause).sort(), paid.sort());
  }
}

export interface ProcessorState {
  readonly checkout_sessions: Stripe.Checkout.Session[];
  readonly payment_intents: Stripe.PaymentIntent[];
  readonly payment_methods: Stripe.PaymentMethod[];
  readonly charges: Stripe.Charge[];
  readonly refunds: Stripe.Refund[];
  readonly disputes: Stripe.Dispute[];
  readonly customers: Stripe.Customer[];
  readonly deliveries: { state: 'pending' | 'delivered' | 'failed' }[];
  readonly requests: { method: string; path: string; idempotencyKey: string | null; status: number }[];
}
