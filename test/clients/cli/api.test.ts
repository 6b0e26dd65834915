import assert from 'node:assert/strict';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { exitCodes } from '../../../clients/cli/src/exit-codes.js';
import { startMock, type MockServer } from '../../../lab/mock/server.js';
import { GpuUser, type Ran } from './support/gpu.js';
import { Person } from './support/person.js';

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly key: string | null;
  readonly body: unknown;
}

describe('gpu api', () => {
  let mock: MockServer;
  let ann: Person;
  const sent: Sent[] = [];

  before(async () => {
    mock = await startMock({ port: 0, durations: { provisionMs: 20, endMs: 20 } });
    ann = await Person.at(mock);
    await ann.pay(50);
  });
  after(() => mock.stop());
  beforeEach(() => void sent.splice(0));

  /** Keeps what is sent. */
  const seen: typeof fetch = async (input, init) => {
    const request = new Request(input, init);
    const { pathname, search } = new URL(request.url);
    const text = await request.clone().text();
    sent.push({
      ...{ method: request.method, path: pathname + search, key: request.headers.get('idempotency-key') },
      body: text === '' ? undefined : JSON.parse(text),
    });
    return fetch(request);
  };
  /** Answers in the service's place, and keeps what is sent. */
  const answering =
    (answer: () => Response): typeof fetch =>
    async (input, init) => {
      const { body } = await seen(input, init);
      await body?.cancel();
      return answer();
    };
  const api = (line: string, options: object = {}): Promise<Ran> =>
    ann.type(`api ${line}`, { fetch: seen, ...options });
  const bodyOf = async (...fields: readonly string[]): Promise<unknown> => {
    const fetch = answering(() => Response.json({}));
    const { code, err } = await ann.run(['api', 'POST', '/v1/x', ...fields], { fetch });
    assert.equal(code, 0, err);
    return sent.at(-1)?.body;
  };

  it('reads any route, with fields as its query, and prints the answer as it is', async () => {
    const { code, out, err } = await api('get v1/catalog/families');
    assert.equal(code, 0, err);
    assert.deepEqual(JSON.parse(out), (await ann.elsewhere.get('/v1/catalog/families')).body);
    await api('GET /v1/rentals -F pageSize=5 -f status=running');
    await api('GET /v1/rentals?pageSize=5 -f label=a=b');
    assert.deepEqual(
      sent.map(({ method, path, key, body }) => [method, path, key, body]),
      [
        ['GET', '/v1/catalog/families', null, undefined],
        ['GET', '/v1/rentals?status=running&pageSize=5', null, undefined],
        ['GET', '/v1/rentals?pageSize=5&label=a%3Db', null, undefined],
      ],
    );
    assert.match((await api('GET /v1/openapi.json')).out, /"operationId": "listRentals"/);
    assert.match((await api('GET /v1/billing/ledger.csv')).out, /^[a-zA-Z_,]+\r?\n/);
  });

  it('prints an answer that is no text byte by byte', async () => {
    const bytes = Buffer.from([0x50, 0x4b, 0xff, 0x00, 0xc3]);
    const headers = { 'Content-Type': 'application/zip' };
    const pieces: Buffer[] = [];
    const stdout = new Writable({
      write(piece: Buffer, _encoding, done) {
        pieces.push(piece);
        done();
      },
    });
    const fetch = answering(() => new Response(bytes, { headers }));
    const { code, err } = await api('GET /v1/account/export', { fetch, stdout });
    assert.equal(code, 0, err);
    assert.deepEqual(Buffer.concat(pieces), bytes);
    const empty = answering(() => new Response(null, { status: 204 }));
    const { code: done, out } = await api('DELETE /v1/x', { fetch: empty });
    assert.deepEqual([done, out], [0, '']);
  });

  it('makes a body of texts and of typed fields, also nested ones', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'gpu-api-')), 'note');
    writeFileSync(file, 'über\n');
    const body = await bodyOf(
      ...['-f', 'name=1', '-F', 'count=2', '-F', 'hard=true', '-F', 'none=null', '-F', 'text=two words'],
      ...['-f', 'labels[team]=a', '-f', 'labels[of][it]=b=c', '-f', 'list[]=x', '-F', 'list[]=-1.5'],
      ...['-F', `notes=@${file}`, '-f', 'at=@x', '-f', '__proto__=p'],
    );
    assert.deepEqual(Object.entries(body as object), [
      ...[
        ['name', '1'],
        ['labels', { team: 'a', of: { it: 'b=c' } }],
        ['list', ['x', -1.5]],
        ['at', '@x'],
      ],
      ...[
        ['__proto__', 'p'],
        ['count', 2],
        ['hard', true],
        ['none', null],
        ['text', 'two words'],
      ],
      ['notes', 'über'],
    ]);
    assert.equal(await bodyOf(), undefined);
  });

  it('takes the whole body from a file or from the standard input', async () => {
    const input = '{"familyId":"rtx-4090","gpuCount":1}';
    const { code, out } = await api('POST /v1/quotes --input -', { input });
    assert.equal(code, 0);
    assert.match(out, /"quoteId": "quo_/);
    const file = join(mkdtempSync(join(tmpdir(), 'gpu-api-')), 'body.json');
    writeFileSync(file, input);
    await api(`POST /v1/quotes --input ${file}`);
    assert.deepEqual(sent[1]?.body, sent[0]?.body);
    assert.equal((await api(`POST /v1/quotes -F name=@-`, { input: 'x\n' })).code, exitCodes.usage);
    assert.deepEqual(sent[2]?.body, { name: 'x' });
  });

  it('sends each change under an Idempotency-Key, its own or the given one', async () => {
    const line = 'POST /v1/rentals -f familyId=rtx-4090 -F gpuCount=1';
    const first = await api(`${line} --idempotency-key mine`);
    const again = await api(`${line} --idempotency-key mine`);
    assert.equal(first.code, 0, first.err);
    assert.equal(again.out, first.out, 'it is rented once');
    await api(line);
    const keys = sent.map(({ key }) => key);
    assert.deepEqual(keys.slice(0, 2), ['mine', 'mine']);
    assert.match(keys[2] ?? '', /^[0-9a-f-]{32,36}$/);
    const { id } = JSON.parse(first.out) as { id: string };
    assert.equal((await api(`PATCH /v1/rentals/${id} -f name=new -F notes=null`)).code, 0);
    assert.equal((await ann.json<{ name: string }>(`show ${id}`)).name, 'new');
  });

  it('names the key of a change whose answer is lost, or that nobody reads, and sends it once', async () => {
    const lost: typeof fetch = async (input, init) => {
      await seen(input, init);
      throw Object.assign(new TypeError('fetch failed'), { cause: { code: 'ECONNRESET' } });
    };
    const { code, err } = await api('POST /v1/rentals --json', { fetch: lost });
    const told = JSON.parse(err) as { error: string; details: Record<string, unknown> };
    assert.deepEqual([code, told.error], [exitCodes.committed, 'committed']);
    assert.deepEqual([told.details['path'], told.details['idempotencyKey']], ['/v1/rentals', sent[0]?.key]);
    assert.equal(sent.length, 1);
    assert.equal((await api('GET /v1/rentals', { fetch: lost })).code, exitCodes.network);
    const stdout = new Writable({
      write: (_chunk, _encoding, done) => done(Object.assign(new Error('EPIPE'), { code: 'EPIPE' })),
    });
    const unread = await api('POST /v1/quotes -f familyId=rtx-4090 -F gpuCount=1', { stdout });
    assert.equal(unread.code, exitCodes.committed);
    assert.match(unread.err, /The service did POST \/v1\/quotes\./);
  });

  it('prints the words of a refusal, and ends as other commands do by it', async () => {
    const wrong = await api('POST /v1/rentals -f familyId=rtx-4090 -F gpuCount=1 -F autoStopAfterHours=0');
    assert.deepEqual([wrong.code, wrong.out], [exitCodes.usage, '']);
    assert.match(wrong.err, /^The request is invalid: autoStopAfterHours must be more than 0\.\n/);
    const none = await api('GET /v1/rentals/rent_01M81GD1CTKV92158CA40Z8Q0E --json');
    const told = JSON.parse(none.err) as { error: string; exitCode: number };
    assert.deepEqual([none.code, told.error, told.exitCode], [7, 'rental_not_found', 7]);
    assert.equal((await api('GET /v1/nothing')).code, exitCodes.notFound);
    const stranger = await new GpuUser(mock.url).type('api GET /v1/rentals');
    assert.equal(stranger.code, exitCodes.signedOut);
    const asked = { name: 'reader', scopes: ['read'] };
    const { key } = (await ann.elsewhere.post('/v1/api-keys', asked)).body as unknown as { key: string };
    const reader = await new GpuUser(mock.url, key).type('api GET /v1/billing/balance');
    assert.equal(reader.code, exitCodes.refused);
    assert.match(
      reader.err,
      /^This needs an API key with the scope billing\. Create one with POST \/v1\/api-keys,\nor sign in\.\n/,
    );
  });

  it('signs in by a code where no key may call, and says so where nobody can type one', async () => {
    const piped = await api('GET /v1/auth/sessions');
    assert.deepEqual([piped.code, piped.out], [exitCodes.refused, '']);
    assert.match(
      piped.err,
      /^API keys can’t do this[^]*Run it in a terminal: it asks for a code that we email you\.\n/,
    );
    const { code, out, err } = await ann.withCode('api GET /v1/auth/sessions');
    assert.equal(code, 0, err);
    assert.match(err, /^To send this request, confirm that it’s you\.\nWe emailed/);
    assert.equal((JSON.parse(out) as { sessions: unknown[] }).sessions.length, 2);
    const { sessions } = (await ann.elsewhere.get('/v1/auth/sessions')).body as unknown as {
      sessions: unknown[];
    };
    assert.equal(sessions.length, 1, 'that sign-in has ended');
  });

  it('refuses what no request can be made of before anything is asked', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'gpu-api-')), 'text');
    writeFileSync(file, 'no JSON');
    const lines = [
      ...['GET', 'FETCH /v1/rentals', 'GET https://example.com/v1/rentals'],
      ...['GET /v1/events/stream', 'GET /v1/rentals --input -', 'POST /v1/x --input - -f a=b'],
      ...['POST /v1/x -f a', 'POST /v1/x -f =b', 'POST /v1/x -f a=b -f a=c', 'POST /v1/x -f a[b=c'],
      ...['POST /v1/x -f a=b -f a[b]=c', 'POST /v1/x -f a[]=b -f a[c]=d', `POST /v1/x --input ${file}`],
    ];
    for (const line of lines) {
      const { code, out, err } = await api(line);
      assert.deepEqual([code, out], [exitCodes.usage, ''], `${line}: ${err}`);
    }
    const below = await new GpuUser(`${mock.url}/gpu`, 'gpur_x').type('api GET /v1/../../other', {
      fetch: seen,
    });
    assert.equal(below.code, exitCodes.usage, 'nothing beside the service is asked');
    assert.deepEqual(sent, []);
    assert.equal((await api('POST /v1/x --input /no/such/file')).code, exitCodes.fault);
  });
});
