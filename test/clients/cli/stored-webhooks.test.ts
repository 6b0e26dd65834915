import assert from 'node:assert/strict';
import type { Webhook } from '@gpu-rental/client';
import { exitCodes } from '../../../clients/cli/src/exit-codes.js';
import { widthOf } from '../../../clients/cli/src/output/text.js';
import { startMock, type MockServer } from '../../../lab/mock/server.js';
import { until } from '../../support/until.js';
import { GpuUser } from './support/gpu.js';
import { Person } from './support/person.js';

const url = 'https://example.com/hooks';
const secretForm = /whsec_[A-Za-z0-9+/]{43}=/g;

describe('gpu webhooks list, create, rotate, ping, redeliver and delete', () => {
  let mock: MockServer;
  let ann: Person;

  before(async () => {
    mock = await startMock({ port: 0, durations: { cardMs: 1 } });
  });
  after(() => mock.stop());
  beforeEach(async () => {
    ann = await Person.at(mock);
  });

  const stored = async (): Promise<Webhook[]> =>
    (await ann.json<{ webhooks: Webhook[] }>('webhooks list')).webhooks;

  /** Makes one that has answered its challenge. */
  async function created(more = ''): Promise<Webhook> {
    const { code, err } = await ann.withCode(`webhooks create ${url}${more}`);
    assert.equal(code, 0, err);
    await until('it is enabled', async () => (await stored()).every(({ state }) => state === 'enabled'));
    return (await stored()).at(-1) ?? assert.fail();
  }

  it('create makes one, and shows its secret once, there', async () => {
    const line = `webhooks create ${url} --types rental.running,rental.stopped --description ci`;
    const { code, out, err } = await ann.withCode(line);
    assert.equal(code, 0, err);
    assert.match(err, /^To create a webhook, confirm that it’s you\.\nWe emailed a code to /);
    const [secret = ''] = out.split('\n');
    assert.equal(secret.replace(secretForm, ''), '', 'the first line is the secret alone');
    assert.equal(out.match(secretForm)?.length, 1);
    assert.match(
      out,
      /\n\nAddress +https:\/\/example\.com\/hooks\nTypes +rental\.running and 1 more\nState +waits for/,
    );
    assert.match(out, /\nId +wh_\w{26}\n\nSave the secret now: it is not shown again\.\n$/);
    const [webhook] = await stored();
    assert.deepEqual([webhook?.types, webhook?.description], [['rental.running', 'rental.stopped'], 'ci']);
    const json = await ann.withCode(`webhooks create ${url}/2 --json`);
    assert.match((JSON.parse(json.out) as { secret: string }).secret, secretForm);
    for (const later of ['webhooks list', 'webhooks list --json'])
      assert.doesNotMatch((await ann.type(later)).out, /whsec_/);
  });

  it('list shows where they stand, in terminals of 40 and 100 columns', async () => {
    assert.equal(
      (await ann.type('webhooks list')).out,
      'You have no webhooks. Create one with: gpu webhooks create\n',
    );
    await created();
    const wide = await ann.type('webhooks list', { columns: 140 });
    assert.match(
      wide.out,
      /^ADDRESS +STATE +TYPES +LAST TAKEN +ID\nhttps:\/\/example\.com\/hooks +enabled +all +\d+ s ago +wh_/,
    );
    const failing: typeof fetch = async (input, init) => {
      const response = await fetch(input, init);
      const { webhooks } = (await response.json()) as { webhooks: object[] };
      const states = [
        { failingSince: '2026-11-01T08:00:00.000Z' },
        { state: 'pending' },
        { state: 'switched_off', switchedOffReason: 'gone' },
        { state: 'switched_off', switchedOffReason: 'newer_word' },
      ];
      return Response.json({ webhooks: states.map((state) => ({ ...webhooks[0], ...state })) });
    };
    const { out } = await ann.type('webhooks list', { fetch: failing });
    assert.match(
      out,
      / fails since 2026-.*\n.* waits for its challenge .*\n.* off: it answered 410 .*\n.* newer word /,
    );
    for (const columns of [40, 100]) {
      for (const line of ['webhooks list', 'webhooks --help']) {
        const ran = await ann.type(line, { columns });
        assert.deepEqual(
          ran.out.split('\n').filter((each) => widthOf(each) > columns),
          [],
          line,
        );
      }
    }
  });

  it('rotate shows the new secret once, and until when the old one holds', async () => {
    const { id } = await created();
    const { code, out, err } = await ann.withCode(`webhooks rotate ${url}`);
    assert.equal(code, 0, err);
    assert.equal(out.match(secretForm)?.length, 1);
    assert.match(
      out,
      new RegExp(String.raw`\nOld secret +valid until \d{4}-\d\d-\d\d \d\d:\d\d\nId +${id}\n`),
    );
  });

  it('ping and redeliver send, and delete ends', async () => {
    const { id } = await created();
    const ping = await ann.withCode(`webhooks ping ${id.slice(-6).toLowerCase()}`);
    assert.equal(ping.out, `A webhook.ping is on its way to ${url}.\n`, ping.err);
    const { body } = await ann.elsewhere.get(`/v1/webhooks/${id}/deliveries`);
    const { deliveries } = body as unknown as { deliveries: [{ type: string; seq: number }] };
    assert.equal(deliveries[0].type, 'webhook.ping');
    const again = await ann.withCode(`webhooks redeliver ${url} --after 0`);
    assert.equal(again.out, `All events after 0 are on their way to ${url} once more.\n`, again.err);
    const json = await ann.withCode(`webhooks redeliver ${id} --after 1 --json`);
    assert.deepEqual(JSON.parse(json.out), { id, afterSeq: 1 });
    const tooFar = await ann.withCode(`webhooks redeliver ${id} --after 99`);
    assert.equal(tooFar.code, exitCodes.usage);
    const now = (await ann.elsewhere.get(`/v1/webhooks/${id}`)).body as unknown as { deliveredSeq: number };
    // The session that the code has begun ended after the refusal, which is an event.
    const most = now.deliveredSeq - 1;
    assert.ok(most >= deliveries[0].seq);
    assert.match(
      tooFar.err,
      new RegExp(`--after must be at most ${most}: later events are still on their way\\.`),
    );
    const gone = await ann.withCode(`webhooks delete ${id}`);
    assert.equal(gone.out, `Deleted ${url}.\n`, gone.err);
    assert.deepEqual(await stored(), []);
  });

  it('names a secret that nobody saw, and leads to another one', async () => {
    const lost: typeof fetch = async (input, init) => {
      const request = new Request(input, init);
      const response = await fetch(request);
      if (request.method !== 'POST' || !/webhooks(\/.*)?$/.test(request.url)) return response;
      throw Object.assign(new TypeError('fetch failed'), { cause: { code: 'ECONNRESET' } });
    };
    const made = await ann.withCode(`webhooks create ${url} --json`, { fetch: lost });
    assert.equal(made.code, exitCodes.committed, made.err);
    assert.match(
      made.err,
      /"next": "Check with: gpu webhooks list\. If it is there, get a secret with: gpu webhooks rotate"/,
    );
    const [webhook] = await stored();
    const rotated = await ann.withCode(`webhooks rotate ${url} --json`, { fetch: lost });
    assert.equal(rotated.code, exitCodes.committed);
    assert.ok(rotated.err.includes(`"webhookId": "${webhook?.id}"`), rotated.err);
    assert.match(rotated.err, /Rotate it again: gpu webhooks rotate .*the secret in use stops at once/);
  });

  it('finds one by its address only when it is the only one there', async () => {
    const ids = [(await created()).id, (await created()).id];
    const { code, err } = await ann.withCode(`webhooks ping ${url}`, { columns: 200 });
    assert.equal(code, exitCodes.usage);
    for (const id of ids) assert.ok(err.includes(id), err);
    const unknown = await ann.withCode('webhooks delete https://example.com/other');
    assert.equal(unknown.code, exitCodes.notFound);
    assert.match(unknown.err, /See them with: gpu webhooks list\n/);
  });

  it('refuses what is wrong, and what no key may do, before anything is changed', async () => {
    const wrong = ['create', `create ${url} --types none`, 'create nowhere', 'redeliver x', 'rotate'];
    for (const line of wrong) {
      const { code, out, err } = await ann.withCode(`webhooks ${line}`);
      assert.deepEqual([code, out], [exitCodes.usage, ''], `${line}: ${err}`);
    }
    for (const line of [`create ${url}`, 'rotate x', 'ping x', 'redeliver x --after 1', 'delete x']) {
      const { code, out, err } = await ann.type(`webhooks ${line}`);
      assert.deepEqual([code, out], [exitCodes.refused, ''], line);
      assert.match(err, /^To .*, confirm that it’s you\.\nRun it in a terminal/, line);
    }
    assert.deepEqual(await stored(), []);
    const asked = { name: 'spender', scopes: ['billing'] };
    const { key } = (await ann.elsewhere.post('/v1/api-keys', asked)).body as unknown as { key: string };
    const { code, err } = await new GpuUser(mock.url, key).type('webhooks list');
    assert.equal(code, exitCodes.refused);
    assert.match(err, /^This needs an API key with the scope read\./);
  });
});
