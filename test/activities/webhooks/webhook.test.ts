import assert from 'node:assert/strict';
import { Context } from '@temporalio/activity';
import type { ActivityDeps } from '../../../activities/deps.js';
import { createWebhookActivities } from '../../../activities/webhooks/webhook.js';
import { stepOverLostEvents } from '../../../adapters/postgres/events/sequence.js';
import {
  isSomethingDue,
  noteDueWebhooks,
  takeDueWebhooks,
} from '../../../adapters/postgres/webhooks/waking.js';
import { createSecretOpener } from '../../../adapters/sealed-secrets.js';
import { createWebhookSender } from '../../../adapters/webhooks/sender.js';
import type { WebhookId } from '../../../domain/ids.js';
import { webhookLimits } from '../../../domain/webhooks/limits.js';
import { sealingKeys, startApi, type SignedIn, type TestApi } from '../../support/http/api.js';
import { openStream } from '../../support/http/event-stream.js';
import { runAlone } from '../../support/service/activity-context.js';
import { happen, newcomer, times } from '../../support/service/events.js';
import { startReceiver, type Receiver } from '../../support/webhooks/receiver.js';

describe('lookAtWebhook', () => {
  let api: TestApi;
  let user: SignedIn;
  let receiver: Receiver;
  before(async () => {
    api = await startApi();
  });
  after(() => api.stop());
  beforeEach(async () => {
    user = await newcomer(api);
    receiver = await startReceiver();
  });
  afterEach(() => receiver.close());

  /** One go of the activity alone. @param told what the attempt before told, and could not write down */
  function going(id: WebhookId, told?: object) {
    const webhooks = {
      send: createWebhookSender({ allowPrivate: true, ownHosts: [] }),
      openSecret: createSecretOpener([sealingKeys.privateKey]),
    };
    const deps = { webhookDb: api.db, webhooks } as unknown as ActivityDeps;
    return runAlone(() => {
      Object.assign(Context.current().info, { heartbeatDetails: told });
      return createWebhookActivities(deps).lookAtWebhook(id);
    });
  }
  const look = (id: WebhookId) => going(id).result;
  async function enabled(types?: string[]): Promise<WebhookId> {
    const { body } = await user.post('/v1/webhooks', { url: receiver.url, ...(types && { types }) });
    const id = body.id as WebhookId;
    await look(id);
    assert.equal((await rowOf(id)).state, 'enabled');
    return id;
  }
  const rowOf = async (id: WebhookId) => (await api.db('webhooks').where({ id }).first())!;

  it('sends the very JSON that pages and streams show', async () => {
    const id = await enabled();
    const texts = { fingerprint: 'a "b"\n\u2028 é' };
    await happen(api.db, user.user.id, ['ssh_key.added', 'rental.running', 'wallet.exhausted'], texts);
    await look(id);
    const sent = receiver.events().map(({ body }) => JSON.parse(body) as object);
    assert.equal(sent.length, 4);
    const page = (await user.get('/v1/events')).body as unknown as { events: object[] };
    assert.deepEqual(sent, page.events);
    const stream = await openStream({ url: api.url, sid: user.sid }, '?after=0');
    await stream.awaitSeq(4);
    assert.deepEqual(
      stream.events().map(({ data }) => data),
      page.events,
    );
    stream.cut();
    await stream.awaitClose();
  });

  it('sends what it names, and session.* and api_key.* only by name', async () => {
    const all = await enabled();
    const some = await enabled(['api_key.created', 'card.removed']);
    await look(all);
    const before = receiver.events().length;
    await happen(api.db, user.user.id, ['api_key.created', 'session.started', 'card.removed']);
    for (const [id, expected] of [
      [all, ['card.removed']],
      [some, ['api_key.created', 'card.removed']],
    ] as const) {
      const from = receiver.events().length;
      await look(id);
      const types = receiver.events().slice(from);
      assert.deepEqual(
        types.map(({ type }) => type).filter((type) => type !== 'webhook.created'),
        expected,
      );
    }
    assert.ok(receiver.events().length > before);
  });

  /** Lets all pauses of an endpoint be over, and looks. */
  async function lookLater(id: WebhookId) {
    await api.db('webhook_retries').where({ webhook_id: id }).update({ next_try_at: new Date() });
    const over = { line_at: null, retry_at: null, due_at: new Date(), told_at: null };
    await api.db('webhooks').where({ id }).update(over);
    return look(id);
  }

  it('tries an event that fails five times in its line, and later ones before the sixth', async () => {
    const id = await enabled(['ssh_key.added', 'card.removed']);
    receiver.answer = ({ type }, response) =>
      void response.writeHead(type === 'card.removed' ? 500 : 200).end();
    await happen(api.db, user.user.id, ['card.removed', 'ssh_key.added']);
    const sent = () => receiver.events().map(({ type }) => type);
    for (let tries = 1; tries <= 5; tries += 1) {
      await lookLater(id);
      assert.deepEqual(sent().slice(0, 5), Array<string>(tries).fill('card.removed'));
    }
    const waiting = () => api.db('webhook_retries').where({ webhook_id: id });
    await lookLater(id);
    assert.ok(sent().includes('ssh_key.added'), 'the later one comes');
    assert.equal((await waiting()).length, 1, 'the bad one waits apart');
    receiver.answer = (_message, response) => void response.end();
    await lookLater(id);
    assert.deepEqual(await waiting(), []);
    const bad = receiver.events().filter(({ type }) => type === 'card.removed');
    const ids = new Set(bad.map(({ headers }) => headers['webhook-id']));
    assert.equal(ids.size, 1, 'an event has one id, however often it is tried');
  });

  /** An endpoint that pauses because it did not take an event. */
  async function pausing(): Promise<WebhookId> {
    const id = await enabled();
    await look(id);
    receiver.answer = (_message, response) => void response.writeHead(503).end();
    await happen(api.db, user.user.id, times(1));
    await lookLater(id);
    return id;
  }

  it('keeps the pauses of a later release that sets them twice as long', async () => {
    const id = await enabled();
    await look(id);
    const twice = (ms: number) => new Date(Date.now() + 2 * ms);
    const [line_at, due_at] = [twice(webhookLimits.linePauseMaxMs), twice(webhookLimits.retryPauseMaxMs)];
    await api.db('webhooks').where({ id }).update({ line_at, retry_at: line_at, due_at });
    await noteDueWebhooks(api.db);
    assert.deepEqual((await rowOf(id)).due_at, due_at);
    await look(id);
    const row = await rowOf(id);
    assert.deepEqual([row.line_at, row.retry_at], [line_at, line_at]);
  });

  describe('whose pauses were set by a clock that ran ahead by two days', () => {
    const ahead = (column: string) => api.db.raw(`${column} + interval '2 days'`);
    const pauseAhead = (id: WebhookId) =>
      api
        .db('webhooks')
        .where({ id })
        .update({ line_at: ahead('clock_ms()'), retry_at: ahead('clock_ms()'), due_at: ahead('clock_ms()') });

    it('goes on with its line and its retry line', async () => {
      const id = await enabled(['ssh_key.added', 'card.removed']);
      await look(id);
      await happen(api.db, user.user.id, ['card.removed', 'ssh_key.added']);
      const retry = { webhook_id: id, seq: 2, tries: 5, first_tried_at: new Date() };
      await api.db('webhook_retries').insert({ ...retry, next_try_at: ahead('clock_ms()') as never });
      await api.db('webhooks').where({ id }).update({ cursor_seq: 2 });
      await pauseAhead(id);
      const before = receiver.events().length;
      assert.equal((await look(id)).status, 'idle');
      const types = receiver.events().slice(before);
      assert.deepEqual(
        types.map(({ type }) => type),
        ['ssh_key.added', 'card.removed'],
      );
    });

    it('is challenged again', async () => {
      const { body } = await user.post('/v1/webhooks', { url: receiver.url });
      const id = body.id as WebhookId;
      await pauseAhead(id);
      await look(id);
      assert.equal((await rowOf(id)).state, 'enabled');
    });

    it('is told by the waker, at once where it is due and where its user has new events', async () => {
      const id = await enabled();
      await look(id);
      await noteDueWebhooks(api.db);
      const isTold = async () => {
        if (!(await isSomethingDue(api.db))) return false;
        await noteDueWebhooks(api.db);
        return (await takeDueWebhooks(api.db, 10)).some((due) => due.id === id);
      };
      assert.equal(await isTold(), false);
      await pauseAhead(id);
      assert.equal(await isTold(), true);
      await api
        .db('webhooks')
        .where({ id })
        .update({ told_at: ahead('clock_ms()') });
      assert.equal(await isTold(), true, 'nobody has told it');
      await pauseAhead(id);
      await api.db('webhooks').where({ id }).update({ due_at: null, told_at: null });
      await happen(api.db, user.user.id, times(1));
      assert.equal(await isTold(), true);
    });

    it('keeps a true pause', async () => {
      const id = await pausing();
      const { line_at: until } = await rowOf(id);
      assert.ok(until);
      const before = receiver.events().length;
      await look(id);
      assert.deepEqual([(await rowOf(id)).line_at, receiver.events().length], [until, before]);
    });
  });

  it('is switched off after three days without any success', async () => {
    const id = await pausing();
    assert.ok((await rowOf(id)).failures > 0);
    const failing_since = new Date(Date.now() - 3 * 86_400_000);
    await api.db('webhooks').where({ id }).update({ failures: 30, failing_since });
    await lookLater(id);
    const { state, switched_off_why: why } = await rowOf(id);
    assert.deepEqual([state, why], ['switched_off', 'no_success']);
    const { body } = await user.get(`/v1/webhooks/${id}/deliveries`);
    const [last] = (body as unknown as { deliveries: { outcome: string }[] }).deliveries;
    assert.equal(last?.outcome, 'given_up');
  });

  it('sends feed.resync after a restore, and goes on from there', async () => {
    const id = await enabled();
    await happen(api.db, user.user.id, times(2));
    await look(id);
    await noteDueWebhooks(api.db);
    assert.equal((await look(id)).status, 'idle');
    const last = receiver.events().at(-1)!.seq!;
    assert.equal(last, 3);
    await stepOverLostEvents(api.db, new Date(0), () => undefined);
    await happen(api.db, user.user.id, times(1));
    await noteDueWebhooks(api.db);
    assert.notEqual((await rowOf(id)).due_at, null, 'its workflow is told');
    assert.equal((await look(id)).status, 'idle');
    assert.deepEqual(
      receiver.events().map(({ seq, type }) => [seq, type]),
      [
        [1, 'webhook.created'],
        [2, 'ssh_key.added'],
        [3, 'ssh_key.added'],
        [1_000_003, 'feed.resync'],
        [1_000_004, 'ssh_key.added'],
      ],
    );
    assert.equal(receiver.events()[3]?.entityId, user.user.id);
    const row = await rowOf(id);
    assert.deepEqual([row.cursor_seq, row.due_at], [1_000_004, null]);
  });

  it('sends no event again that was taken, and keeps that in mind until it is written down', async () => {
    const id = await enabled();
    await look(id);
    await happen(api.db, user.user.id, times(2));
    const sent = { round: (await rowOf(id)).round, seq: 1, httpStatus: 204 };
    assert.equal((await rowOf(id)).cursor_seq, 0);
    const go = going(id, { sent });
    assert.equal((await go.result).status, 'idle');
    assert.deepEqual(
      receiver.events().map(({ seq }) => seq),
      [2, 3],
    );
    // An attempt that fails right after these leaves the same to the next one.
    assert.deepEqual(go.beats.slice(0, 2), [{ sent }, { trying: 1, tries: 1, sent }]);
    const rows = await api.db('webhook_deliveries').where({ webhook_id: id, outcome: 'delivered' });
    assert.deepEqual(rows.map(({ seq }) => seq).sort(), [1, 2, 3, null]);
  });

  it('takes from the retry line what has waited longest, whatever came first', async () => {
    const id = await enabled();
    await happen(api.db, user.user.id, times(3));
    await look(id);
    const before = receiver.events().length;
    const first_tried_at = new Date(Date.now() - 600_000);
    const minutesAgo = { 4: 3, 2: 2, 3: 1 } as const;
    for (const [seq, minutes] of Object.entries(minutesAgo)) {
      const next_try_at = new Date(Date.now() - minutes * 60_000);
      await api
        .db('webhook_retries')
        .insert({ webhook_id: id, seq: Number(seq), tries: 6, first_tried_at, next_try_at });
    }
    await look(id);
    const again = receiver.events().slice(before);
    assert.deepEqual(
      again.map(({ seq }) => seq),
      [4, 2, 3],
    );
  });

  it('drops an event from the retry line that is no longer kept', async () => {
    const id = await enabled();
    await look(id);
    const since = new Date(Date.now() - 60_000);
    await api.db('webhook_retries').insert({
      ...{ webhook_id: id, seq: 7, tries: 6, first_tried_at: since, next_try_at: since },
    });
    const { state, status } = await look(id);
    assert.deepEqual([state, status], ['closed', 'idle']);
    assert.deepEqual(await api.db('webhook_retries').where({ webhook_id: id }), []);
  });
});
