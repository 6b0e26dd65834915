import assert from 'node:assert/strict';
import type { Provider, ProviderError, ProviderErrorKind } from '../../../../adapters/providers/provider.js';
import { fieldsOf } from '../../../../adapters/providers/upstream/fields.js';
import { newRenterKey } from '../../../lab/provider/living-lab.js';
import {
  halfAnAnswer,
  isOfKind,
  json,
  silence,
  startScriptedUpstream,
  text,
  type Handler,
  type ScriptedUpstream,
} from '../upstream/scripted-upstream.js';

const REQUEST = {
  tag: 'test-rent-1',
  offerId: 'SECURE/NVIDIA A100-SXM4-80GB/8/EU-NL-1',
  gpuCount: 8,
  templateId: 'ubuntu-24-04',
  maxPricePerHourCents: 1512,
  publicKeys: [] as string[],
  endBy: null,
};

const problem = (status: number, headers: Record<string, string> = {}): Handler =>
  json(status, { title: 'x', status, detail: 'the words' }, headers);

describe('the RunPod adapter: what is sent, and the kind of each failure', () => {
  let upstream: ScriptedUpstream;
  let provider: Provider;
  let handlers: ScriptedUpstream['handlers'];
  let asked: readonly string[];
  beforeEach(async () => {
    upstream = await startScriptedUpstream('runpod');
    ({ provider, handlers, asked } = upstream);
  });
  afterEach(() => upstream.stop());
  const patient = (handler: Handler): Provider => (handler === silence ? upstream.hasty : provider);

  it('sends the renter’s bare keys beside a throw-away key, and nothing to the account', async () => {
    const keys = [newRenterKey(), newRenterKey('rsa')];
    handlers['POST /v2/pods'] = json(201, { id: 'pod-1', cost: 15.12 });
    await provider.allocate({ ...REQUEST, publicKeys: keys.map(({ line }) => line) });
    assert.deepEqual(asked, ['POST /v2/pods']);
    const { headers, body } = upstream.sent[0]!;
    assert.equal(headers.authorization, 'Bearer k');
    const lines = String(fieldsOf(fieldsOf(body)['env'])['PUBLIC_KEY']).split('\n');
    assert.match(lines[0]!, /^ssh-ed25519 AAAA[A-Za-z0-9+/]+$/);
    assert.deepEqual(
      lines.slice(1),
      keys.map(({ line }) => line.replace(' me@example.org', '')),
    );
  });

  it('sends a key even for a renter without any: the account’s own are never put in', async () => {
    handlers['POST /v2/pods'] = json(201, { id: 'pod-1', cost: 15.12 });
    await provider.allocate(REQUEST);
    await provider.allocate(REQUEST);
    const sent = upstream.sent.map(({ body }) => fieldsOf(fieldsOf(body)['env'])['PUBLIC_KEY']);
    for (const key of sent) assert.match(String(key), /^ssh-ed25519 AAAA\S+$/);
    assert.notEqual(sent[0], sent[1]);
  });

  it('asks for the very GPUs, data center and image', async () => {
    handlers['POST /v2/pods'] = json(201, { id: 'pod-1', cost: 15.12 });
    await provider.allocate({ ...REQUEST, templateId: 'pytorch' });
    const { env, ...body } = fieldsOf(upstream.sent[0]!.body);
    assert.notEqual(env, undefined);
    assert.deepEqual(body, {
      name: 'test-rent-1',
      image: 'runpod/pytorch:1.0.2-cu1281-torch280-ubuntu2404',
      gpu: { id: 'NVIDIA A100-SXM4-80GB', count: 8, minCudaVersion: '12.8' },
      cloud: 'SECURE',
      dataCenterIds: ['EU-NL-1'],
      ports: ['22/tcp'],
      startSsh: true,
      disk: 50,
    });
  });

  for (const [what, answer, priceCents] of [
    ['its cost', { id: 'pod-1', cost: 1.1 }, 110],
    ['its cost, rounded up', { id: 'pod-1', cost: 15.1201 }, 1513],
    ['no cost', { id: 'pod-1' }, null],
    ['a cost of nothing', { id: 'pod-1', cost: 0 }, null],
    ['a cost in words', { id: 'pod-1', cost: 'much' }, null],
  ] as const) {
    it(`reads a created pod with ${what}`, async () => {
      handlers['POST /v2/pods'] = json(201, answer);
      assert.deepEqual(await provider.allocate(REQUEST), { podId: 'pod-1', pricePerHourCents: priceCents });
    });
  }

  const creates: [string, Handler, ProviderErrorKind][] = [
    ['400', problem(400), 'no_capacity'],
    ['401', problem(401), 'refused'],
    ['402', problem(402), 'refused'],
    ['403', problem(403), 'no_capacity'],
    ['404', problem(404), 'no_capacity'],
    ['405', problem(405), 'refused'],
    ['408', problem(408), 'unknown'],
    ['422', problem(422), 'refused'],
    ['429', problem(429), 'rate_limited'],
    ['a redirect', json(307, {}, { location: 'http://127.0.0.1:1/' }), 'refused'],
    ['500', problem(500), 'unknown'],
    ['502 in HTML', text(502, '<html>Bad gateway</html>'), 'unknown'],
    ['503', problem(503), 'unknown'],
    ['a success without an id', json(201, {}), 'unknown'],
    ['a success in HTML', text(200, '<html></html>'), 'unknown'],
    ['a broken connection', (response) => response.destroy(), 'unknown'],
    ['half an answer', halfAnAnswer, 'unknown'],
    ['silence', silence, 'unknown'],
  ];
  for (const [what, handler, kind] of creates) {
    it(`sorts ${what} at create as ${kind}, and creates once`, async () => {
      handlers['POST /v2/pods'] = handler;
      await assert.rejects(patient(handler).allocate(REQUEST), (error) => isOfKind(error, kind));
      assert.deepEqual(asked, ['POST /v2/pods']);
    });
  }

  it('gives the id that an error names', async () => {
    handlers['POST /v2/pods'] = json(500, { id: 'made-after-all', detail: 'x' });
    await assert.rejects(provider.allocate(REQUEST), (error: ProviderError) => {
      assert.equal(error.details.podId, 'made-after-all');
      return true;
    });
  });

  it('tells operators the upstream’s words, and each violation', async () => {
    handlers['POST /v2/pods'] = json(422, { detail: 'not valid', errors: ['$.disk: too small', '$.x: no'] });
    await assert.rejects(provider.allocate(REQUEST), (error: ProviderError) => {
      assert.match(error.message, /HTTP 422 \(not valid; \$\.disk: too small; \$\.x: no\)$/);
      return true;
    });
  });

  const limited: [string, Record<string, string>, number][] = [
    ['Retry-After', { 'retry-after': '7', ratelimit: '"minute";r=0;t=12' }, 7_000],
    ['the used-up window', { ratelimit: '"minute";r=0;t=12, "hour";r=2800;t=1812' }, 12_000],
    [
      'the last used-up window',
      { ratelimit: '"minute";r=0;t=12, "hour";r=0;t=1812, "day";r=5;t=9' },
      1_812_000,
    ],
    [
      'an unreadable Retry-After and a window',
      { 'retry-after': 'soon', ratelimit: '"minute";t=3;r=0' },
      3_000,
    ],
    ['no used-up window', { ratelimit: '"minute";r=03;t=12, "hour";r=2800;t=1812' }, 5_000],
    ['a window without an end', { ratelimit: '"minute";r=0' }, 5_000],
    ['no header', {}, 5_000],
  ];
  for (const [what, headers, retryAfterMs] of limited) {
    it(`waits ${retryAfterMs} ms for ${what}`, async () => {
      handlers['POST /v2/pods'] = problem(429, headers);
      await assert.rejects(provider.allocate(REQUEST), (error: ProviderError) => {
        assert.equal(error.details.retryAfterMs, retryAfterMs);
        return true;
      });
    });
  }

  for (const [what, change] of Object.entries({
    'a tag without the deployment’s prefix': { tag: 'other-rent-1' },
    'a template that has no image here': { templateId: 'vllm' },
    'an unknown template': { templateId: 'windows' },
    'an offer of the other tier': { offerId: 'COMMUNITY/NVIDIA L4/1/EU-RO-1' },
    'an offer without a data center': { offerId: 'SECURE/NVIDIA L4/1' },
    'an offer without a count': { offerId: 'SECURE/NVIDIA L4/one/EU-RO-1' },
    'an offer of too many parts': { offerId: 'SECURE/NVIDIA L4/1/EU-RO-1/x' },
    'a key of two lines': { publicKeys: [`${newRenterKey().line}\nssh-ed25519 AAAA`] },
  })) {
    it(`refuses ${what} before anything is sent`, async () => {
      await assert.rejects(provider.allocate({ ...REQUEST, ...change }), (error) =>
        isOfKind(error, 'refused'),
      );
      assert.deepEqual(asked, []);
    });
  }

  const ends: [string, Handler, ProviderErrorKind | null][] = [
    ['204', (response) => response.writeHead(204).end(), null],
    ['404', problem(404), null],
    ['401', problem(401), 'refused'],
    ['409', problem(409), 'unknown'],
    ['429', problem(429), 'rate_limited'],
    ['500', problem(500), 'unknown'],
    ['silence', silence, 'unknown'],
  ];
  for (const [what, handler, kind] of ends) {
    it(`sorts ${what} at ending a pod as ${kind ?? 'done'}`, async () => {
      handlers['DELETE /v2/pods/pod-1'] = handler;
      const ended = patient(handler).terminate('pod-1');
      if (kind === null) await ended;
      else await assert.rejects(ended, (error) => isOfKind(error, kind));
    });
  }

  it('keeps a strange id inside its path', async () => {
    await provider.terminate('../account/x');
    assert.deepEqual(asked, ['DELETE /v2/pods/..%2Faccount%2Fx']);
  });
});
