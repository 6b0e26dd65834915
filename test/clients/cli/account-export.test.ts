import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { exitCodes } from '../../../clients/cli/src/exit-codes.js';
import { startMock, type MockServer } from '../../../lab/mock/server.js';
import { filesIn } from '../../support/http/archive.js';
import { mailedCode, Person } from './support/person.js';

describe('gpu account export', () => {
  let mock: MockServer;
  let ann: Person;
  let file: string;

  before(async () => {
    mock = await startMock({ port: 0, durations: { provisionMs: 20, endMs: 20 } });
  });
  after(() => mock.stop());
  beforeEach(async () => {
    ann = await Person.at(mock);
    file = join(ann.home, 'account.zip');
  });

  const isExport = (request: Request): boolean => request.url.endsWith('/v1/account/export');
  /** Changes the answer to the request for the archive. */
  const changing =
    (change: (answer: Response) => Response): typeof fetch =>
    async (input, init) => {
      const request = new Request(input, init);
      const answer = await fetch(request);
      return isExport(request) ? change(answer) : answer;
    };
  const exportTo = (name: string, more: readonly string[] = [], options = {}) =>
    ann.run(['account', 'export', name, ...more], { types: mailedCode, columns: 200, ...options });
  const whole = (bytes: Buffer) => filesIn(new Uint8Array(bytes).buffer);
  const left = (): string[] => readdirSync(ann.home).filter((name) => name.startsWith('account'));

  it('saves one archive that nobody else can read', async () => {
    await ann.pay(20);
    const { code, out, err } = await exportTo(file);
    assert.equal(code, 0, err);
    assert.match(err, /^To export your account, confirm that it’s you\.\nWe emailed a code to /);
    assert.match(
      out,
      /^Saved everything we hold about you as \S+account\.zip \(\d+ kB\)\. README\.txt in it explains /,
    );
    const files = whole(readFileSync(file));
    assert.ok(files['ledger.csv']?.includes('processor_topup'));
    assert.ok(files['account.json']?.includes(ann.email));
    assert.deepEqual([left(), statSync(file).mode & 0o777], [['account.zip'], 0o600]);
    const told = await exportTo(join(ann.home, 'account-2.zip'), ['--json']);
    const { bytes } = JSON.parse(told.out) as { bytes: number };
    assert.equal(bytes, statSync(join(ann.home, 'account-2.zip')).size);
  });

  it('overwrites nothing unless it is told to, and asks for no code before', async () => {
    writeFileSync(file, 'mine');
    const refused = await exportTo(file);
    assert.deepEqual([refused.code, readFileSync(file, 'utf8')], [exitCodes.usage, 'mine']);
    assert.match(refused.err, /exists already.*--force/s);
    assert.doesNotMatch(refused.err, /emailed/);
    assert.equal((await exportTo(file, ['--force'])).code, 0);
    assert.ok(whole(readFileSync(file))['README.txt']);
  });

  it('writes to a pipe as it comes, and to no terminal', async () => {
    const pieces: Buffer[] = [];
    const stdout = new Writable({
      write(piece: Buffer, _encoding, done) {
        pieces.push(piece);
        done();
      },
    });
    const { code, err } = await exportTo('-', [], { stdout });
    assert.equal(code, 0, err);
    assert.ok(whole(Buffer.concat(pieces))['README.txt']);
    assert.equal((await exportTo('-')).code, exitCodes.usage);
  });

  const cut = changing(
    (answer) =>
      new Response(
        answer.body?.pipeThrough(
          new TransformStream<Uint8Array, Uint8Array>({
            transform(piece, control) {
              control.enqueue(piece.slice(0, 100));
              control.error(new TypeError('terminated'));
            },
          }),
        ),
        answer,
      ),
  );

  it('keeps nothing of an archive that ended early', async () => {
    const { code, err } = await exportTo(file, [], { fetch: cut });
    assert.equal(code, exitCodes.network, err);
    assert.match(err, /The download ended early, and nothing was kept\./);
    assert.deepEqual(left(), []);
    const piped = await exportTo('-', [], { fetch: cut, stdout: new PassThrough().resume() });
    assert.equal(piped.code, exitCodes.network);
    assert.match(piped.err, /ended early: what came of it doesn’t open/);
    assert.doesNotMatch(piped.err, /nothing was kept/);
  });

  it('leaves alone what others write meanwhile, and opens its own before it asks for a code', async () => {
    writeFileSync(`${file}.part`, 'theirs');
    const meanwhile = changing((answer) => {
      const own = left().find((name) => /\.zip\.[\da-f-]{36}\.part$/.test(name)) ?? '';
      assert.equal(statSync(join(ann.home, own)).mode & 0o777, 0o600);
      writeFileSync(file, 'theirs');
      return answer;
    });
    const refused = await exportTo(file, [], { fetch: meanwhile });
    assert.deepEqual([refused.code, readFileSync(file, 'utf8')], [exitCodes.usage, 'theirs']);
    assert.match(refused.err, /exists already.*--force/s);
    assert.deepEqual(left(), ['account.zip', 'account.zip.part']);
    const nowhere = await exportTo(join(ann.home, 'no', 'x.zip'));
    assert.doesNotMatch(nowhere.err, /emailed/);
  });

  it('says what to do where it is refused, or can’t write', async () => {
    const busy: typeof fetch = (input, init) => {
      const request = new Request(input, init);
      if (isExport(request)) request.headers.set('X-Mock-Failure', 'export_running');
      return fetch(request);
    };
    const refused = await exportTo(file, [], { fetch: busy });
    assert.equal(refused.code, exitCodes.refused);
    assert.match(refused.err, /is being exported already.*run the command again/s);
    const nowhere = await exportTo(join(ann.home, 'no', 'x.zip'));
    assert.equal(nowhere.code, exitCodes.fault);
    assert.match(nowhere.err, /does not exist/);
    assert.ok(!existsSync(file));
    const piped = await ann.run(['account', 'export', file]);
    assert.equal(piped.code, exitCodes.refused);
  });
});
