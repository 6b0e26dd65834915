import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, brotliDecompressSync, gunzipSync } from 'node:zlib';
import { readDashboard } from '../../../api/service/dashboard/files.js';
import type { ApiSettings } from '../../../api/settings.js';
import { startMock } from '../../../lab/mock/server.js';
import { startApi, type TestApi } from '../../support/http/api.js';
import { askRaw } from '../../support/http/raw.js';

const script = `const text = '${'all that a page does. '.repeat(200)}';\n`;
const made: Record<string, string> = {
  'index.html': '<!doctype html><title>The pages</title>',
  'card.html': '<!doctype html><title>The card</title>',
  'theme.js': 'document.documentElement.dataset.theme = "dark";',
  'favicon.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>',
  'notes.unknown': 'of a type that nobody serves',
  '.built': 'what it was built of',
  '.vite/manifest.json': '{}',
  '.hidden.js': 'not ours',
  'assets/main-a1b2.js': script,
  'assets/main-c3d4.css': 'body{margin:0}',
};

/** A folder such as the build leaves. */
function makeFolder(files: Record<string, string | Buffer> = made): string {
  const folder = mkdtempSync(join(tmpdir(), 'dashboard-test-'));
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(join(folder, name, '..'), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
  return folder;
}

/** A policy as a table. */
function directives(policy: string): Record<string, string> {
  return Object.fromEntries(
    policy.split('; ').map((directive) => {
      const [name = '', ...values] = directive.split(' ');
      return [name, values.join(' ')];
    }),
  );
}

const billing = { enabled: true, publishableKey: 'pk_test', livemode: false, simulatorUrl: null };

describe('the dashboard, served', () => {
  const folders: string[] = [];
  let api: TestApi;
  before(async () => {
    api = await startWith();
  });
  after(async () => {
    await api.stop();
    for (const folder of folders) rmSync(folder, { recursive: true });
  });

  function startWith(settings: Partial<ApiSettings> = {}): Promise<TestApi> {
    const folder = makeFolder();
    folders.push(folder);
    return startApi({ dashboardFolder: folder, settings: { strangersPerMinute: 3, ...settings } });
  }

  const ask = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    askRaw(api.url, path, headers, method);

  async function policyOf(of: TestApi, path: string): Promise<Record<string, string>> {
    const { status, headers } = await askRaw(of.url, path);
    assert.equal(status, 200, path);
    return directives(String(headers['content-security-policy']));
  }

  it('answers each page’s address with the one document, which is asked for anew each time', async () => {
    for (const path of [
      '/login',
      '/login?error=oauth_denied',
      '/app',
      '/app/',
      '/app/billing?session=success',
      '/app/rentals/rent_01J',
      '/app/%E0%A4%A',
    ]) {
      const { status, headers, bytes } = await ask(path);
      assert.deepEqual([status, bytes.toString()], [200, made['index.html']], path);
      assert.equal(headers['content-type'], 'text/html; charset=utf-8');
      assert.equal(headers['cache-control'], 'no-cache');
      const again = await ask(path, { 'if-none-match': headers.etag ?? '' });
      assert.deepEqual([again.status, again.bytes.length], [304, 0]);
      assert.equal(again.headers['content-security-policy'], headers['content-security-policy']);
    }
  });

  it('answers the card’s address, and no other, with the document of its own', async () => {
    assert.equal((await ask('/app/card?from=billing')).bytes.toString(), made['card.html']);
    for (const path of ['/app/cards', '/app/card/', '/app/billing/card']) {
      assert.equal((await ask(path)).bytes.toString(), made['index.html'], path);
    }
  });

  it('answers assets for good, and the other files anew', async () => {
    const types = {
      js: 'text/javascript; charset=utf-8',
      css: 'text/css; charset=utf-8',
      svg: 'image/svg+xml',
    };
    for (const [name, type, cache] of [
      ['assets/main-a1b2.js', types.js, 'public, max-age=31536000, immutable'],
      ['assets/main-c3d4.css', types.css, 'public, max-age=31536000, immutable'],
      ['theme.js', types.js, 'no-cache'],
      ['favicon.svg', types.svg, 'no-cache'],
    ] as const) {
      const { status, headers, bytes } = await ask(`/app/${name}`);
      assert.deepEqual([status, bytes.toString()], [200, made[name]], name);
      assert.deepEqual([headers['content-type'], headers['cache-control']], [type, cache], name);
      assert.equal(headers['x-content-type-options'], 'nosniff');
    }
  });

  it('compresses what is worth it, with an ETag of each coding', async () => {
    const path = '/app/assets/main-a1b2.js';
    const [plain, br, zipped] = await Promise.all(
      ['', 'br', 'gzip'].map((coding) => ask(path, { 'accept-encoding': coding })),
    );
    assert.ok(plain && br && zipped);
    assert.equal(brotliDecompressSync(br.bytes).toString(), script);
    assert.equal(gunzipSync(zipped.bytes).toString(), script);
    assert.equal(new Set([plain, br, zipped].map(({ headers }) => headers.etag)).size, 3);
    assert.match(String(br.headers.vary), /Accept-Encoding/);
  });

  it('sends what the build compressed as it is', async () => {
    const packed = brotliCompressSync(`${script}// by the build\n`);
    const folder = makeFolder({ ...made, 'assets/main-a1b2.js.br': packed });
    folders.push(folder);
    const other = await startApi({ dashboardFolder: folder });
    try {
      const answer = await askRaw(other.url, '/app/assets/main-a1b2.js', { 'accept-encoding': 'br' });
      assert.deepEqual(answer.bytes, packed);
      assert.equal(answer.headers['content-type'], 'text/javascript; charset=utf-8');
      assert.equal((await askRaw(other.url, '/app/assets/main-a1b2.js.br')).status, 404);
    } finally {
      await other.stop();
    }
  });

  it('answers HEAD as GET, without a body', async () => {
    for (const path of ['/app', '/app/card', '/app/theme.js', '/app/assets/main-a1b2.js']) {
      const [got, head] = await Promise.all([ask(path), ask(path, {}, 'HEAD')]);
      assert.deepEqual([head.status, head.bytes.length], [200, 0], path);
      for (const name of ['content-length', 'content-type', 'etag', 'cache-control'] as const) {
        assert.equal(head.headers[name], got.headers[name]);
      }
    }
    assert.equal((await ask('/app', {}, 'POST')).status, 405);
  });

  it('has nothing but its own files, and never a page in place of one', async () => {
    const outside = join(folders[0]!, '..', 'outside.js');
    writeFileSync(outside, 'secret');
    folders.push(outside);
    for (const path of [
      '/app/assets/main-old.js',
      '/app/assets/',
      '/app/assets/main',
      '/app/assets/../index.html',
      '/app/assets/..%2findex.html',
      '/app/assets/%2e%2e/%2e%2e/outside.js',
      '/app/../../outside.js',
      '/app/..%2f..%2foutside.js',
      '/app/assets/main-a1b2.js%00.css',
      '/app/assets//main-a1b2.js',
      '/app//theme.js',
      '/app/index.html',
      '/app/card.html',
      '/app/.built',
      '/app/.hidden.js',
      '/app/.vite/manifest.json',
      '/app/notes.unknown',
      '/app/main.js',
    ]) {
      const { status, headers, bytes } = await ask(path);
      assert.equal(status, 404, path);
      assert.match(String(headers['content-type']), /^application\/json/);
      assert.ok(!bytes.includes('secret'));
    }
    assert.equal((await ask('/App')).status, 404);
    assert.equal((await ask('/application')).status, 404);
  });

  it('GET / leads to the address that may make changes', async () => {
    const { status, headers } = await ask('/');
    assert.deepEqual(
      [status, headers.location, headers['cache-control']],
      [302, `${api.deps.settings.dashboardUrl}/app`, 'no-store'],
    );
  });

  it('takes no request from anybody’s share, and asks the database nothing', async () => {
    const asked: string[] = [];
    const note = ({ sql }: { sql: string }) => void asked.push(sql);
    api.deps.db.on('query', note);
    for (let turn = 0; turn < 10; turn += 1) {
      for (const path of ['/app', '/app/theme.js', '/app/assets/main-a1b2.js', '/app/nothing.js']) {
        const { status, headers } = await ask(path);
        assert.notEqual(status, 429);
        assert.equal(headers['ratelimit'], undefined);
        assert.equal(headers['set-cookie'], undefined);
      }
    }
    api.deps.db.removeListener('query', note);
    assert.deepEqual(asked, []);
    assert.match(String((await ask('/v1/auth/me')).headers['ratelimit']), /r=2;/);
  });

  it('runs nothing but its own scripts, and talks to its own origin alone', async () => {
    const policy = await policyOf(api, '/app');
    assert.deepEqual(policy, {
      'default-src': "'none'",
      'script-src': "'self'",
      'style-src': "'self'",
      'img-src': "'self'",
      'connect-src': "'self' http://127.0.0.1:8080",
      'base-uri': "'none'",
      'form-action': "'self'",
      'frame-ancestors': "'none'",
      'require-trusted-types-for': "'script'",
      'trusted-types': 'default',
    });
    assert.deepEqual(await policyOf(api, '/login'), policy);
    const { headers } = await ask('/app/theme.js');
    assert.match(String(headers['content-security-policy']), /^default-src 'none'/);
  });

  it('names the API’s origin only where it is another one', async () => {
    const same = await startWith({ dashboardUrl: 'https://gpu.example', publicUrl: 'https://gpu.example' });
    try {
      assert.equal((await policyOf(same, '/app'))['connect-src'], "'self'");
    } finally {
      await same.stop();
    }
  });

  it('names the processor’s hosts on the card’s document alone, and only where it takes cards', async () => {
    const real = await startWith({ billing });
    const simulated = await startWith({ billing: { ...billing, simulatorUrl: 'http://127.0.0.1:9200' } });
    const without = await startWith({ billing: { ...billing, enabled: false } });
    try {
      const policy = await policyOf(real, '/app/card');
      assert.equal(policy['script-src'], "'self' https://js.stripe.com https://*.js.stripe.com");
      assert.equal(
        policy['frame-src'],
        'https://js.stripe.com https://*.js.stripe.com https://hooks.stripe.com',
      );
      assert.match(policy['connect-src'] ?? '', /^'self' .*https:\/\/api\.stripe\.com$/);
      assert.equal(policy['style-src'], "'self'");
      for (const [of, path] of [
        [real, '/app'],
        [real, '/login'],
        [simulated, '/app/card'],
        [without, '/app/card'],
      ] as const) {
        const { headers } = await askRaw(of.url, path);
        assert.ok(!String(headers['content-security-policy']).includes('stripe'), path);
      }
    } finally {
      await Promise.all([real, simulated, without].map((each) => each.stop()));
    }
  });

  it('is served by the mock in the same way, and without a build the plain pages are', async () => {
    const mocks = await Promise.all([
      startMock({ port: 0, dashboardFolder: folders[0] }),
      startMock({ port: 0 }),
    ]);
    const [mock, plain] = mocks;
    try {
      assert.equal((await askRaw(mock.url, '/app/rent')).bytes.toString(), made['index.html']);
      assert.equal((await askRaw(mock.url, '/app/billing')).bytes.toString(), made['index.html']);
      assert.equal((await policyOf({ ...api, url: mock.url }, '/app/card'))['connect-src'], "'self'");
      assert.equal((await askRaw(mock.url, '/')).headers.location, `${mock.url}/app`);
      assert.equal((await askRaw(plain.url, '/app')).status, 404);
      assert.match((await askRaw(plain.url, '/app/billing?session=success')).bytes.toString(), /credited/);
      assert.equal((await askRaw(plain.url, '/')).status, 200);
    } finally {
      await Promise.all(mocks.map((each) => each.stop()));
    }
  });

  it('is there when both documents are', () => {
    const { 'card.html': card = '', ...others } = made;
    const unfinished = makeFolder(others);
    folders.push(unfinished);
    assert.equal(readDashboard(unfinished), undefined);
    writeFileSync(join(unfinished, 'card.html'), card);
    assert.ok(readDashboard(unfinished));
    assert.equal(readDashboard(join(unfinished, 'nowhere')), undefined);
    assert.equal(readDashboard(undefined), undefined);
    assert.ok(readFileSync(join(unfinished, 'card.html')).length > 0);
  });
});
