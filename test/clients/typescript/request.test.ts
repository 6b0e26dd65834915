import assert from 'node:assert/strict';
import { ConnectionError, GpuRental, isApiError } from '@gpu-rental/client';
import { dies, refusal, ScriptedApi } from './support/scripted-api.js';

/** A route that is called by its path. */
describe('request of the typed client', () => {
  let api: ScriptedApi;
  let gpu: GpuRental;

  before(async () => {
    api = await ScriptedApi.start();
  });
  after(() => api.stop());
  beforeEach(() => {
    gpu = new GpuRental({ baseUrl: `${api.url}/gpu`, apiKey: 'gpur_1', pauseMs: 1 });
  });
  afterEach(() => assert.deepEqual([api.left, api.unforeseen], [0, 0]));

  it('sends what it is given as who the client is, and gives the answer as it came', async () => {
    api.script({ status: 200, body: { id: 'x' } });
    const asked = { method: 'PATCH', path: '/v1/news/1?a=b', body: { name: 'new' }, idempotencyKey: 'mine' };
    const strict = new GpuRental({
      baseUrl: `${api.url}/gpu`,
      apiKey: 'gpur_1',
      onAnswer: () => assert.fail(),
    });
    assert.deepEqual(await (await strict.request(asked)).json(), { id: 'x' });
    const [{ method, path, headers, body } = assert.fail()] = api.arrived;
    assert.deepEqual([method, path, body], ['PATCH', '/gpu/v1/news/1?a=b', '{"name":"new"}']);
    assert.deepEqual(
      [headers['authorization'], headers['content-type'], headers['idempotency-key']],
      ['Bearer gpur_1', 'application/json', 'mine'],
    );
    api.script({ status: 200, body: 'id,cents\n', headers: { 'Content-Type': 'text/csv' } });
    const csv = await gpu.request({ method: 'GET', path: '/v1/news.csv' });
    assert.deepEqual([csv.headers.get('content-type'), await csv.text()], ['text/csv', 'id,cents\n']);
    assert.equal(api.arrived[0]?.headers['content-type'], undefined, 'there is no body');
    const bytes = Buffer.from([0x50, 0x4b, 0xff, 0x00, 0xc3]);
    api.script((response) => response.writeHead(200, { 'Content-Type': 'application/zip' }).end(bytes));
    const zip = await gpu.request({ method: 'GET', path: '/v1/news.zip' });
    assert.deepEqual(Buffer.from(await zip.arrayBuffer()), bytes);
  });

  it('reads again what failed, and sends a change again only where it was not begun', async () => {
    api.script(dies, refusal(500, 'internal_error'), { status: 200, body: {} });
    await gpu.request({ method: 'GET', path: '/v1/news' });
    api.script(refusal(503, 'temporarily_unavailable', { outcome: 'not_done' }), dies);
    await assert.rejects(gpu.request({ method: 'POST', path: '/v1/news' }), ConnectionError);
  });

  it('throws what the API refused', async () => {
    api.script(refusal(409, 'quote_expired'));
    await assert.rejects(gpu.request({ method: 'POST', path: '/v1/news' }), (error) =>
      isApiError(error, 'quote_expired'),
    );
    api.script({ status: 502, body: '{"error', headers: { 'Content-Type': 'application/json' } });
    await assert.rejects(gpu.request({ method: 'POST', path: '/v1/news' }), { status: 502 });
  });

  it('asks nothing beside the API', async () => {
    for (const path of [
      '@example.com/',
      '/../other',
      '/%2e%2e/other',
      '\\..\\other',
      'v1/rentals',
      '/v1/../..',
    ]) {
      await assert.rejects(gpu.request({ method: 'GET', path }), TypeError, path);
    }
  });
});
