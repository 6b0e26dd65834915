import assert from 'node:assert/strict';
import { newId } from '../../../adapters/ids.js';
import { insertAuditEvent } from '../../../adapters/postgres/accounts/audit-events.js';
import { operate } from '../../../money/operations/operations.js';
import { auditKinds } from '../../../domain/accounts/audit.js';
import type { UserId } from '../../../domain/ids.js';
import type { ApiClient, SignedIn } from '../../support/http/api.js';
import { insertApiKeyOf, insertSessionOf } from '../../support/money/factories.js';
import { startService, type TestService } from '../../support/service/living-service.js';
import { Paying } from '../../support/story/paying.js';
import { b200, Renting, rtx4090 } from '../../support/story/renting.js';
import { operateNow, testSingleLimitCents } from '../../support/ops/operators.js';
import { CodeMails } from './code-mails.js';

interface Event {
  readonly id: string;
  readonly kind: string;
  readonly entityId: string | null;
  readonly apiKeyId: string | null;
  readonly details: Record<string, unknown> | null;
  readonly clientAddress: string | null;
  readonly at: string;
}

interface Trail {
  readonly events: Event[];
  readonly failedSignIns: readonly { readonly hour: string; readonly tries: number }[];
  readonly nextCursor: string | null;
}

describe('GET /v1/audit', () => {
  let service: TestService;
  let paying: Paying;
  let user: SignedIn;

  before(async () => {
    service = await startService({ settings: { trustProxy: true } });
    paying = new Paying(service);
  });
  beforeEach(async () => {
    user = await service.signIn(10_000);
  });
  after(() => service.stop());

  async function trail(client: ApiClient, query = ''): Promise<Trail> {
    const { status, body } = await client.get(`/v1/audit${query}`);
    assert.equal(status, 200, JSON.stringify(body));
    return body as unknown as Trail;
  }
  const kinds = async (client: ApiClient): Promise<[string, string | null, string | null][]> =>
    (await trail(client)).events.map(({ kind, entityId, clientAddress }) => [kind, entityId, clientAddress]);
  const here = '127.0.0.1';

  it('tells of sign-ins and sign-outs, and from where', async () => {
    const mails = new CodeMails(service.api);
    const email = mails.newEmail();
    await service.stopWorker();
    const { client, code } = await mails.request(email);
    await service.startWorker();
    const by = (address: string): Record<string, string> => ({ 'X-Forwarded-For': address });
    const wrong = code === '999999' ? '888888' : '999999';
    await client.post('/v1/auth/verify-code', { email, code: wrong }, by('198.51.100.1'));
    await client.post('/v1/auth/verify-code', { email, code }, by('192.0.2.1, 203.0.113.9'));
    const first = client.sid!;
    await client.post('/v1/auth/logout', undefined, by('::ffff:203.0.113.10'));
    const { events } = await trail(await again(email));
    assert.deepEqual(
      events.map(({ kind, details, clientAddress }) => [kind, details, clientAddress]),
      [
        ['signed_out', null, '203.0.113.10'],
        ['signed_in', { by: 'code' }, '203.0.113.9'],
      ],
    );
    assert.ok(!JSON.stringify(events).includes(first));
    assert.match(events[0]!.id, /^aud_[0-9A-Z]{26}$/);
    assert.ok(Math.abs(Date.parse(events[0]!.at) - Date.now()) < 60_000);
  });

  /** Another session of the same user, without a sign-in that would be in the trail. */
  async function again(email: string): Promise<ApiClient> {
    const row = await service.db('users').where({ email }).first();
    const client = service.api.stranger();
    client.sid = await insertSessionOf(service.db, row!.id);
    return client;
  }

  it('tells of no address when the proxy named none', async () => {
    await user.post('/v1/ssh-keys', { name: 'a', generate: true }, { 'X-Forwarded-For': 'x'.repeat(300) });
    assert.deepEqual((await kinds(user))[0]!.slice(0, 1), ['ssh_key_added']);
    assert.equal((await kinds(user))[0]![2], null);
  });

  it('tells of keys that were added and removed, and of nothing that was refused', async () => {
    const { body } = await user.post('/v1/ssh-keys', { name: 'a', generate: true });
    const { publicKey } = body as unknown as { publicKey: string };
    assert.equal((await user.post('/v1/ssh-keys', { name: 'b', publicKey })).body.error, 'duplicate_key');
    await user.delete(`/v1/ssh-keys/${newId('key')}`);
    await user.delete(`/v1/ssh-keys/${body.id}`);
    await user.delete(`/v1/ssh-keys/${body.id}`);
    assert.deepEqual(await kinds(user), [
      ['ssh_key_removed', body.id, here],
      ['ssh_key_added', body.id, here],
    ]);
  });

  it('tells once of a rental that was created and stopped, however often it was asked for', async () => {
    await user.post('/v1/ssh-keys', { name: 'a', generate: true });
    const rent = { familyId: rtx4090.familyId, gpuCount: 1 };
    const key = { 'Idempotency-Key': 'once' };
    const { body } = await user.post('/v1/rentals', rent, key);
    await user.post('/v1/rentals', rent, key);
    await user.post(`/v1/rentals/${body.id}/stop`);
    await user.post(`/v1/rentals/${body.id}/stop`);
    assert.equal((await user.post('/v1/rentals', { ...rent, gpuCount: 7 })).status, 400);
    assert.deepEqual((await kinds(user)).slice(0, 2), [
      ['rental_stopped', body.id, here],
      ['rental_created', body.id, here],
    ]);
    assert.equal((await kinds(user)).length, 3);
  });

  it('tells of a rental that ended by its limit, and by an operator, from nowhere', async () => {
    const renting = new Renting(service);
    const limited = await renting.open(user, b200, { maxSpendCents: 2 });
    const { released_cents: refundedCents } = await renting.awaitStatus(limited, 'stopped');
    const stopped = await renting.open(user, rtx4090);
    await service.db('stop_requests').insert({
      rental_no: (await renting.row(stopped)).no,
      requested_by: 'operator',
    });
    const { stop_reason: reason, ...money } = await renting.awaitStatus(stopped, 'stopped');
    const { events } = await trail(user, '?kind=rental_ended');
    assert.deepEqual(
      events.map(({ entityId, details, clientAddress }) => [entityId, details, clientAddress]),
      [
        [
          stopped,
          { reason: 'operator', chargedCents: money.charged_cents, refundedCents: money.released_cents },
          null,
        ],
        [limited, { reason: 'spend_limit', chargedCents: 2, refundedCents }, null],
      ],
    );
    assert.equal(reason, 'operator');
  });

  it('shows a rental whose request got no answer', async () => {
    const id = await new Renting(service).openDirectly(user, rtx4090, {});
    assert.deepEqual(await kinds(user), [['rental_created', id, null]]);
    await user.post(`/v1/rentals/${id}/stop`);
  });

  it('tells of checkouts, cards and auto-topup, with the numbers that were set', async () => {
    const { topupId } = await paying.page(user, 500);
    const card = await paying.saveCard(user);
    const charged = (await paying.checkout(user, 700)).body.topupId;
    const settings = { enabled: true, thresholdCents: 1_000, topupAmountCents: 2_500, dailyCapCents: null };
    assert.equal((await user.put('/v1/billing/auto-topup', settings)).status, 200);
    await user.delete('/v1/billing/card');
    await user.delete('/v1/billing/card');
    assert.equal((await user.put('/v1/billing/auto-topup', settings)).body.error, 'no_saved_card');
    assert.deepEqual(await kinds(user), [
      ['card_removed', card, here],
      ['auto_topup_changed', null, here],
      ['checkout_begun', charged, here],
      ['card_saved', card, null],
      ['checkout_begun', topupId, here],
    ]);
    const [changed] = (await trail(user, '?kind=auto_topup_changed')).events;
    assert.deepEqual(changed?.details, settings);
    await paying.awaitHandled();
  });

  it('shows the actions of operators, once per operation', async () => {
    const action = { kind: 'adjust', userId: user.user.id, amountCents: 300 } as const;
    const operationId = await operateNow(service.db, action, { reason: 'a gift' });
    await operate(service.db, operationId, testSingleLimitCents);
    const { events } = await trail(user);
    assert.deepEqual(
      events.map(({ kind, entityId, details }) => [kind, entityId, details]),
      [['changed_by_operator', operationId, { action: 'adjust' }]],
    );
  });

  it('pages from the newest on, and by kind', async () => {
    for (const kind of ['signed_in', 'signed_out', 'signed_in', 'signed_out', 'signed_in'] as const) {
      await insertAuditEvent(service.db, { userId: user.user.id, kind });
    }
    const first = await trail(user, '?pageSize=3');
    const second = await trail(user, `?pageSize=3&cursor=${first.nextCursor!}`);
    assert.deepEqual([first.events.length, second.events.length, second.nextCursor], [3, 2, null]);
    assert.equal(new Set([...first.events, ...second.events].map(({ id }) => id)).size, 5);
    const cursor = JSON.parse(Buffer.from(first.nextCursor!, 'base64url').toString()) as unknown;
    assert.deepEqual(cursor, [first.events.at(-1)!.id], 'it tells nothing of how many events there are');
    const others = await (await service.signIn()).get(`/v1/audit?cursor=${first.nextCursor!}`);
    assert.deepEqual([others.status, others.body.error], [400, 'validation_failed']);
    const outs = await trail(user, '?kind=signed_out');
    assert.deepEqual(
      outs.events.map(({ kind }) => kind),
      ['signed_out', 'signed_out'],
    );
    const unknown = await user.get('/v1/audit?kind=robbed');
    assert.deepEqual([unknown.status, unknown.body.error], [400, 'validation_failed']);
  });

  it('tells failed sign-ins by the hour, each on one page: the one whose time it is', async () => {
    const userId = user.user.id;
    const at = (hours: number) =>
      service.db.raw(`date_trunc('hour', clock_ms()) - ? * interval '1 hour'`, [hours]);
    for (const hours of [5, 3, 1]) {
      await service
        .db('audit_events')
        .insert({ id: newId('aud'), user_id: userId, kind: 'signed_in', at: at(hours - 0.5) });
    }
    const { id: stranger } = (await service.signIn()).user;
    await service
      .db('failed_sign_ins')
      .insert([
        ...[6, 4, 3, 2, 0].map((hours) => ({ user_id: userId, hour: at(hours), failed: hours + 1 })),
        { user_id: stranger, hour: at(0), failed: 99 },
      ]);
    const tries: number[][] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const page = await trail(user, `?pageSize=1${cursor === '' ? '' : `&cursor=${cursor}`}`);
      tries.push(page.failedSignIns.map((one) => one.tries));
      cursor = page.nextCursor;
    }
    assert.deepEqual(tries, [[1], [3], [4, 5, 7]]);
    const whole = await trail(user);
    assert.deepEqual(
      whole.failedSignIns.map((one) => one.tries),
      tries.flat(),
    );
    assert.match(whole.failedSignIns[0]!.hour, /T\d\d:00:00\.000Z$/);
    assert.deepEqual((await trail(user, '?kind=signed_in')).failedSignIns, []);
  });

  it('names no API key in a sign-in, which none makes: another user’s may come along', async () => {
    const mails = new CodeMails(service.api);
    const email = 'with-a-key@example.com';
    await service.stopWorker();
    const { client, code } = await mails.request(email);
    await service.startWorker();
    const { token } = await insertApiKeyOf(service.db, user.user.id);
    const headers = { Authorization: `Bearer ${token}` };
    assert.equal((await client.post('/v1/auth/verify-code', { email, code }, headers)).status, 200);
    const [event] = (await trail(client)).events;
    assert.deepEqual([event?.kind, event?.apiKeyId], ['signed_in', null]);
  });

  it('is none of a capped key, which sees its own rentals alone', async () => {
    const keyWith = async (spendCapCents: number | null) => {
      const { token } = await insertApiKeyOf(service.db, user.user.id, { spendCapCents });
      return service.api.withKey(token).get('/v1/audit');
    };
    assert.equal((await keyWith(null)).status, 200);
    const { status, body } = await keyWith(500);
    assert.deepEqual([status, body.error], [403, 'session_required']);
  });

  it('shows only the user’s own trail, and nothing without a session', async () => {
    await user.post('/v1/ssh-keys', { name: 'a', generate: true });
    assert.deepEqual(await trail(await service.signIn()), {
      events: [],
      failedSignIns: [],
      nextCursor: null,
    });
    assert.equal((await service.api.stranger().get('/v1/audit')).status, 401);
  });

  describe('as the database keeps it', () => {
    const write = (kind: string, userId: UserId): Promise<unknown> =>
      service.db.raw('insert into audit_events (id, user_id, kind) values (?, ?, ?)', [
        newId('aud'),
        userId,
        kind,
      ]);

    it('knows the kinds that the service knows', async () => {
      for (const kind of auditKinds) await write(kind, user.user.id);
      await assert.rejects(write('robbed', user.user.id), /audit_events_kind_check/);
    });

    it('lets nothing be changed, moved or removed, but the address be added that was not known', async () => {
      const { db } = service;
      await write('signed_in', user.user.id);
      const mine = () => db('audit_events').where({ user_id: user.user.id });
      for (const change of [
        () => mine().delete(),
        () => mine().update({ kind: 'signed_out' }),
        () => mine().update({ kind: 'signed_out', client_address: here }),
        () => db.raw('truncate audit_events'),
      ]) {
        await assert.rejects(async () => change(), /never changed or removed/);
      }
      await mine().update({ client_address: here });
      await assert.rejects(async () => mine().update({ client_address: '192.0.2.1' }), /never changed/);
    });
  });
});
