import assert from 'node:assert/strict';
import Stripe from 'stripe';
import {
  createWebhookVerifier,
  OddEventError,
  WebhookSignatureError,
} from '../../../adapters/processor/webhook.js';
import { signature } from '../../../lab/processor/webhooks/delivery.js';
import {
  cards,
  payPage,
  startWorkbench,
  webhookSecret,
  type Workbench,
} from '../../lab/processor/workbench.js';

const secret = 'whsec_current';
const verify = createWebhookVerifier({ secrets: [secret] });
const event = {
  id: 'evt_1',
  type: 'checkout.session.completed',
  created: 1_700_000_000,
  livemode: false,
  api_version: '2026-08-26.dahlia',
  data: { object: { id: 'cs_test_1', metadata: { topup_id: 'top_1' } } },
};
const body = Buffer.from(JSON.stringify(event));

/** A header made by the official SDK. */
function signed(payload: Buffer, key: string, ageS = 0): string {
  return Stripe.webhooks.generateTestHeaderString({
    payload: payload.toString('utf8'),
    secret: key,
    timestamp: Math.floor(Date.now() / 1000) - ageS,
  });
}

describe('the webhook verifier', () => {
  it('accepts what is signed with the secret, and gives the event in our words', () => {
    assert.deepEqual(verify(body, signed(body, secret)), {
      id: 'evt_1',
      kind: 'checkout.session.completed',
      createdAt: new Date(1_700_000_000_000),
      livemode: false,
      apiVersion: '2026-08-26.dahlia',
      object: event.data.object,
    });
  });

  it('refuses a forged, a truncated, a changed and an unsigned delivery', () => {
    const header = signed(body, secret);
    const cases: [string, Buffer, string | undefined][] = [
      ['signed with another secret', body, signed(body, 'whsec_other')],
      ['truncated', body.subarray(0, -1), header],
      ['changed', Buffer.from(body.toString().replace('top_1', 'top_2')), header],
      ['written anew with other spaces', Buffer.from(JSON.stringify(event, null, 2)), header],
      ['empty', Buffer.alloc(0), header],
      ['without a header', body, undefined],
      ['with an empty header', body, ''],
      ['with a header that means nothing', body, 'nonsense'],
      ['with a signature of another scheme', body, header.replace('v1=', 'v0=')],
      ['without its instant', body, header.replace(/t=\d+,/, '')],
    ];
    for (const [what, payload, given] of cases) {
      assert.throws(() => verify(payload, given), WebhookSignatureError, what);
    }
  });

  it('refuses a replay after 300 seconds and accepts one before', () => {
    assert.equal(verify(body, signed(body, secret, 290)).id, 'evt_1');
    assert.throws(() => verify(body, signed(body, secret, 302)), WebhookSignatureError);
  });

  it('refuses an instant of more than 300 seconds ahead: it would be good for a replay until then', () => {
    assert.equal(verify(body, signed(body, secret, -290)).id, 'evt_1');
    for (const ageS of [-310, -86_400, -1e12]) {
      assert.throws(() => verify(body, signed(body, secret, ageS)), WebhookSignatureError, `${ageS}`);
    }
  });

  it('accepts either secret while one is rotated, and none but these', () => {
    const rotating = createWebhookVerifier({ secrets: ['whsec_next', secret] });
    assert.equal(rotating(body, signed(body, secret)).id, 'evt_1');
    assert.equal(rotating(body, signed(body, 'whsec_next')).id, 'evt_1');
    assert.throws(() => rotating(body, signed(body, 'whsec_last')), WebhookSignatureError);
  });

  it('accepts a delivery that carries the signatures of both secrets', () => {
    const t = Math.floor(Date.now() / 1000);
    const both = `${signature(body.toString(), 'whsec_next', t)},v1=${signature(body.toString(), secret, t).split('v1=')[1]!}`;
    assert.equal(verify(body, both).id, 'evt_1');
  });

  it('tells a signed delivery that is not an event from a stranger’s', () => {
    for (const text of [
      '[]',
      'null',
      '{}',
      'not json',
      '{"id":"evt_1","type":"a","created":"x","data":{"object":{}}}',
      '{"id":"evt_1","type":"a","created":1e14,"data":{"object":{}}}',
      '{"id":"evt_1","object":"v2.core.event","type":"a"}',
    ]) {
      const payload = Buffer.from(text);
      assert.throws(() => verify(payload, signed(payload, secret)), OddEventError, text);
      assert.throws(() => verify(payload, signed(payload, 'whsec_other')), WebhookSignatureError, text);
    }
  });

  it('can’t be made without a secret, nor with a blank one', () => {
    for (const secrets of [[], [''], ['  '], [secret, ''], [`${secret}\n`]]) {
      assert.throws(() => createWebhookVerifier({ secrets }), /STRIPE_WEBHOOK_SECRETS/);
    }
  });
});

describe('a payment on the hosted page', () => {
  let bench: Workbench;
  before(async () => {
    bench = await startWorkbench();
  });
  after(() => bench.stop());

  it('arrives as signed events that the verifier accepts and that name our top-up', async () => {
    const { customerId } = await bench.processor.createCustomer({ userId: 'usr_1', email: 'a@example.com' });
    const session = await bench.processor.createCheckoutSession({
      topupId: 'top_1',
      userId: 'usr_1',
      customerId,
      amountCents: 1000,
      successUrl: 'http://dashboard.test/?session=success',
      cancelUrl: 'http://dashboard.test/?session=cancel',
    });
    const answer = await payPage(session.url!, cards.good);
    assert.equal(answer.status, 303);
    assert.equal(answer.headers.get('location'), 'http://dashboard.test/?session=success');

    const accept = createWebhookVerifier({ secrets: ['whsec_rotated_in', webhookSecret] });
    const wanted = ['charge.succeeded', 'payment_intent.succeeded', 'checkout.session.completed'];
    for (const type of wanted) {
      const [delivery] = await bench.receiver.waitFor((received) => received.type === type);
      const accepted = accept(delivery!.body, String(delivery!.headers['stripe-signature']));
      assert.equal(accepted.kind, type);
      assert.equal(accepted.livemode, false);
      assert.equal(accepted.apiVersion, '2026-08-26.dahlia');
      assert.deepEqual(accepted.object['metadata'], { user_id: 'usr_1', topup_id: 'top_1' });
    }
  });
});
