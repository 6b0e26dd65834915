import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import Stripe from 'stripe';
import { newId } from '../../../adapters/ids.js';
import { acknowledgeLook } from '../../../adapters/postgres/upkeep/look-signals.js';
import type { TopupId } from '../../../domain/ids.js';
import type { Answer } from '../../support/http/answers.js';
import { startApi, type TestApi, webhookSecret } from '../../support/http/api.js';
import { runOps } from '../../support/ops/ops.js';
import { getTemporal } from '../../support/servers/servers.js';
import { until } from '../../support/until.js';

const PATH = '/v1/billing/processor/webhook';

describe('POST /v1/billing/processor/webhook', () => {
  let api: TestApi;
  const signalled: string[] = [];

  before(async () => {
    api = await startApi({ temporalAddress: (await getTemporal()).address });
  });
  after(async () => {
    const { workflow } = api.deps.temporal.client;
    // A workflow that a failed test never started can't be ended.
    await Promise.allSettled(signalled.map((id) => workflow.getHandle(id).terminate('the test is over')));
    await api.stop();
  });

  let count = 0;
  function eventOf(kind: string, object: Record<string, unknown>, id = `evt_${(count += 1)}`): string {
    return JSON.stringify({
      id,
      object: 'event',
      type: kind,
      created: Math.floor(Date.now() / 1000),
      livemode: false,
      api_version: '2026-08-26.dahlia',
      data: { object },
    });
  }

  function deliver(payload: string, secret = webhookSecret, to: TestApi = api): Promise<Answer> {
    const signature = Stripe.webhooks.generateTestHeaderString({ payload, secret });
    return to.stranger().send('POST', PATH, payload, {
      'Content-Type': 'application/json; charset=utf-8',
      'Stripe-Signature': signature,
    });
  }

  function paidSession(topupId: string, eventId?: string): string {
    return eventOf(
      'checkout.session.completed',
      { object: 'checkout.session', id: 'cs_1', metadata: { topup_id: topupId } },
      eventId,
    );
  }

  /** The number of signals that a top-up's workflow received. */
  async function signalsOf(topupId: TopupId): Promise<number> {
    try {
      const history = await api.deps.temporal.client.workflow.getHandle(topupId).fetchHistory();
      return (history.events ?? []).filter((event) => event.workflowExecutionSignaledEventAttributes).length;
    } catch {
      return 0;
    }
  }

  async function untilSignalled(topupId: TopupId, times: number): Promise<void> {
    await until('it is signalled', async () => (await signalsOf(topupId)) >= times);
    assert.equal(await signalsOf(topupId), times);
  }

  it('stores an event once, answers 200, and tells the top-up’s workflow', async () => {
    const topupId = newId('top');
    signalled.push(topupId);
    const answer = await deliver(paidSession(topupId));
    assert.deepEqual([answer.status, answer.body], [200, { received: true }]);
    const [event, ...more] = await api.db('processor_events').where({ workflow_id: topupId });
    assert.deepEqual(
      [more.length, event!.kind, event!.handled_at, event!.livemode],
      [0, 'checkout.session.completed', null, false],
    );
    assert.equal(event!.api_version, '2026-08-26.dahlia');
    assert.deepEqual(event!.object['metadata'], { topup_id: topupId });
    await untilSignalled(topupId, 1);
  });

  it('tells the workflow again of an event that was delivered twice, once it has looked and left it unhandled', async () => {
    const topupId = newId('top');
    signalled.push(topupId);
    const payload = paidSession(topupId);
    await deliver(payload);
    await untilSignalled(topupId, 1);
    // The workflow has a signal that it has not handled yet: one is enough (decision 69, "Items that fail").
    assert.equal((await deliver(payload)).status, 200);
    await untilSignalled(topupId, 1);
    await acknowledgeLook(api.db, topupId, new Date(Date.now() + 60_000));
    assert.equal((await deliver(payload)).status, 200);
    await untilSignalled(topupId, 2);
    assert.equal((await api.db('processor_events').where({ workflow_id: topupId })).length, 1);
  });

  it('signals no workflow about an event that was already handled', async () => {
    const topupId = newId('top');
    signalled.push(topupId);
    const payload = paidSession(topupId);
    await deliver(payload);
    await untilSignalled(topupId, 1);
    await api.db('processor_events').where({ workflow_id: topupId }).update({ handled_at: new Date() });
    assert.equal((await deliver(payload)).status, 200);
    await sleep(200);
    assert.equal(await signalsOf(topupId), 1);
  });

  it('takes the top-up of a payment as well', async () => {
    const topupId = newId('top');
    signalled.push(topupId);
    const payload = eventOf('payment_intent.succeeded', {
      object: 'payment_intent',
      id: 'pi_1',
      metadata: { topup_id: topupId },
    });
    assert.equal((await deliver(payload)).status, 200);
    await untilSignalled(topupId, 1);
  });

  it('keeps an event that nothing acts on as handled', async () => {
    const strange: Record<string, unknown>[] = [
      { object: 'customer', metadata: { topup_id: newId('top') } },
      { object: 'checkout.session', metadata: { topup_id: 'top_1' } },
      { object: 'checkout.session', metadata: { topup_id: 7 } },
      { object: 'checkout.session', metadata: null },
      { object: 'payment_intent' },
    ];
    for (const object of strange) {
      const id = `evt_strange_${(count += 1)}`;
      assert.equal((await deliver(eventOf('anything.happened', object, id))).status, 200);
      const event = (await api.db('processor_events').where({ id }).first())!;
      assert.ok(event.handled_at);
      assert.deepEqual([event.workflow_id, event.note], [null, 'nothing acts on it']);
    }
  });

  it('keeps events that come twice at the same moment once', async () => {
    const id = `evt_twins_${(count += 1)}`;
    const payload = eventOf('customer.created', { object: 'customer' }, id);
    const answers = await Promise.all(Array.from({ length: 5 }, () => deliver(payload)));
    assert.deepEqual(new Set(answers.map((answer) => answer.status)), new Set([200]));
    assert.equal((await api.db('processor_events').where({ id })).length, 1);
  });

  it('keeps an event whose texts hold what the database can’t', async () => {
    const id = `evt_nul_${(count += 1)}`;
    const object = { object: 'invoice', metadata: { name: 'a\u0000b' } };
    assert.equal((await deliver(eventOf('invoice.created', object, id))).status, 200);
    const event = (await api.db('processor_events').where({ id }).first())!;
    assert.deepEqual(event.object, { object: 'invoice', metadata: { name: 'ab' } });
  });

  it('keeps of a card’s event only which card it is', async () => {
    const id = `evt_card_${(count += 1)}`;
    const card = { id: 'pm_1', object: 'payment_method', customer: null, card: { fingerprint: 'f' } };
    const object = { ...card, billing_details: { name: 'Ann Zebra' } };
    assert.equal((await deliver(eventOf('payment_method.detached', object, id))).status, 200);
    const event = (await api.db('processor_events').where({ id }).first())!;
    assert.deepEqual(event.object, { id: 'pm_1', object: 'payment_method' });
    assert.equal(event.workflow_id, 'pm_1');
  });

  it('keeps of an event that nothing acts on its ids, and why a card was declined', async () => {
    const ids = { id: 'pi_9', object: 'payment_intent', metadata: { invoice_id: 'inv_1' } };
    const error = { code: 'card_declined', decline_code: 'stolen_card' };
    const payer = { billing_details: { name: 'Ann Zebra', email: 'ann@x.org' } };
    const object = { ...ids, ...payer, last_payment_error: { ...error, payment_method: payer } };
    const id = `evt_declined_${(count += 1)}`;
    assert.equal((await deliver(eventOf('payment_intent.payment_failed', object, id))).status, 200);
    const event = (await api.db('processor_events').where({ id }).first())!;
    assert.deepEqual(event.object, { ...ids, last_payment_error: error });
  });

  it('refuses a forged event and keeps nothing of it', async () => {
    const payload = paidSession(newId('top'), 'evt_forged');
    const old = Stripe.webhooks.generateTestHeaderString({
      payload,
      secret: webhookSecret,
      timestamp: Math.floor(Date.now() / 1000) - 301,
    });
    const genuine = Stripe.webhooks.generateTestHeaderString({ payload, secret: webhookSecret });
    const forged: [string, Record<string, string>][] = [
      [payload, {}],
      [payload, { 'Stripe-Signature': '' }],
      [payload, { 'Stripe-Signature': 't=1,v1=00' }],
      [payload, { 'Stripe-Signature': old }],
      [payload.replace('evt_forged', 'evt_other'), { 'Stripe-Signature': genuine }],
      [payload.slice(0, -20), { 'Stripe-Signature': genuine }],
      [payload, { 'Stripe-Signature': genuine.slice(0, -20) }],
      ['', { 'Stripe-Signature': genuine }],
    ];
    for (const [body, headers] of forged) {
      const answer = await api.stranger().send('POST', PATH, body, headers);
      assert.deepEqual([answer.status, answer.body.error], [400, 'validation_failed']);
    }
    const other = await deliver(payload, 'whsec_of_somebody_else');
    assert.deepEqual([other.status, other.body.error], [400, 'validation_failed']);
    assert.deepEqual(await api.db('processor_events').whereIn('id', ['evt_forged', 'evt_other']), []);
  });

  it('puts a signed but unreadable event aside for operators, once, and answers 200', async () => {
    const odd: [string, RegExp][] = [
      ['not json', /no JSON/],
      ['[]', /no id, type, time or object/],
      ['{"id":"evt_no_object","object":"event","type":"x","created":1,"data":{}}', /no id, type/],
      [eventOf('x', { object: 'customer' }, 'evt_late').replace(/"created":\d+/, '"created":1e14'), /no id/],
      [eventOf('nul\u0000', { object: 'customer' }), /the database can’t/],
      [eventOf('x', { object: 'customer', 'nul\u0000': 1 }), /the database can’t/],
    ];
    for (const [payload, reason] of odd) {
      for (let times = 1; times <= 2; times += 1) {
        const answer = await deliver(payload);
        assert.deepEqual([answer.status, answer.body], [200, { received: true }], payload);
      }
      const hash = createHash('sha256').update(payload).digest();
      const [row, ...more] = await api.db('odd_events').where({ body_hash: hash });
      assert.deepEqual([more.length, row!.deliveries], [0, 2]);
      assert.match(row!.reason, reason);
      assert.equal(row!.body, payload.replaceAll('\0', ''));
    }
    assert.equal((await api.db('odd_events')).length, odd.length);
    const told = api.logged.filter(({ msg }) => msg === 'a signed event could not be read: put aside');
    assert.equal(told.length, odd.length, 'each is told once');
    assert.equal((await deliver('not json either', 'whsec_of_somebody_else')).status, 400);
    assert.equal((await api.db('odd_events')).length, odd.length, 'a stranger’s is not kept');
    const listed = await runOps({ databaseUrl: api.databaseUrl }, 'webhooks', 'odd');
    assert.match(listed.out, /^\d+ {2}2 deliveries since \S+ {2}it is no JSON {2}not json$/m);
  });

  it('keeps events while Temporal is away, for the sweeper', async () => {
    const alone = await startApi();
    try {
      const topupId = newId('top');
      assert.equal((await deliver(paidSession(topupId), webhookSecret, alone)).status, 200);
      const [event] = await alone.db('processor_events').where({ workflow_id: topupId });
      assert.equal(event!.handled_at, null);
    } finally {
      await alone.stop();
    }
  });

  it('is a 503 when the event can’t be kept, so that it is delivered again', async () => {
    const broken = await startApi();
    try {
      await broken.db.raw('alter table processor_events rename to gone');
      const answer = await deliver(paidSession(newId('top')), webhookSecret, broken);
      assert.deepEqual([answer.status, answer.body.error], [503, 'temporarily_unavailable']);
      assert.ok(!JSON.stringify(answer.body).includes('processor_events'), 'nothing inside is shown');
    } finally {
      await broken.stop();
    }
  });
});
