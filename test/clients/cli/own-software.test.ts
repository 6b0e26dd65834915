import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { exitCodes } from '../../../clients/cli/src/exit-codes.js';
import { startMock, type MockServer } from '../../../lab/mock/server.js';
import { newSshKeyPair } from '../../support/ssh-key-pair.js';
import { Person } from './support/person.js';

describe('gpu, with software of one’s own', () => {
  let mock: MockServer;
  let ann: Person;
  /** The bodies of what was asked for. */
  const sent: Record<string, unknown>[] = [];

  before(async () => {
    mock = await startMock({ port: 0, durations: { provisionMs: 20, tickMs: 200, endMs: 20 } });
    ann = await Person.at(mock);
    await ann.pay(50);
  });
  beforeEach(() => sent.splice(0));
  after(() => mock.stop());

  const noted: typeof fetch = async (asked, init) => {
    const request = new Request(asked, init);
    const body = await request.clone().text();
    if (request.method === 'POST' && body !== '') sent.push(JSON.parse(body) as Record<string, unknown>);
    return fetch(request);
  };
  const file = (name: string, text: string): string => {
    const path = join(ann.home, name);
    writeFileSync(path, text);
    return path;
  };

  it('sends an image with its words, variables and ports, and says what is public', async () => {
    const env = file('.env', '# mine\n\nTOKEN=a=b c\nMODE=slow\n');
    const { code, out, err } = await ann.run(
      [
        ...['rent', 'rtx-4090', '--image', 'ghcr.io/ann/page:1', '--arg', '--port', '--arg', '8080'],
        ...[
          '--env-file',
          env,
          '--env',
          'MODE=fast',
          '--port',
          'page:8080/http:public',
          '--port',
          'db:5432/tcp',
        ],
        ...['--disk', '200', '--yes', '--name', 'own'],
      ],
      { fetch: noted },
    );
    assert.equal(code, 0, err);
    const { image, args, env: variables, ports, diskGb } = sent[0] ?? {};
    assert.deepEqual([image, args, diskGb], ['ghcr.io/ann/page:1', ['--port', '8080'], 200]);
    assert.deepEqual(variables, { TOKEN: 'a=b c', MODE: 'fast' });
    assert.deepEqual(ports, [
      { name: 'page', port: 8080, kind: 'http', public: true },
      { name: 'db', port: 5432, kind: 'tcp', public: false },
    ]);
    assert.match(err, /Public ports +page: everybody on the internet can reach them/);
    assert.match(out, /page: http:\/\/203\.0\.113\.\d+:8080\/ \(public\)/);
    assert.match(out, /db: gpu ports db -m/);
    const shown = await ann.run(['show', 'own']);
    assert.match(shown.out, /Installed +ghcr\.io\/ann\/page:1/);
    assert.doesNotMatch(out + err + shown.out, /a=b c/);
  });

  it('reads a script from a file, and a registry’s password from the standard input alone', async () => {
    const script = file('start.sh', '#!/bin/sh\necho hello\n');
    const scripted = await ann.run(['quote', 'rtx-4090', '--script', script], { fetch: noted });
    assert.equal(scripted.code, 0, scripted.err);
    assert.equal(sent[0]?.['startScript'], '#!/bin/sh\necho hello\n');
    const words = ['quote', 'rtx-4090', '--image', 'ghcr.io/ann/page:1', '--registry-user', 'ann'];
    const signed = await ann.run([...words, '--registry-password-stdin'], {
      fetch: noted,
      input: 'secret\n',
    });
    assert.equal(signed.code, 0, signed.err);
    assert.deepEqual(sent[1]?.['registryAuth'], { username: 'ann', password: 'secret' });
    const half = await ann.run(words, { fetch: noted });
    assert.equal(half.code, exitCodes.usage);
    assert.match(half.err, /belong together/);
  });

  it('lets a script take the place of an entrypoint, and says what the image needs', async () => {
    const script = file('serve.sh', '#!/bin/sh\necho hello\n');
    const words = ['quote', 'rtx-4090', '--image', 'ghcr.io/ann/page:1', '--script', script];
    const { code, out, err } = await ann.run([...words, '--entrypoint', 'replace'], { fetch: noted });
    assert.equal(code, 0, err);
    assert.equal(sent[0]?.['entrypoint'], 'replace');
    assert.match(
      out,
      /Image needs +sh, base64, mktemp, chmod, curl \(or a wget that verifies certificates\): without them it never answers, and is billed/,
    );
    const nothing = await ann.run([...words.slice(0, 4), '--entrypoint', 'replace']);
    assert.match(nothing.err, /^--entrypoint "replace" needs a start script or arguments/);
    const other = await ann.run([...words, '--entrypoint', 'mine']);
    assert.deepEqual([other.code, other.err.includes('keep, replace')], [exitCodes.usage, true], other.err);
  });

  it('says what is wrong without showing a line that may hold a secret', async () => {
    const bad = await ann.run(['quote', 'rtx-4090', '--env-file', file('bad', 'A=1\nplanted secret\n')]);
    assert.equal(bad.code, exitCodes.usage);
    assert.match(bad.err, /Line 2 of .*bad is not KEY=value/);
    assert.doesNotMatch(bad.err, /planted/);
    for (const port of ['8080', 'page:8080/udp', 'Page:80']) {
      const { code, err } = await ann.run(['quote', 'rtx-4090', '--port', port]);
      assert.deepEqual([code, err.includes('name:port')], [exitCodes.usage, true], port);
    }
    const variable = await ann.run(['quote', 'rtx-4090', '--env', 'MODE']);
    assert.match(variable.err, /'MODE' is invalid\. Write a variable as\s+KEY=value\./);
    const both = await ann.run([
      ...['quote', 'rtx-4090', '--image', 'a/b:1', '--script', file('s.sh', 'true\n')],
    ]);
    assert.match(
      both.err,
      /--script: mock runs no\s+start script\s+inside\s+of\s+an\s+image\s+that\s+keeps\s+its\s+entrypoint/,
    );
  });

  it('names options where the service names the fields of its requests', async () => {
    const env = file('keys.env', 'PUBLIC_KEY=planted\n');
    const lines: readonly (readonly [words: string[], told: RegExp])[] = [
      [
        ['--image', 'ann:secret@ghcr.io/ann/page'],
        /^--image must be the name of an image.*; send credentials as --registry-user\.\n/,
      ],
      [['--env-file', env], /^--env may not set PUBLIC_KEY: give your keys as --ssh-key\.\n/],
      [['--arg', 'x'], /^--arg needs an image: they are its own\.\n/],
      [['--ignore-sessions'], /^--ignore-sessions needs --stop-when-idle\.\n/],
      [
        ['--template', 'pytorch', '--image', 'a/b:1'],
        /^--template can’t be combined with an image, which runs instead of one\.\n/,
      ],
    ];
    for (const [words, told] of lines) {
      const { code, err } = await ann.run(['quote', 'rtx-4090', ...words], { columns: 200 });
      assert.equal(code, exitCodes.usage, err);
      assert.match(err, told);
    }
    // A refusal that is about no field of the request may name one all the same.
    const full: typeof fetch = () =>
      Promise.resolve(
        Response.json(
          {
            error: 'rate_limited',
            message:
              'This machine was kept alive 24 times in a day. Raise stopWhenIdleMinutes, or take the guard away.',
            requestId: 'a',
            details: { retryAfterSeconds: 60 },
          },
          { status: 429 },
        ),
      );
    const { err } = await ann.type('balance', { fetch: full, columns: 200 });
    assert.match(err, /^This machine was kept alive .* Raise --stop-when-idle, or take the guard away\.\n/);
  });

  it('takes a stored SSH key by its name, and says so of one that is not stored', async () => {
    const publicKey = newSshKeyPair().public;
    const { body } = await ann.elsewhere.post('/v1/ssh-keys', { name: 'laptop', publicKey });
    const { code, err } = await ann.run(['quote', 'rtx-4090', '--ssh-key', 'laptop'], { fetch: noted });
    assert.equal(code, 0, err);
    assert.deepEqual(sent[0]?.['sshKeyIds'], [body.id]);
    const none = await ann.run(['quote', 'rtx-4090', '--ssh-key', 'lapdog']);
    assert.equal(none.code, exitCodes.notFound);
    assert.match(none.err, /No SSH key "lapdog" is stored\.\nSee them with: gpu keys ssh/);
  });

  it('has no port of another name', async () => {
    const { code, err } = await ann.run(['ports', 'none', '-m', 'own']);
    assert.deepEqual([code, err.includes('no port named none')], [exitCodes.usage, true], err);
    assert.match(err, /It has: page, db/);
  });
});
