import assert from 'node:assert/strict';
import { newId } from '../../../adapters/ids.js';
import { publicKeyOf } from '../../../adapters/sealed-secrets.js';
import type { WebhookId } from '../../../domain/ids.js';
import { sealingKeys, startApi, type SignedIn, type TestApi } from '../../support/http/api.js';
import { runOps, type OpsResult } from '../../support/ops/ops.js';

describe('ops endpoints', () => {
  let api: TestApi;
  let user: SignedIn;
  let id: WebhookId;
  /** What nobody may read: the secrets of the endpoint, and what they are sealed as. */
  const secrets: string[] = [];
  const printed: string[] = [];
  before(async () => {
    api = await startApi();
    user = await api.signIn();
    const { body } = await user.post('/v1/webhooks', {
      url: 'https://hooks.example.com/gpu',
      types: ['rental.running', 'card.saved'],
    });
    id = body.id as WebhookId;
    const { body: rotated } = await user.post(`/v1/webhooks/${id}/rotate-secret`);
    const sealed = await api.db('webhook_secrets').where({ webhook_id: id }).select('sealed');
    assert.equal(sealed.length, 2);
    secrets.push(...[body, rotated].map((each) => (each as unknown as { secret: string }).secret.slice(6)));
    secrets.push(...sealed.flatMap(({ sealed: kept }) => [kept.toString('hex'), kept.toString('base64')]));
    // Buffers print as lists of bytes in JSON.
    secrets.push(...sealed.map(({ sealed: kept }) => [...kept].join()));
  });
  after(() => api.stop());

  // Nobody listens at Temporal's address: these commands do not need it.
  async function ops(...args: string[]): Promise<OpsResult> {
    const result = await runOps({ databaseUrl: api.databaseUrl }, 'endpoints', ...args);
    printed.push(result.out, result.err);
    return result;
  }

  async function tried(columns: object): Promise<void> {
    await api.db('webhook_deliveries').insert({
      ...{ id: newId('dlv'), webhook_id: id, event_id: newId('evt'), type: 'card.saved', duration_ms: 12 },
      ...{ seq: 3, attempt: 1, outcome: 'failed', http_status: 500, fault: null },
      ...columns,
    });
  }

  it('lists the endpoints of one user by address or id, oldest first', async () => {
    assert.equal((await ops('list', (await api.signIn()).user.id)).out, 'Nothing.\n');
    const second = await user.post('/v1/webhooks', { url: 'https://hooks.example.com/second' });
    const gone = await user.post('/v1/webhooks', { url: 'https://hooks.example.com/gone' });
    assert.equal((await user.delete(`/v1/webhooks/${gone.body.id}`)).status, 200);
    for (const who of [user.user.id, user.user.email.toUpperCase()]) {
      assert.deepEqual((await ops('list', who)).out.split('\n'), [
        `${id}  pending  https://hooks.example.com/gpu`,
        `${second.body.id}  pending  https://hooks.example.com/second`,
        '',
      ]);
    }
    const { out } = await ops('list', user.user.id, '--json');
    const listed = out
      .trim()
      .split('\n')
      .flatMap((line) => JSON.parse(line) as { id: string } | { id: string }[]);
    assert.deepEqual(
      listed.map((each) => each.id),
      [id, second.body.id],
    );
    const nobody = await ops('list', 'nobody@example.com');
    assert.deepEqual([nobody.code, nobody.err.includes('There is no user nobody@example.com')], [2, true]);
  });

  it('shows how an endpoint stands, and its last tries, newest first', async () => {
    await tried({ at: new Date('2026-11-01T10:00:00Z') });
    await tried({ at: new Date('2026-11-01T10:00:05Z'), attempt: 2, http_status: null, fault: 'timeout' });
    await api
      .db('webhooks')
      .where({ id })
      .update({
        ...{
          state: 'enabled',
          enabled_at: new Date(),
          cursor_seq: 2,
          due_at: new Date('2026-11-01T10:00:15Z'),
        },
        ...{ failures: 2, failing_since: new Date('2026-11-01T10:00:00Z') },
      });
    const { out } = await ops('show', id);
    assert.match(
      out,
      new RegExp(
        `^webhook +${id}  enabled  https://hooks.example.com/gpu  2 tries failed since 2026-11-01T10:00:00`,
        'm',
      ),
    );
    assert.match(out, new RegExp(`^user +${user.user.id}$`, 'm'));
    assert.match(out, /^types +rental\.running card\.saved$/m);
    assert.match(out, new RegExp(`^workflow +http://127.0.0.1:8233/.*webhook.*${id}`, 'm'));
    assert.match(out, /^next +due 2026-11-01T10:00:15\S*, after event 2$/m);
    assert.match(
      out,
      /10:00:05\S* +card\.saved 3 try 2: failed timeout 12 ms\n.*10:00:00\S* +card\.saved 3 try 1: failed 500 12 ms$/m,
    );
    const last = (await ops('show', id, '--limit', '1')).out;
    assert.deepEqual([last.includes('try 2'), last.includes('try 1')], [true, false]);
    const shown = JSON.parse((await ops('show', id, '--json')).out) as {
      id: string;
      tries: { attempt: number }[];
    };
    assert.deepEqual([shown.id, shown.tries.map(({ attempt }) => attempt)], [id, [2, 1]]);
  });

  it('shows why and since when an endpoint is switched off, and none that is not there', async () => {
    await api
      .db('webhooks')
      .where({ id })
      .update({
        ...{ state: 'switched_off', switched_off_at: new Date('2026-11-04T10:00:00Z'), due_at: null },
        ...{ switched_off_why: 'no_success', types: [] },
      });
    const { out } = await ops('show', id);
    assert.match(out, / {2}switched_off {2}since 2026-11-04T10:00:00\S*: no_success {2}https:/);
    assert.match(out, /^types +all that need not be named$/m);
    assert.doesNotMatch(out, /^next/m);
    for (const other of [newId('wh'), user.user.id, 'wh_1']) {
      const { code, err } = await ops('show', other);
      assert.deepEqual(
        [code, err.includes(`There is no webhook ${other}: see ops endpoints list.`)],
        [2, true],
      );
    }
  });

  it('makes a new pair of keys each time, which seal and open', async () => {
    const pairs = await Promise.all(
      [1, 2].map(async () => JSON.parse((await ops('keys', '--json')).out) as typeof sealingKeys),
    );
    for (const { publicKey, privateKey } of pairs) assert.equal(publicKeyOf(privateKey), publicKey);
    assert.notEqual(pairs[0]!.privateKey, pairs[1]!.privateKey);
    const { out } = await ops('keys');
    const [, publicKey, privateKey] = /^WEBHOOK_PUBLIC_KEY +(\S+)\nWEBHOOK_PRIVATE_KEYS +(\S+)\n$/.exec(out)!;
    assert.equal(publicKeyOf(privateKey!), publicKey);
  });

  it('prints no secret of an endpoint, open or sealed, in whatever form', () => {
    assert.ok(printed.length > 20);
    const known = [...secrets, sealingKeys.privateKey];
    assert.equal(known.length, 9);
    for (const text of printed) {
      assert.ok(!text.includes('whsec_') && !text.includes('sealed'));
      for (const secret of known) assert.ok(!text.replaceAll(/\s/g, '').includes(secret));
    }
  });

  it('has no right to read what is sealed', async () => {
    await assert.rejects(
      api.db.transaction(async (trx) => {
        await trx.raw('set local role gpu_rental_ops');
        await trx('webhook_secrets').select('sealed');
      }),
      /permission denied/,
    );
  });
});
