import assert from 'node:assert/strict';
import { WithStartWorkflowOperation } from '@temporalio/client';
import Stripe from 'stripe';
import { newId } from '../../../adapters/ids.js';
import { insertTopupRequest } from '../../../adapters/postgres/requests/opening-requests.js';
import type { TopupRow } from '../../../adapters/postgres/rows/tables.js';
import { verifyLedger } from '../../../adapters/postgres/wallets/verify.js';
import { webhookPath } from '../../../api/webhook/path.js';
import type { TopupId } from '../../../domain/ids.js';
import { taskQueues } from '../../../domain/task-queues.js';
import {
  openTopupUpdate,
  topupWorkflow,
  type TopupInput,
  type TopupOutcome,
} from '../../../workflows/contracts/topup.js';
import { cards, payPage, type LabState } from '../../lab/processor/workbench.js';
import { webhookSecret, type SignedIn } from '../../support/http/api.js';
import { startService, type TestService } from '../../support/service/living-service.js';
import { getWallet } from '../../support/money/money.js';
import { until } from '../../support/until.js';

describe('a top-up through the payment page', () => {
  let service: TestService;
  let user: SignedIn;

  before(async () => {
    service = await startService();
  });
  beforeEach(async () => {
    user = await service.signIn();
  });
  afterEach(async () => {
    await fetch(`${service.processor.url}/lab/faults`, { method: 'DELETE' });
    assert.deepEqual(await verifyLedger(service.db), []);
  });
  after(() => service.stop());

  async function order(fault: object): Promise<void> {
    const body = JSON.stringify(fault);
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`${service.processor.url}/lab/faults`, { method: 'POST', headers, body });
    assert.equal(response.status, 200, await response.text());
  }

  async function labState(): Promise<LabState> {
    return (await (await fetch(`${service.processor.url}/lab/state`)).json()) as LabState;
  }

  /** Opens a top-up through HTTP. @returns its row */
  async function open(amountCents = 2_500): Promise<TopupRow> {
    const answer = await user.post('/v1/billing/checkout', { amountCents });
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    assert.equal(answer.body.status, 'requires_payment');
    return rowOf(answer.body.topupId as TopupId);
  }

  /** Opens a top-up as the API does, but with these waits before it asks the processor by itself. */
  async function openAsking(askAfterMs: readonly number[]): Promise<TopupRow> {
    const topupId = newId('top');
    const answerBefore = new Date(Date.now() + 20_000);
    const request = { userId: user.user.id, amountCents: 2_500 };
    await insertTopupRequest(service.db, topupId, request, answerBefore);
    const open = { answerBefore: answerBefore.toISOString() };
    const input: TopupInput = { topupId, open, askAfterMs };
    await service.temporal.workflow.executeUpdateWithStart(openTopupUpdate, {
      updateId: 'open',
      startWorkflowOperation: new WithStartWorkflowOperation<(input: TopupInput) => Promise<TopupOutcome>>(
        topupWorkflow.type,
        {
          workflowId: topupId,
          taskQueue: taskQueues.rentals,
          args: [input],
          workflowIdConflictPolicy: 'USE_EXISTING',
        },
      ),
    });
    return rowOf(topupId);
  }

  async function rowOf(id: TopupId): Promise<TopupRow> {
    const row = await service.db('topups').where({ id }).first();
    assert.ok(row, `no top-up ${id}`);
    return row;
  }

  async function pay(topup: TopupRow, card = cards.good): Promise<number> {
    return (await payPage(topup.checkout_url ?? '', card)).status;
  }

  function awaitStatus(id: TopupId, status: TopupRow['status']): Promise<TopupRow> {
    return until(`top-up ${id} is ${status}`, async () => {
      const row = await rowOf(id);
      return row.status === status && row;
    });
  }

  async function awaitEnd(id: TopupId): Promise<TopupOutcome> {
    return (await service.temporal.workflow.getHandle(id).result()) as TopupOutcome;
  }

  async function entries(): Promise<[string, number][]> {
    const wallet = await getWallet(service.db, user.user.id);
    const rows = await service.db('ledger_entries').where({ wallet_id: wallet.id }).orderBy('seq');
    return rows.map(({ type, amount_cents }) => [type, amount_cents]);
  }

  async function mails(): Promise<{ subject: string; text: string }[]> {
    const url = `${service.inbox.url}/mails?to=${user.user.email}`;
    return ((await (await fetch(url)).json()) as { mails: { subject: string; text: string }[] }).mails;
  }

  /** Delivers an event of the processor once more, as it does for days. */
  async function deliver(payload: string, secret = webhookSecret): Promise<number> {
    const signature = Stripe.webhooks.generateTestHeaderString({ payload, secret });
    const headers = { 'content-type': 'application/json', 'stripe-signature': signature };
    return (await service.api.stranger().send('POST', webhookPath, payload, headers)).status;
  }

  async function eventsAbout(topup: TopupRow): Promise<Stripe.Event[]> {
    const { events } = await labState();
    return events.filter((event) => JSON.stringify(event.data).includes(topup.id));
  }

  const credited: [string, number][] = [['processor_topup', 2_500]];

  it('credits the wallet once, with a receipt, and mails it once', async () => {
    const topup = await open();
    assert.equal(await pay(topup), 303);
    const paid = await awaitStatus(topup.id, 'succeeded');
    assert.deepEqual(await awaitEnd(topup.id), { outcome: 'succeeded' });
    assert.deepEqual(await entries(), credited);
    const shown = (await user.get(`/v1/billing/topups/${topup.id}`)).body;
    assert.deepEqual([shown.status, shown.creditedCents], ['succeeded', 2_500]);
    assert.equal((await fetch(paid.receipt_url ?? '')).status, 200);

    const sent = await until('the receipt came', async () => {
      const got = await mails();
      return got.length > 0 && got;
    });
    assert.deepEqual(
      sent.map(({ subject }) => subject),
      ['Your top-up of $25.00'],
    );
    assert.ok(sent[0]?.text.includes(paid.receipt_url ?? 'no receipt'));
    const outbox = await service.db('mail_outbox').where({ recipient: user.user.email });
    assert.deepEqual(
      outbox.map(({ cause }) => cause),
      [`receipt:${paid.payment_id ?? ''}`],
    );
  });

  it('credits nothing for a declined card, and the same page can be paid with another', async () => {
    const topup = await open();
    assert.equal(await pay(topup, cards.declined), 402);
    assert.deepEqual(await entries(), []);
    assert.equal(await pay(topup), 303);
    await awaitStatus(topup.id, 'succeeded');
    assert.deepEqual(await entries(), credited);
  });

  it('credits once when each event comes twice, and again after it was done', async () => {
    await order({ kind: 'event_duplicate', times: 10 });
    const topup = await open();
    await pay(topup);
    await awaitEnd(topup.id);
    const events = await eventsAbout(topup);
    assert.ok(events.length >= 2, 'the session and the payment have events');
    for (const event of events) {
      assert.equal(await deliver(JSON.stringify(event)), 200);
      // The same news under another id is a new event: the closed workflow starts again, and finds its row done.
      assert.equal(await deliver(JSON.stringify({ ...event, id: `${event.id}_again` })), 200);
    }
    await until('every event is handled', async () => {
      const left = await service
        .db('processor_events')
        .where({ workflow_id: topup.id })
        .whereNull('handled_at');
      return left.length === 0;
    });
    assert.deepEqual(await awaitEnd(topup.id), { outcome: 'succeeded' });
    assert.deepEqual(await entries(), credited);
    assert.equal((await service.db('mail_outbox').where({ recipient: user.user.email })).length, 1);
  });

  it('asks the processor by itself when no event comes', async () => {
    await order({ kind: 'event_drop', times: 100 });
    const topup = await openAsking([300]);
    await pay(topup);
    await awaitStatus(topup.id, 'succeeded');
    assert.deepEqual(await entries(), credited);
    assert.deepEqual(await service.db('processor_events').where({ workflow_id: topup.id }), []);
  });

  it('is over when the page expires unpaid', async () => {
    const topup = await open();
    await service.stripe.checkout.sessions.expire(topup.session_id ?? '');
    assert.deepEqual(await awaitEnd(topup.id), { outcome: 'expired' });
    assert.deepEqual([(await rowOf(topup.id)).status, await entries()], ['expired', []]);
    assert.equal(await pay(topup), 410);
  });

  it('is credited all the same when it was paid after we took it for expired', async () => {
    const topup = await open();
    const { db } = service;
    await db('topups')
      .where({ id: topup.id })
      .update({ status: 'expired', closed_at: db.raw('clock_ms()') });
    await service.temporal.workflow.getHandle(topup.id).signal('processor-event');
    assert.deepEqual(await awaitEnd(topup.id), { outcome: 'expired' });
    await pay(topup);
    await awaitStatus(topup.id, 'succeeded');
    assert.deepEqual(await entries(), credited);
  });

  it('does not believe a webhook that nobody signed', async () => {
    const topup = await open();
    const object = {
      object: 'checkout.session',
      id: topup.session_id,
      payment_status: 'paid',
      metadata: { topup_id: topup.id },
    };
    const event = { id: 'evt_forged', object: 'event', type: 'checkout.session.completed', data: { object } };
    assert.equal(
      await deliver(JSON.stringify({ ...event, created: 1, livemode: false }), 'whsec_guess'),
      400,
    );
    assert.deepEqual(await service.db('processor_events').where({ id: 'evt_forged' }), []);
    assert.deepEqual([(await rowOf(topup.id)).status, await entries()], ['requires_payment', []]);
  });

  it('does not believe a signed event either: it asks what became of the payment', async () => {
    const topup = await open();
    const object = { object: 'checkout.session', payment_status: 'paid', metadata: { topup_id: topup.id } };
    const event = { id: 'evt_early', object: 'event', type: 'checkout.session.completed', data: { object } };
    assert.equal(await deliver(JSON.stringify({ ...event, created: 1, livemode: false })), 200);
    await until('it was looked at', async () => {
      const row = await service.db('processor_events').where({ id: 'evt_early' }).first();
      return row !== undefined && row.handled_at !== null;
    });
    assert.deepEqual([(await rowOf(topup.id)).status, await entries()], ['requires_payment', []]);
  });

  for (const fault of [{ kind: 'status', status: 500 }, { kind: 'reset', times: 2 }, { kind: 'lost' }]) {
    it(`makes one page although the processor’s answer was ${JSON.stringify(fault)}`, async () => {
      await order({ path: '/v1/checkout/sessions', method: 'POST', ...fault });
      const topup = await open();
      const { checkout_sessions } = await labState();
      const ours = checkout_sessions.filter(({ metadata }) => metadata?.['topup_id'] === topup.id);
      assert.deepEqual(
        ours.map(({ id }) => id),
        [topup.session_id],
      );
      await pay(topup);
      await awaitStatus(topup.id, 'succeeded');
      assert.deepEqual(await entries(), credited);
    });
  }
});
