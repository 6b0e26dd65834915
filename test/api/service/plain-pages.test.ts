import assert from 'node:assert/strict';
import { startApi, type TestApi } from '../../support/http/api.js';

describe('the plain pages', () => {
  let api: TestApi;
  before(async () => {
    api = await startApi();
  });
  after(() => api.stop());

  async function page(path: string): Promise<string> {
    const { status, headers, body } = await api.stranger().get(path);
    assert.equal(status, 200);
    assert.equal(headers.get('content-type'), 'text/html; charset=utf-8');
    const policy = headers.get('content-security-policy') ?? '';
    assert.match(policy, /^default-src 'none'/);
    assert.ok(!policy.includes('script-src'), 'no script runs');
    return body as unknown as string;
  }

  it('GET / leads to the documentation, which is there', async () => {
    const links = [...(await page('/')).matchAll(/href="([^"]+)"/g)].map(([, link = '']) => link);
    assert.deepEqual(links, ['/docs', '/v1/openapi.json']);
    for (const link of links) assert.equal((await api.stranger().get(link)).status, 200);
  });

  it('GET /app/billing tells what the payment page says of itself, and where the balance is', async () => {
    assert.match(await page('/app/billing?session=success'), /credited within seconds/);
    assert.match(await page('/app/billing?session=cancel'), /You were not charged/);
    assert.match(await page('/app/billing'), /\/v1\/billing\/balance/);
  });

  it('shows nothing of what an address says', async () => {
    assert.ok(!(await page('/app/billing?session=%3Cscript%3Ex')).includes('script'));
  });
});
