import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { describeApi } from '../../../api/http/openapi/document.js';
import { askRaw, type RawAnswer } from '../../support/http/raw.js';
import { startApi, type TestApi } from '../../support/http/api.js';

const DOCUMENT = '/v1/openapi.json';
const BUNDLE = '/docs/swagger-ui-bundle.js';
const paths = [
  DOCUMENT,
  '/docs',
  BUNDLE,
  '/docs/swagger-ui.css',
  '/docs/favicon-32x32.png',
  '/docs/start.js',
];

describe('the description, precompressed', () => {
  let api: TestApi;
  before(async () => {
    api = await startApi();
  });
  after(() => api.stop());

  const ask = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    askRaw(api.url, path, headers, method);
  const coded = (path: string, coding: string) => ask(path, { 'accept-encoding': coding });

  it('is the same to the byte in each coding, with a length, a strong ETag and what it varies by', async () => {
    for (const path of paths) {
      const [plain, br, zipped] = await Promise.all([ask(path), coded(path, 'br'), coded(path, 'gzip')]);
      assert.equal(plain.headers['content-encoding'], undefined, path);
      assert.ok(plain.bytes.length > 0);
      for (const answer of [plain, br, zipped]) {
        assert.equal(answer.status, 200);
        assert.equal(answer.headers['content-length'], String(answer.bytes.length));
        assert.equal(answer.headers['content-type'], plain.headers['content-type']);
        assert.match(answer.headers.etag ?? '', /^"[\w-]+"$/);
        assert.match(answer.headers.vary ?? '', /Accept-Encoding/);
        assert.match(answer.headers['cache-control'] ?? '', /^public, max-age=\d+/);
      }
      if (br.headers['content-encoding'] !== undefined) {
        assert.deepEqual(
          [br.headers['content-encoding'], zipped.headers['content-encoding']],
          ['br', 'gzip'],
        );
        assert.deepEqual(brotliDecompressSync(br.bytes), plain.bytes);
        assert.deepEqual(gunzipSync(zipped.bytes), plain.bytes);
        assert.equal(new Set([plain, br, zipped].map(({ headers }) => headers.etag)).size, 3);
      } else {
        assert.deepEqual(br, { ...plain, headers: { ...br.headers } });
      }
    }
  });

  it('is what it was before: the document, and the files of Swagger UI', async () => {
    const { bytes } = await ask(DOCUMENT);
    assert.equal(bytes.toString(), JSON.stringify(describeApi()));
    const folder = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
    for (const file of ['swagger-ui-bundle.js', 'swagger-ui.css', 'favicon-32x32.png']) {
      const { bytes: sent } = await ask(`/docs/${file}`);
      assert.deepEqual(sent, readFileSync(join(folder, file)), file);
    }
  });

  it('is much smaller on the wire', async () => {
    for (const [path, share] of [
      [DOCUMENT, 0.2],
      [BUNDLE, 0.3],
      ['/docs/swagger-ui.css', 0.2],
    ] as const) {
      const plain = await ask(path);
      for (const coding of ['br', 'gzip']) {
        const { bytes } = await coded(path, coding);
        assert.ok(bytes.length < plain.bytes.length * share, `${path} in ${coding}: ${bytes.length} bytes`);
      }
    }
  });

  it('takes the coding that the request wants most, and brotli where it does not mind', async () => {
    const wanted: readonly [string, string | undefined][] = [
      ['gzip, deflate, br, zstd', 'br'],
      ['br;q=0.5, gzip;q=0.8', 'gzip'],
      ['gzip;q=0.5, br;q=0.8', 'br'],
      ['br;q=0, gzip;q=0', undefined],
      ['br;q=0, *', 'gzip'],
      ['*', 'br'],
      ['*;q=0', undefined],
      ['identity', undefined],
      ['identity, gzip;q=0.5', undefined],
      ['identity;q=0', undefined],
      ['deflate', undefined],
      ['GZIP', 'gzip'],
      ['', undefined],
      ['br;q=nonsense', undefined],
    ];
    for (const [header, coding] of wanted) {
      const { status, headers } = await coded(DOCUMENT, header);
      assert.deepEqual([status, headers['content-encoding']], [200, coding], header);
    }
  });

  it('is 304 to who has it, in the coding that they have', async () => {
    for (const path of paths) {
      for (const coding of ['', 'gzip', 'br']) {
        const { headers } = await coded(path, coding);
        const etag = headers.etag ?? '';
        for (const known of [etag, `"other", ${etag}`, '*']) {
          const again = await ask(path, { 'accept-encoding': coding, 'if-none-match': known });
          assert.deepEqual([again.status, again.bytes.length], [304, 0], `${path} ${known}`);
          assert.equal(again.headers.etag, etag);
          assert.match(again.headers.vary ?? '', /Accept-Encoding/);
          assert.equal(again.headers['cache-control'], headers['cache-control']);
        }
      }
    }
    const { headers } = await coded(DOCUMENT, 'gzip');
    const other = await ask(DOCUMENT, { 'accept-encoding': 'br', 'if-none-match': headers.etag ?? '' });
    assert.equal(other.status, 200, 'other bytes have another ETag');
  });

  it('answers HEAD as GET, without a body', async () => {
    for (const path of paths) {
      for (const coding of ['', 'gzip', 'br']) {
        const got = await coded(path, coding);
        const head = await ask(path, { 'accept-encoding': coding }, 'HEAD');
        const told = ({ headers }: RawAnswer) =>
          ['content-length', 'content-encoding', 'content-type', 'etag', 'vary', 'cache-control'].map(
            (name) => headers[name],
          );
        assert.deepEqual([head.status, head.bytes.length, ...told(head)], [200, 0, ...told(got)], path);
        const known = { 'accept-encoding': coding, 'if-none-match': got.headers.etag ?? '' };
        assert.equal((await ask(path, known, 'HEAD')).status, 304);
      }
    }
  });

  it('keeps the page’s policy on a 304 too', async () => {
    const { headers } = await ask('/docs');
    const again = await ask('/docs', { 'if-none-match': headers.etag ?? '' });
    assert.equal(again.headers['content-security-policy'], headers['content-security-policy']);
  });
});
