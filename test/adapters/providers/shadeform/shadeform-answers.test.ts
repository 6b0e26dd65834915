import assert from 'node:assert/strict';
import type { Provider, ProviderError, ProviderErrorKind } from '../../../../adapters/providers/provider.js';
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
  offerId: 'lambda/H100_sxm5/us-south-1',
  gpuCount: 1,
  templateId: 'ubuntu-24-04',
  maxPricePerHourCents: 329,
  publicKeys: [],
  endBy: null,
};

describe('the Shadeform adapter: the kind of each failure', () => {
  let upstream: ScriptedUpstream;
  let provider: Provider;
  let handlers: ScriptedUpstream['handlers'];
  let asked: readonly string[];
  beforeEach(async () => {
    upstream = await startScriptedUpstream();
    ({ provider, handlers, asked } = upstream);
  });
  afterEach(() => upstream.stop());
  const patient = (handler: Handler): Provider => (handler === silence ? upstream.hasty : provider);

  const creates: [string, Handler, ProviderErrorKind][] = [
    ['400', json(400, { error: 'x' }), 'no_capacity'],
    ['401', json(401, { error: 'x' }), 'refused'],
    ['402', json(402, { error: 'x' }), 'refused'],
    ['403', json(403, { error: 'x' }), 'refused'],
    ['404', json(404, { error: 'x' }), 'no_capacity'],
    ['405', json(405, {}), 'refused'],
    ['408', json(408, {}), 'unknown'],
    ['409', json(409, { error: 'x' }), 'no_capacity'],
    ['410', json(410, {}), 'no_capacity'],
    ['409 for want of money', json(409, { error_code: 'INSUFFICIENT_FUNDS', error: 'x' }), 'refused'],
    ['409 of a machine that was made', json(409, { error: 'x', id: 'pod-1' }), 'unknown'],
    ['422', json(422, {}), 'refused'],
    ['429', json(429, {}), 'rate_limited'],
    ['a redirect', json(307, {}, { location: 'http://127.0.0.1:1/' }), 'refused'],
    ['500', json(500, {}), 'unknown'],
    ['502 in HTML', text(502, '<html>Bad gateway</html>'), 'unknown'],
    ['503', json(503, {}), 'unknown'],
    ['a success without an id', json(200, {}), 'unknown'],
    ['a success in HTML', text(200, '<html></html>'), 'unknown'],
    ['a broken connection', (response) => response.destroy(), 'unknown'],
    ['half an answer', halfAnAnswer, 'unknown'],
    ['silence', silence, 'unknown'],
  ];
  for (const [what, handler, kind] of creates) {
    it(`sorts ${what} at create as ${kind}, and creates once`, async () => {
      handlers['POST /v1/instances/create'] = handler;
      await assert.rejects(patient(handler).allocate(REQUEST), (error) => isOfKind(error, kind));
      assert.equal(asked.filter((path) => path === 'POST /v1/instances/create').length, 1);
    });
  }

  const keys: [string, Handler, ProviderErrorKind][] = [
    ['401', json(401, {}), 'refused'],
    ['429', json(429, {}), 'rate_limited'],
    ['500', json(500, {}), 'refused'],
    ['silence', silence, 'refused'],
    ['a broken connection', (response) => response.destroy(), 'refused'],
    ['a success without an id', json(200, {}), 'refused'],
  ];
  for (const [what, handler, kind] of keys) {
    it(`sorts ${what} at registering the key as ${kind}: nothing was bought`, async () => {
      handlers['POST /v1/sshkeys/add'] = handler;
      await assert.rejects(patient(handler).allocate(REQUEST), (error) => isOfKind(error, kind));
      assert.ok(!asked.includes('POST /v1/instances/create'));
    });
  }

  it('gives the id that an error names', async () => {
    handlers['POST /v1/instances/create'] = json(500, { id: 'made-after-all' });
    await assert.rejects(provider.allocate(REQUEST), (error: ProviderError) => {
      assert.equal(error.details.podId, 'made-after-all');
      return true;
    });
  });

  for (const [header, retryAfterMs] of [
    ['7', 7_000],
    [null, 5_000],
    ['soon', 5_000],
    ['Thu, 01 Jan 1970 00:00:00 GMT', 0],
  ] as const) {
    it(`reads Retry-After ${String(header)}`, async () => {
      handlers['POST /v1/instances/create'] = json(429, {}, header === null ? {} : { 'retry-after': header });
      await assert.rejects(provider.allocate(REQUEST), (error: ProviderError) => {
        assert.equal(error.details.retryAfterMs, retryAfterMs);
        return true;
      });
    });
  }

  it('succeeds without a price when it can’t be read back', async () => {
    handlers['POST /v1/instances/create'] = json(200, { id: 'pod-1' });
    for (const handler of [
      json(404, {}),
      json(500, {}),
      json(200, { hourly_price: 'much' }),
      () => undefined,
    ]) {
      handlers['GET /v1/instances/pod-1/info'] = handler;
      assert.deepEqual(await patient(handler).allocate(REQUEST), { podId: 'pod-1', pricePerHourCents: null });
    }
  });

  it('takes the price from the create’s own answer, rounded up, and asks no further', async () => {
    handlers['POST /v1/instances/create'] = json(200, { id: 'pod-1', hourly_price: 154.84 });
    assert.deepEqual(await provider.allocate(REQUEST), { podId: 'pod-1', pricePerHourCents: 155 });
    assert.ok(!asked.includes('GET /v1/instances/pod-1/info'));
  });

  it('repeats a read whose connection broke, and then tells unknown', async () => {
    handlers['GET /v1/instances'] = (response) => response.destroy();
    await assert.rejects(provider.listPods(), (error) => isOfKind(error, 'unknown'));
    assert.equal(asked.length, 2);
  });

  const ends: [string, Handler, ProviderErrorKind | null][] = [
    ['200', json(200, {}), null],
    ['404', json(404, {}), null],
    ['410', json(410, {}), null],
    ['401', json(401, {}), 'refused'],
    ['409', json(409, {}), 'unknown'],
    ['429', json(429, {}), 'rate_limited'],
    ['500', json(500, {}), 'unknown'],
    ['silence', silence, 'unknown'],
  ];
  for (const [what, handler, kind] of ends) {
    it(`sorts ${what} at ending a pod as ${kind ?? 'done'}`, async () => {
      handlers['POST /v1/instances/pod-1/delete'] = handler;
      const ended = patient(handler).terminate('pod-1');
      if (kind === null) await ended;
      else await assert.rejects(ended, (error) => isOfKind(error, kind));
    });
  }

  it('sweeps old keys without a pod, and no others', async () => {
    const hourAgo = Math.floor(Date.now() / 1000) - 3_700;
    const now = Math.floor(Date.now() / 1000);
    const named = (id: string, name: string): unknown => ({ id, name, public_key: 'k', is_default: false });
    handlers['GET /v1/instances'] = json(200, {
      instances: [{ id: 'p', name: 'test-living', status: 'active' }],
    });
    handlers['GET /v1/sshkeys'] = json(200, {
      ssh_keys: [
        named('abandoned', `test-gone@${hourAgo}`),
        named('living', `test-living@${hourAgo}`),
        named('young', `test-new@${now}`),
        named('by-hand', 'test-laptop'),
        named('foreign', `other-gone@${hourAgo}`),
      ],
    });
    const swept = new Promise<string>((resolve) => {
      handlers['POST /v1/sshkeys/abandoned/delete'] = (response, path, query) => {
        json(200, {})(response, path, query);
        resolve(path);
      };
    });
    handlers['POST /v1/instances/pod-1/delete'] = json(200, {});
    await provider.terminate('pod-1');
    await swept;
    await provider.terminate('pod-1');
    assert.equal(asked.filter((path) => path.startsWith('POST /v1/sshkeys/')).length, 1);
  });
});
