import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { newId } from '../../../adapters/ids.js';
import { recordEvent } from '../../../adapters/postgres/events/outbox.js';
import type { presentDelivery } from '../../../api/webhooks/present.js';
import type { WebhookId } from '../../../domain/ids.js';
import { webhookLimits } from '../../../domain/webhooks/limits.js';
import { entityStatusAttribute, userIdAttribute } from '../../../workflows/contracts/search-attributes.js';
import type { SignedIn } from '../../support/http/api.js';
import { faultOfSent } from '../../support/http/described.js';
import { startService, type TestService } from '../../support/service/living-service.js';
import { until } from '../../support/until.js';
import { startReceiver, type Receiver } from '../../support/webhooks/receiver.js';

type Delivery = ReturnType<typeof presentDelivery>;

describe('webhooks to users', () => {
  let service: TestService;
  const receivers: Receiver[] = [];
  before(async () => {
    service = await startService({ shards: 0, pollMs: 1_000 });
  });
  after(() => service.stop());
  afterEach(async () => {
    for (const receiver of receivers.splice(0)) {
      await receiver.close();
      for (const { type, body } of receiver.received) {
        const kind = type === 'webhook.challenge' ? 'challenge' : 'event';
        assert.equal(faultOfSent(kind, JSON.parse(body)), undefined, body);
      }
    }
  });

  async function receiving(): Promise<Receiver> {
    const receiver = await startReceiver();
    receivers.push(receiver);
    return receiver;
  }
  const rowOf = async (id: string) =>
    (await service
      .db('webhooks')
      .where({ id: id as WebhookId })
      .first())!;
  const inState = (id: string, state: string) =>
    until(`${id} is ${state}`, async () => (await rowOf(id)).state === state);
  async function adding(user: SignedIn, receiver: Receiver, fields: object = {}) {
    const { status, body } = await user.post('/v1/webhooks', { url: receiver.url, ...fields });
    assert.equal(status, 200, JSON.stringify(body));
    return body as unknown as { id: WebhookId; secret: string; state: string };
  }
  async function enabling(user: SignedIn, receiver: Receiver, fields: object = {}) {
    const hook = await adding(user, receiver, fields);
    await inState(hook.id, 'enabled');
    return hook;
  }
  const tellKey = ({ user }: SignedIn) =>
    recordEvent(service.db, {
      type: 'ssh_key.added',
      userId: user.id,
      entityId: newId('key'),
      data: { fingerprint: 'SHA256:x' },
    });
  const idle = (id: string) => until(`${id} is idle`, async () => (await rowOf(id)).due_at === null);
  /** Lets all pauses of an endpoint be over. */
  async function hurry(id: string): Promise<void> {
    const over = { line_at: null, retry_at: null, due_at: new Date(), told_at: null };
    await service
      .db('webhook_retries')
      .where({ webhook_id: id as WebhookId })
      .update({ next_try_at: new Date() });
    await service
      .db('webhooks')
      .where({ id: id as WebhookId })
      .whereIn('state', ['pending', 'enabled'])
      .update(over);
  }
  const deliveries = async (user: SignedIn, id: string) =>
    (
      (await user.get(`/v1/webhooks/${id}/deliveries?pageSize=200`)).body as unknown as {
        deliveries: Delivery[];
      }
    ).deliveries;

  it('are challenged, then get each event once, in its order and signed', async () => {
    const user = await service.signIn();
    const receiver = await receiving();
    const hook = await adding(user, receiver);
    assert.equal(hook.state, 'pending');
    await inState(hook.id, 'enabled');
    for (let no = 0; no < 20; no += 1) await tellKey(user);
    await until('all came', () => receiver.events().length === 21);
    const first = receiver.events()[0]!.seq!;
    assert.deepEqual(
      receiver.events().map(({ type, seq }) => [type, seq! - first]),
      [['webhook.created', 0], ...Array.from({ length: 20 }, (_, no) => ['ssh_key.added', no + 1])],
    );
    for (const { headers, body, id, type } of receiver.received) {
      const signed = headers as Record<string, string>;
      assert.deepEqual(new Webhook(hook.secret).verify(body, signed), JSON.parse(body));
      if (type !== 'webhook.challenge') assert.equal(headers['webhook-id'], id);
    }
    await idle(hook.id);
    const runs = await until('the run has ended', async () => {
      const { status, typedSearchAttributes } = await service.temporal.workflow
        .getHandle(`webhook:${hook.id}`)
        .describe();
      return status.name === 'COMPLETED' ? typedSearchAttributes : undefined;
    });
    assert.equal(runs.get(userIdAttribute), user.user.id);
    const tries = await deliveries(user, hook.id);
    assert.equal(tries.length, 22);
    assert.ok(
      tries.every(
        ({ outcome, attempt, fault }) => outcome === 'delivered' && attempt === 1 && fault === null,
      ),
    );
  });

  it('stay pending until the challenge is answered, and are challenged again', async () => {
    const user = await service.signIn();
    const receiver = await receiving();
    receiver.answerChallenge = (_message, response) => void response.end('{"challenge":"another"}');
    const hook = await adding(user, receiver);
    const [failed] = await until('it was asked', async () => {
      const tries = await deliveries(user, hook.id);
      return tries.length > 0 && tries;
    });
    assert.deepEqual(
      [failed?.outcome, failed?.httpStatus, failed?.fault],
      ['failed', 200, 'challenge_not_answered'],
    );
    const refused = await user.post(`/v1/webhooks/${hook.id}/ping`);
    assert.deepEqual([refused.status, refused.body.error], [409, 'webhook_not_enabled']);
    receiver.answerChallenge = ({ data }, response) =>
      void response.end(JSON.stringify({ challenge: data['challenge'] }));
    await hurry(hook.id);
    await inState(hook.id, 'enabled');
    await until('nothing was lost meanwhile', () => receiver.events()[0]?.type === 'webhook.created');
  });

  it('end at once by a 410, with a mail and an event', async () => {
    const user = await service.signIn();
    const [leaving, staying] = [await receiving(), await receiving()];
    const hook = await enabling(user, leaving);
    await enabling(user, staying, { types: ['webhook.switched_off'] });
    leaving.answer = (_message, response) => void response.writeHead(410).end();
    await tellKey(user);
    await inState(hook.id, 'switched_off');
    const told = await until('the other endpoint is told', () => staying.events()[0]);
    assert.deepEqual([told.entityId, told.data], [hook.id, { reason: 'gone' }]);
    const [notice] = await service.db('user_notices').where({ user_id: user.user.id });
    const facts = { webhookId: hook.id, url: leaving.url, why: 'gone' };
    assert.deepEqual([notice?.kind, notice?.facts], ['webhook_switched_off', facts]);
    const audit = (await user.get('/v1/audit?kind=webhook_switched_off')).body as unknown as {
      events: { details: object }[];
    };
    assert.deepEqual(
      audit.events.map(({ details }) => details),
      [{ webhookId: hook.id, why: 'gone' }],
    );
    // It is switched on again by its address, and goes on from there.
    leaving.answer = (_message, response) => void response.end();
    const before = leaving.events().length;
    const { body } = await user.patch(`/v1/webhooks/${hook.id}`, { url: leaving.url });
    assert.equal((body as unknown as { state: string }).state, 'pending');
    await inState(hook.id, 'enabled');
    await tellKey(user);
    await until(
      'new events come',
      () => leaving.events().at(-1)?.type === 'ssh_key.added' && leaving.events().length > before,
    );
  });

  it('send all after a number again, in their order', async () => {
    const user = await service.signIn();
    const receiver = await receiving();
    const hook = await enabling(user, receiver);
    for (let no = 0; no < 3; no += 1) await tellKey(user);
    await until('all came', () => receiver.events().length === 4);
    await idle(hook.id);
    const late = await user.post(`/v1/webhooks/${hook.id}/redeliver`, { afterSeq: 1_000 });
    assert.deepEqual(
      [late.status, (late.body.details as unknown as { fields: { field: string }[] }).fields[0]?.field],
      [400, 'afterSeq'],
    );
    const [first, second, third, last] = receiver.events().map(({ seq }) => seq!);
    assert.equal((await user.post(`/v1/webhooks/${hook.id}/redeliver`, { afterSeq: second })).status, 200);
    await until('the last two come again', () => receiver.events().length === 6);
    assert.deepEqual(
      receiver.events().map(({ seq }) => seq),
      [first, second, third, last, third, last],
    );
  });

  it('sign with both secrets for a day after a rotation', async () => {
    const user = await service.signIn();
    const receiver = await receiving();
    const hook = await enabling(user, receiver);
    const { body } = await user.post(`/v1/webhooks/${hook.id}/rotate-secret`);
    const { secret, previousSecretValidUntil } = body as unknown as {
      secret: string;
      previousSecretValidUntil: string;
    };
    const hours = (Date.parse(previousSecretValidUntil) - Date.now()) / 3_600_000;
    assert.ok(hours > 23.9 && hours <= 24.1, `${hours} hours`);
    await user.post(`/v1/webhooks/${hook.id}/ping`);
    const pinged = await until('it came', () =>
      receiver.events().find(({ type }) => type === 'webhook.ping'),
    );
    for (const each of [secret, hook.secret])
      new Webhook(each).verify(pinged.body, pinged.headers as Record<string, string>);
    await service.db('webhook_secrets').whereNotNull('expires_at').update({ expires_at: new Date() });
    await user.post(`/v1/webhooks/${hook.id}/ping`);
    const next = await until(
      'the next came',
      () => receiver.events().filter(({ type }) => type === 'webhook.ping')[1],
    );
    new Webhook(secret).verify(next.body, next.headers as Record<string, string>);
    assert.throws(() => new Webhook(hook.secret).verify(next.body, next.headers as Record<string, string>));
  });

  it('are paused by operators within a round, and lose nothing', async () => {
    const user = await service.signIn();
    const receiver = await receiving();
    const hook = await enabling(user, receiver);
    await idle(hook.id);
    const before = receiver.events().length;
    await service.db('brakes').insert({ kind: 'webhooks', pulled_by: 'test', reason: 'a drill' });
    await tellKey(user);
    await until('it looked and waits', async () => {
      const run = service.temporal.workflow.getHandle(`webhook:${hook.id}`);
      const { status, typedSearchAttributes } = await run.describe();
      return status.name === 'RUNNING' && typedSearchAttributes.get(entityStatusAttribute) === 'paused';
    });
    assert.equal(receiver.events().length, before);
    await service.db('brakes').delete();
    await hurry(hook.id);
    await until('it came', () => receiver.events().length === before + 1);
  });

  it('that hang or are dead cost others nothing', async () => {
    const [dead, living] = [await service.signIn(), await service.signIn()];
    const [hanging, quick] = [await receiving(), await receiving()];
    const hooks: Awaited<ReturnType<typeof enabling>>[] = [];
    for (let count = 0; count < 5; count += 1) hooks.push(await enabling(dead, hanging));
    const held: Socket[] = [];
    hanging.answer = (_message, _response, socket) => void held.push(socket);
    await enabling(living, quick);
    // What it was told of by being enabled may hang already.
    hanging.now.most = hanging.now.open;
    await tellKey(dead);
    await until('they hang', () => hanging.now.open === webhookLimits.perUserAtOnce);
    await tellKey(living);
    await until('the other gets its own', () => quick.events().some(({ type }) => type === 'ssh_key.added'));
    hanging.answer = (_message, _response, socket) => void socket.destroy();
    for (const socket of held) socket.destroy();
    await until('each was tried', async () => {
      const rows = await service.db('webhooks').whereIn(
        'id',
        hooks.map(({ id }) => id),
      );
      return rows.every(({ failures }) => failures > 0);
    });
    assert.equal(hanging.now.most, webhookLimits.perUserAtOnce);
  });

  it('are told again when their signal was lost', async () => {
    const user = await service.signIn();
    const receiver = await receiving();
    const hook = await enabling(user, receiver);
    await idle(hook.id);
    const before = receiver.events().length;
    // As if a process had died between the mark and the signal, a minute ago.
    await service
      .db('webhooks')
      .where({ id: hook.id })
      .update({
        cursor_seq: 0,
        due_at: new Date(Date.now() - 61_000),
        told_at: new Date(Date.now() - 61_000),
      });
    await until('all come again', () => receiver.events().length === 2 * before);
  });
});
