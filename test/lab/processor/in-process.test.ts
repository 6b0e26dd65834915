import assert from 'node:assert/strict';
import type Stripe from 'stripe';
import { answerAtOnce, type ApiAnswer, type ApiRequest } from '../../../lab/processor/api.js';
import { numberOfCard } from '../../../lab/processor/cards/cards.js';
import { answerBank } from '../../../lab/processor/cards/authentication-page.js';
import { saveByPage } from '../../../lab/processor/cards/setup-page.js';
import { Faults } from '../../../lab/processor/faults.js';
import type { Bank, World } from '../../../lab/processor/http/endpoint.js';
import { Idempotency } from '../../../lab/processor/http/idempotency.js';
import { finishPayment } from '../../../lab/processor/lab-actions.js';
import { getCharge } from '../../../lab/processor/payments/charges.js';
import {
  decideDispute,
  openDispute,
  reinstate,
  reviewDispute,
  withdraw,
} from '../../../lab/processor/payments/disputes.js';
import { failRefund, refundCharge } from '../../../lab/processor/payments/refunds.js';
import { idOf } from '../../../lab/processor/ids.js';
import { Store } from '../../../lab/processor/store.js';
import { configureEndpoint } from '../../../lab/processor/webhooks/webhook-endpoints.js';
import { createWorld } from '../../../lab/processor/world.js';

/** What the answer to a POST may hold. */
interface Posted {
  readonly id: string;
  readonly client_secret: string;
  readonly status?: string;
  readonly error?: { readonly code: string; readonly decline_code: string };
}

/** A processor in this process, without a socket, a timer or a file. */
function start() {
  const store = new Store(null);
  let nowS = Date.parse('2031-03-04T08:00:00Z') / 1_000;
  const now = (): number => nowS;
  const said: { bank: ReturnType<Bank> } = { bank: null };
  const sent: string[] = [];
  const send = (deliveries: readonly { eventId: string }[]): void => {
    for (const { eventId } of deliveries) sent.push(store.find('events', eventId)?.type ?? '');
  };
  const world: World = createWorld({
    ...{ store, now, faults: new Faults(), deliveries: { send }, bank: () => said.bank },
  });
  configureEndpoint(store, nowS, { url: 'https://service.test', secret: 'whsec_test' });
  const deps = {
    ...{ world, idempotency: new Idempotency(store, now), baseUrl: () => 'https://lab.test' },
    ...{ secretKey: 'sk_test', publishableKey: 'pk_test' },
  };
  const ask = (given: Partial<ApiRequest>): ApiAnswer => {
    const headers = {
      authorization: 'Bearer sk_test',
      'content-type': 'application/x-www-form-urlencoded',
      ...given.headers,
    };
    return answerAtOnce(deps, { method: 'GET', path: '/', query: '', body: '', ...given, headers });
  };
  const post = (path: string, fields: Record<string, string> = {}, key?: string): Posted => {
    const headers = key === undefined ? {} : { 'idempotency-key': key };
    const body = new URLSearchParams(fields).toString();
    return JSON.parse(ask({ method: 'POST', path, body, headers }).body) as Posted;
  };
  const customer = post('/v1/customers');
  const saveCard = (number: string, cardExpiry = '12/2040'): string => {
    const setup = post('/v1/setup_intents', { customer: customer.id });
    const form = new URLSearchParams({ cardNumber: number, cardExpiry, cardCvc: '123' });
    saveByPage(world, setup.id, setup.client_secret, form, null);
    return idOf(store.find('setup_intents', setup.id)?.payment_method) ?? '';
  };
  const charge = (card: string): Posted =>
    post('/v1/payment_intents', {
      ...{ amount: '2000', currency: 'usd', customer: customer.id, payment_method: card },
      ...{ off_session: 'true', confirm: 'true' },
    });
  const latestCharge = (): Stripe.Charge => getCharge(world, store.list('charges').at(-1)?.id ?? '');
  const pass = (seconds: number): void => void (nowS += seconds);
  return { store, world, said, sent, ask, post, saveCard, charge, latestCharge, pass };
}

describe('the lab’s processor in process', () => {
  it('answers as over HTTP: keys, refusals and unknown addresses', () => {
    const { ask, post } = start();
    const first = post('/v1/customers', { email: 'one@example.com' }, 'once');
    const again = ask({
      ...{ method: 'POST', path: '/v1/customers', body: 'email=one@example.com' },
      headers: { 'idempotency-key': 'once' },
    });
    assert.equal((JSON.parse(again.body) as Stripe.Customer).id, first.id);
    assert.equal(again.headers['idempotent-replayed'], 'true');
    assert.match(again.headers['request-id'] ?? '', /^req_/);
    const statuses = [
      ask({ path: `/v1/customers/${first.id}` }),
      ask({ path: '/v1/customers', query: 'limit=1' }),
      ask({ path: '/v1/customers/cus_none' }),
      ask({ path: '/v1/nothing' }),
      ask({ path: '/v1/customers', headers: { authorization: 'Bearer sk_other' } }),
      ask({ method: 'POST', path: '/v1/customers', body: '{}', headers: { 'content-type': 'text/json' } }),
    ].map(({ status }) => status);
    assert.deepEqual(statuses, [200, 200, 404, 404, 401, 400]);
  });

  it('hands over what it would send, once the request is done', () => {
    const { sent, post } = start();
    sent.length = 0;
    post('/v1/customers', { email: 'two@example.com' });
    post('/v1/customers', { email: 'no address' });
    assert.deepEqual(sent, ['customer.created']);
  });

  it('lets a bank decline, ask a customer who is away, and take its time', () => {
    const { world, said, saveCard, charge, store } = start();
    const card = saveCard(numberOfCard(1));
    said.bank = { declines: 'insufficient_funds' };
    assert.equal(charge(card).error?.decline_code, 'insufficient_funds');
    said.bank = 'asks';
    const asked = charge(card);
    said.bank = 'ponders';
    const pondered = charge(card);
    assert.deepEqual([asked.status, pondered.status], ['requires_action', 'processing']);
    world.transact(null, () => answerBank(world, asked.id, true));
    world.transact(null, () => finishPayment(world, pondered.id, false));
    const statuses = [asked, pondered].map(({ id }) => store.find('payment_intents', id)?.status);
    assert.deepEqual(statuses, ['succeeded', 'requires_payment_method']);
    said.bank = null;
    assert.equal(charge(card).status, 'succeeded');
  });

  it('gives each of many cards a fingerprint of its own, and declines one whose month is over', () => {
    const { saveCard, charge, pass, store } = start();
    const cards = [saveCard(numberOfCard(1)), saveCard(numberOfCard(2), '3/2031')];
    const prints = cards.map((id) => store.find('payment_methods', id)?.card?.fingerprint);
    assert.equal(new Set(prints).size, 2);
    const statuses = (): (string | undefined)[] =>
      cards.map((card) => {
        const { status, error } = charge(card);
        return status ?? error?.code;
      });
    assert.deepEqual(statuses(), ['succeeded', 'succeeded']);
    pass(28 * 24 * 3_600);
    assert.deepEqual(statuses(), ['succeeded', 'expired_card']);
  });

  it('takes and gives back the money of a dispute later than it opens and is won', () => {
    const { world, saveCard, charge, latestCharge } = start();
    charge(saveCard(numberOfCard(1)));
    const moves = ({ balance_transactions: all }: Stripe.Dispute): number[] =>
      all.map(({ amount }) => amount);
    world.transact(null, () => {
      const opened = openDispute(world, latestCharge(), { withdrawsLater: true });
      assert.deepEqual(moves(opened), []);
      assert.throws(() => refundCharge(world, latestCharge()), /disputed/);
      const reviewed = reviewDispute(world, withdraw(world, opened));
      assert.deepEqual([reviewed.status, moves(reviewed)], ['under_review', [-2000]]);
      const won = decideDispute(world, reviewed, true, true);
      assert.deepEqual([won.status, moves(won)], ['won', [-2000]]);
      assert.deepEqual(moves(reinstate(world, won)), [-2000, 2000]);
      assert.equal(refundCharge(world, latestCharge()).amount, 2000);
    });
  });

  it('cancels a refund that waits, whose money is there again', () => {
    const { world, saveCard, charge, latestCharge, sent } = start();
    charge(saveCard(numberOfCard(1)));
    sent.length = 0;
    world.transact(null, () => {
      const waiting = refundCharge(world, latestCharge(), { amount: 500, outcome: 'pending' });
      assert.deepEqual([waiting.status, latestCharge().amount_refunded], ['pending', 500]);
      const canceled = failRefund(world, waiting, 'canceled');
      assert.deepEqual([canceled.status, latestCharge().amount_refunded], ['canceled', 0]);
    });
    assert.deepEqual(sent, ['refund.created', 'charge.refunded', 'refund.updated']);
  });
});
