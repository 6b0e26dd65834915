import assert from 'node:assert/strict';
import { eventLimits } from '../../../domain/events/limits.js';
import { webhookLimits } from '../../../domain/webhooks/limits.js';
import { newId } from '../../../adapters/ids.js';
import { createSecretOpener } from '../../../adapters/sealed-secrets.js';
import type { presentDelivery, presentWebhook } from '../../../api/webhooks/present.js';
import type { WebhookId } from '../../../domain/ids.js';
import type { Answer } from '../../support/http/answers.js';
import { sealingKeys, startApi, type SignedIn, type TestApi } from '../../support/http/api.js';

type Hook = ReturnType<typeof presentWebhook> & { readonly secret: string };
const hookOf = ({ body }: Answer) => body as unknown as Hook;
const url = 'https://hooks.example.com/gpu';

describe('webhooks', () => {
  let api: TestApi;
  let user: SignedIn;
  before(async () => {
    api = await startApi();
  });
  after(() => api.stop());
  beforeEach(async () => {
    user = await api.signIn();
  });
  const open = createSecretOpener([sealingKeys.privateKey]);
  const told = async () => {
    const events = await api.db('event_outbox').where({ user_id: user.user.id }).orderBy('no');
    return events.filter(({ type }) => type.startsWith('webhook.')).map(({ type, data }) => [type, data]);
  };
  const faultOf = ({ status, body }: Answer) => [status, body.error, body.message];

  it('are made with a secret that is shown once and kept sealed', async () => {
    const made = hookOf(
      await user.post('/v1/webhooks', { url, types: ['rental.running'], description: 'deploy' }),
    );
    const { secret, ...shown } = made;
    assert.match(secret, /^whsec_/);
    assert.deepEqual(
      [shown.url, shown.types, shown.description, shown.state],
      [url, ['rental.running'], 'deploy', 'pending'],
    );
    assert.deepEqual(hookOf(await user.get(`/v1/webhooks/${made.id}`)), shown);
    assert.deepEqual((await user.get('/v1/webhooks')).body, { webhooks: [shown] });
    const [row] = await api.db('webhook_secrets').where({ webhook_id: made.id });
    assert.equal(row!.sealed.includes(Buffer.from(secret.slice(6))), false);
    assert.equal(open(row!.sealed, made.id), secret);
    assert.deepEqual(await told(), [['webhook.created', {}]]);
    assert.ok(!JSON.stringify(api.logged).includes(secret.slice(6)));
  });

  it('keep their secrets from the API itself', async () => {
    await assert.rejects(
      Promise.resolve(api.deps.db('webhook_secrets').select('sealed')),
      /permission denied/,
    );
  });

  it('are ten at most, also when they are made at once', async () => {
    const answers = await Promise.all(Array.from({ length: 13 }, () => user.post('/v1/webhooks', { url })));
    const refused = answers.filter(({ status }) => status !== 200);
    assert.deepEqual(
      refused.map(({ body }) => [body.error, body.details]),
      Array.from({ length: 3 }, () => ['too_many_webhooks', { maxWebhooks: 10 }]),
    );
    const { webhooks } = (await user.get('/v1/webhooks')).body as unknown as { webhooks: Hook[] };
    assert.equal(webhooks.length, 10);
    await user.delete(`/v1/webhooks/${webhooks[0]!.id}`);
    assert.equal((await user.post('/v1/webhooks', { url })).status, 200);
  });

  for (const [what, body, field] of [
    ['no address', { types: [] }, 'url'],
    ['a text', { url: 'hooks' }, 'url'],
    ['a number', { url: 1 }, 'url'],
    ['a long address', { url: `https://example.com/${'x'.repeat(3_000)}` }, 'url'],
    ['a password in it', { url: 'https://a:b@example.com/' }, 'url'],
    ['an unknown type', { url, types: ['rental.exploded'] }, 'types.0'],
    ['a ping as a type', { url, types: ['webhook.ping'] }, 'types.0'],
    ['a type twice', { url, types: ['rental.running', 'rental.running'] }, 'types.1'],
    ['a long description', { url, description: 'x'.repeat(201) }, 'description'],
    ['a field that there is none', { url, secret: 'whsec_mine' }, 'secret'],
  ] as const) {
    it(`are not made with ${what}`, async () => {
      const { status, body: answer } = await user.post('/v1/webhooks', body);
      assert.deepEqual([status, answer.error], [400, 'validation_failed']);
      const fields = (answer.details as unknown as { fields: { field: string }[] }).fields;
      assert.deepEqual(
        fields.map((each) => each.field),
        [field],
      );
      assert.deepEqual((await user.get('/v1/webhooks')).body, { webhooks: [] });
    });
  }

  it('are changed field by field, and challenged anew by their address alone', async () => {
    const { id } = hookOf(await user.post('/v1/webhooks', { url }));
    await api.db('webhooks').where({ id }).update({ state: 'enabled', enabled_at: new Date() });
    const kept = hookOf(await user.patch(`/v1/webhooks/${id}`, { types: ['card.saved'], url }));
    assert.deepEqual([kept.state, kept.types, kept.url], ['enabled', ['card.saved'], url]);
    const moved = hookOf(await user.patch(`/v1/webhooks/${id}`, { url: `${url}/2` }));
    assert.deepEqual([moved.state, moved.types, moved.url], ['pending', ['card.saved'], `${url}/2`]);
    assert.deepEqual((await told()).slice(1), [
      ['webhook.changed', { changed: ['types'] }],
      ['webhook.changed', { changed: ['url'] }],
    ]);
    assert.equal((await user.patch(`/v1/webhooks/${id}`, {})).status, 400);
    const same = await user.patch(`/v1/webhooks/${id}`, { description: '' });
    assert.equal(same.status, 200);
    assert.equal((await told()).length, 3, 'nothing was changed by the last one');
  });

  it('are removed with their secrets, and stand in the audit trail', async () => {
    const { id } = hookOf(await user.post('/v1/webhooks', { url }));
    assert.deepEqual((await user.delete(`/v1/webhooks/${id}`)).body, { ok: true });
    for (const answer of [
      await user.get(`/v1/webhooks/${id}`),
      await user.delete(`/v1/webhooks/${id}`),
      await user.patch(`/v1/webhooks/${id}`, { url }),
      await user.post(`/v1/webhooks/${id}/ping`),
      await user.get(`/v1/webhooks/${id}/deliveries`),
    ]) {
      assert.deepEqual([answer.status, answer.body.error], [404, 'webhook_not_found']);
    }
    assert.deepEqual(await api.db('webhook_secrets').where({ webhook_id: id }), []);
    const { events } = (await user.get('/v1/audit')).body as unknown as {
      events: { kind: string; entityId: string }[];
    };
    assert.deepEqual(
      events.map(({ kind, entityId }) => [kind, entityId]),
      [
        ['webhook_removed', id],
        ['webhook_created', id],
      ],
    );
  });

  it('are nobody else’s', async () => {
    const { id } = hookOf(await user.post('/v1/webhooks', { url }));
    const other = await api.signIn();
    for (const answer of [
      await other.get(`/v1/webhooks/${id}`),
      await other.patch(`/v1/webhooks/${id}`, { url }),
      await other.delete(`/v1/webhooks/${id}`),
      await other.get(`/v1/webhooks/${id}/deliveries`),
      await other.post(`/v1/webhooks/${id}/rotate-secret`),
      await other.post(`/v1/webhooks/${id}/redeliver`, { afterSeq: 0 }),
      await other.get('/v1/webhooks/wh_nonsense'),
    ]) {
      assert.deepEqual([answer.status, answer.body.error], [404, 'webhook_not_found']);
    }
    assert.equal((await user.get(`/v1/webhooks/${id}`)).status, 200);
  });

  /** Events of a user, numbered from one number to another. */
  const addEvents = ({ user: { id } }: SignedIn, from: number, to: number) =>
    api.db.raw(
      `insert into events (id, user_id, seq, type, entity_id, data, at)
       select new_event_id(), :id, seq, 'key.created', 'key_1', '{}', clock_ms() from generate_series(:from::int, :to) seq`,
      { id, from, to },
    );

  it('send again what came before a restore, after which the numbers jump', async () => {
    const { id } = hookOf(await user.post('/v1/webhooks', { url }));
    await addEvents(user, 1, 5);
    const last = 5 + eventLimits.restoredStep;
    await addEvents(user, last, last);
    await api
      .db('webhooks')
      .where({ id })
      .update({ state: 'enabled', enabled_at: new Date(), cursor_seq: last });
    assert.equal((await user.post(`/v1/webhooks/${id}/redeliver`, { afterSeq: 3 })).status, 200);
    assert.equal((await api.db('webhooks').where({ id }).first())?.cursor_seq, 3);
  });

  it('send at most so many events again at once, and only so often', async () => {
    const { redeliveredAtOnce, redeliveriesPerHour } = webhookLimits;
    const often = await api.signIn();
    const { id } = hookOf(await often.post('/v1/webhooks', { url }));
    const cursor = { cursor_seq: redeliveredAtOnce + 7 };
    await api
      .db('webhooks')
      .where({ id })
      .update({ state: 'enabled', enabled_at: new Date(), ...cursor });
    await addEvents(often, 1, redeliveredAtOnce + 7);
    const again = (afterSeq: number) => often.post(`/v1/webhooks/${id}/redeliver`, { afterSeq });
    const tooMany = await again(6);
    assert.deepEqual([tooMany.status, tooMany.body.error], [400, 'validation_failed']);
    assert.match(JSON.stringify(tooMany.body.details), /at least 7: we resend at most 10000 events/);
    assert.equal((await api.db('webhooks').where({ id }).first())?.cursor_seq, cursor.cursor_seq);
    assert.equal((await again(7)).status, 200);
    // The limit is the user's, whatever the endpoint and the outcome.
    for (let asked = 2; asked < redeliveriesPerHour; asked += 1) await again(8);
    const refused = await again(7);
    assert.deepEqual([refused.status, refused.body.error], [429, 'rate_limited']);
    assert.match(JSON.stringify(refused.body.details), /"retryAfterSeconds":3[56]\d\d/);
    assert.equal((await user.post(`/v1/webhooks/${id}/redeliver`, { afterSeq: 7 })).status, 404);
  });

  it('take pings and redeliveries only while they are enabled', async () => {
    const { id } = hookOf(await user.post('/v1/webhooks', { url }));
    const pending = await user.post(`/v1/webhooks/${id}/redeliver`, { afterSeq: 0 });
    assert.deepEqual(
      [pending.status, pending.body.error, pending.body.details],
      [409, 'webhook_not_enabled', { state: 'pending' }],
    );
    await api
      .db('webhooks')
      .where({ id })
      .update({ state: 'enabled', enabled_at: new Date(), cursor_seq: 7 });
    assert.equal((await user.post(`/v1/webhooks/${id}/redeliver`, { afterSeq: 8 })).status, 400);
    assert.equal((await user.post(`/v1/webhooks/${id}/redeliver`, { afterSeq: -1 })).status, 400);
    assert.deepEqual((await user.post(`/v1/webhooks/${id}/redeliver`, { afterSeq: 3 })).body, {
      ok: true,
      afterSeq: 3,
    });
    const row = await api.db('webhooks').where({ id }).first();
    assert.equal(row!.cursor_seq, 3);
    assert.ok(row!.due_at);
    assert.deepEqual((await user.post(`/v1/webhooks/${id}/ping`)).body, { ok: true });
    assert.deepEqual((await told()).at(-1), ['webhook.ping', {}]);
  });

  it('have at most two secrets, however often they are rotated', async () => {
    const { id } = hookOf(await user.post('/v1/webhooks', { url }));
    const secrets: string[] = [];
    for (let times = 0; times < 3; times += 1)
      secrets.push(hookOf(await user.post(`/v1/webhooks/${id}/rotate-secret`)).secret);
    const rows = await api.db('webhook_secrets').where({ webhook_id: id }).orderBy('no', 'desc');
    assert.deepEqual(
      rows.map(({ sealed }) => open(sealed, id)),
      [secrets[2], secrets[1]],
    );
    assert.deepEqual(
      rows.map(({ expires_at }) => expires_at === null),
      [true, false],
    );
  });

  it('show their tries page by page, newest first, to their user', async () => {
    const { id } = hookOf(await user.post('/v1/webhooks', { url }));
    const [other] = [hookOf(await user.post('/v1/webhooks', { url }))];
    for (let seq = 1; seq <= 5; seq += 1) await insertTry(id, seq);
    const foreign = await insertTry(other.id, 1);
    const seen: (number | null)[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const query: string = cursor === '' ? '' : `&cursor=${cursor}`;
      const { body } = await user.get(`/v1/webhooks/${id}/deliveries?pageSize=2${query}`);
      const { deliveries } = body as unknown as { deliveries: ReturnType<typeof presentDelivery>[] };
      seen.push(...deliveries.map(({ seq }) => seq));
      cursor = body.nextCursor;
    }
    assert.deepEqual(seen, [5, 4, 3, 2, 1]);
    const cursor = Buffer.from(JSON.stringify([foreign])).toString('base64url');
    assert.equal((await user.get(`/v1/webhooks/${id}/deliveries?cursor=${cursor}`)).status, 400);
  });

  async function insertTry(webhookId: WebhookId, seq: number): Promise<string> {
    const id = newId('dlv');
    const try1 = { attempt: 1, outcome: 'failed', http_status: 500, fault: null, duration_ms: 12 } as const;
    await api
      .db('webhook_deliveries')
      .insert({ id, webhook_id: webhookId, event_id: newId('evt'), seq, type: 'card.saved', ...try1 });
    return id;
  }

  describe('outside the lab', () => {
    let strict: TestApi;
    before(async () => {
      const rules = { allowPrivate: false, ownHosts: ['api.example.com'] };
      strict = await startApi({ settings: { webhooks: { publicKey: sealingKeys.publicKey, ...rules } } });
    });
    after(() => strict.stop());

    for (const [address, why] of [
      ['http://example.com/', /must begin with https/],
      ['https://example.com:8443/', /must use port 443/],
      ['https://127.0.0.1/', /must point to a public address/],
      ['https://2130706433/', /must point to a public address/],
      ['https://169.254.169.254/latest/meta-data', /must point to a public address/],
      ['https://10.0.0.1/', /must point to a public address/],
      ['https://[::1]/', /must point to a public address/],
      ['https://[::ffff:192.168.0.1]/', /must point to a public address/],
      ['https://[fe80::1]/', /must point to a public address/],
      ['https://api.example.com/v1/webhooks', /must not be an address of this service/],
    ] as const) {
      it(`are not at ${address}`, async () => {
        const person = await strict.signIn();
        const [status, error, message] = faultOf(await person.post('/v1/webhooks', { url: address }));
        assert.deepEqual([status, error], [400, 'validation_failed']);
        assert.match(String(message), why);
      });
    }
  });

  it('are refused where no key is set, and nothing else is', async () => {
    const without = await startApi({
      settings: { webhooks: { publicKey: '', allowPrivate: true, ownHosts: [] } },
    });
    const person = await without.signIn();
    const refused = await person.post('/v1/webhooks', { url });
    assert.deepEqual([refused.status, refused.body.error], [400, 'webhooks_disabled']);
    assert.deepEqual((await person.get('/v1/webhooks')).body, { webhooks: [] });
    await without.stop();
  });
});
