import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bootstrapLines } from '../../../adapters/providers/bootstrap.js';
import { fetchedScript } from '../../../adapters/providers/startup-script.js';
import { onstartOf } from '../../../adapters/providers/vast/vast-wire.js';
import { until } from '../../support/until.js';
import { noSoftware } from '../../../domain/rentals/software.js';

const token = 'ab'.repeat(32);
const programs = ['mktemp', 'base64', 'chmod', 'rm', 'sh', 'cat', 'mkdir', 'ln'];

describe('the bootstrap of a machine', () => {
  let home: string;
  let server: Server;
  let url: string;
  /** What was asked for, and how. */
  let asked: string[];
  /** How often the listener is away first, and from when it has handed the bundle out. */
  let away: number;
  let awayAfter: number;
  let bundle: string;

  beforeEach(async () => {
    home = mkdtempSync(join(tmpdir(), 'bootstrap-'));
    for (const folder of ['bin', 'tmp']) mkdirSync(join(home, folder));
    for (const name of programs) symlinkSync(pathOf(name), join(home, 'bin', name));
    // A second of its waits is a moment here.
    writeFileSync(join(home, 'bin', 'sleep'), '#!/bin/sh\n', { mode: 0o755 });
    [asked, away, awayAfter] = [[], 0, 0];
    server = createServer((request, response) => {
      asked.push(`${request.method} ${request.url} ${request.headers.authorization}`);
      if (away > 0) {
        away -= 1;
        response.writeHead(401).end('{}');
      } else if (request.method === 'POST') response.writeHead(204).end();
      else {
        away = awayAfter;
        response.end(bundle);
      }
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    bundle = fetchedScript({
      ...noSoftware,
      env: { GREETING: 'it’s “me” $HOME' },
      startScript: '#!/bin/sh\nprintf %s "$GREETING" > "$HOME/ran"\n',
    });
  });
  afterEach(() => {
    server.close();
    server.closeAllConnections();
    rmSync(home, { recursive: true, force: true });
  });

  const pathOf = (name: string): string =>
    ['/usr/bin', '/bin'].map((folder) => join(folder, name)).find((path) => existsSync(path))!;

  /** Runs it where these programs are besides the few that every image has. */
  async function run(shell: string, fetcher: string | null): Promise<number> {
    if (fetcher !== null) symlinkSync(pathOf(fetcher), join(home, 'bin', fetcher));
    const env = { HOME: home, PATH: join(home, 'bin'), TMPDIR: join(home, 'tmp') };
    const child = spawn(pathOf(shell), ['-c', bootstrapLines(url, token).join('\n')], {
      env,
      stdio: 'ignore',
    });
    const [code] = (await once(child, 'close')) as [number];
    return code;
  }

  const whole = [
    `GET /v1/machine/bundle Bearer ${token}`,
    `POST /v1/machine/bundle/acknowledged Bearer ${token}`,
  ];

  for (const [shell, fetcher] of [
    ['dash', 'curl'],
    ['dash', 'wget'],
    ['bash', 'curl'],
  ] as const) {
    it(`fetches, acknowledges and runs by ${fetcher} under ${shell}, and leaves no copy`, async () => {
      assert.equal(await run(shell, fetcher), 0);
      assert.equal(readFileSync(join(home, 'ran'), 'utf8'), 'it’s “me” $HOME');
      assert.deepEqual(asked, whole);
      assert.equal(readdirSync(join(home, 'tmp')).length, 1, 'the renter’s own script alone');
    });
  }

  it('asks again while nothing is there for it', async () => {
    away = 4;
    assert.equal(await run('dash', 'curl'), 0);
    assert.equal(asked.length, 6);
    assert.ok(existsSync(join(home, 'ran')));
  });

  it('acknowledges again while the listener is away, and runs all the same where it stays away', async () => {
    awayAfter = 9;
    assert.equal(await run('dash', 'curl'), 0);
    assert.deepEqual([asked.length, asked.at(-1)], [11, whole[1]]);
    [asked, awayAfter] = [[], Infinity];
    rmSync(join(home, 'ran'));
    assert.equal(await run('dash', null), 0);
    assert.equal(asked.length, 11);
    assert.ok(existsSync(join(home, 'ran')));
  });

  it('gives up in the end, and where there is neither curl nor wget, and runs nothing', async () => {
    away = Infinity;
    assert.equal(await run('dash', 'curl'), 1);
    assert.equal(asked.length, 100);
    rmSync(join(home, 'bin', 'curl'));
    assert.equal(await run('dash', null), 1);
    assert.ok(!existsSync(join(home, 'ran')));
  });

  it('is given a program that fetches at Vast, where its image has none', async () => {
    const install = `#!/bin/sh\n[ "$2" != install ] || ln -s ${pathOf('curl')} "$HOME/bin/curl"\n`;
    writeFileSync(join(home, 'bin', 'apt-get'), install, { mode: 0o755 });
    const bootstrap = bootstrapLines(url, token);
    const script = onstartOf({ publicKeys: [], notebookToken: undefined, software: undefined, bootstrap });
    const env = { HOME: home, PATH: join(home, 'bin'), TMPDIR: join(home, 'tmp') };
    spawn(pathOf('dash'), ['-c', script], { env, stdio: 'ignore' });
    await until('the script has run', () => existsSync(join(home, 'ran')));
    assert.deepEqual(asked, whole);
  });

  it('has less than a kilobyte, with an address of a hundred characters', () => {
    const lines = bootstrapLines(`https://${'m'.repeat(92)}`, token).join('\n');
    assert.ok(Buffer.byteLength(lines) < 1_024, String(Buffer.byteLength(lines)));
  });
});

describe('the script of a container at Vast', () => {
  const software = {
    ...noSoftware,
    env: { GREETING: 'hi' },
    startScript: '#!/bin/sh\necho $GREETING >> "$HOME/ran"\n',
  };
  const request = { publicKeys: ['ssh-ed25519 AAAA mine'], notebookToken: undefined };

  it('runs the renter’s own at the first start alone, and waits for none', () => {
    const home = mkdtempSync(join(tmpdir(), 'onstart-'));
    const env = { HOME: home, PATH: '/usr/bin:/bin' };
    const ran = (): string => readFileSync(join(home, 'ran'), 'utf8');
    try {
      const slow = { ...software, startScript: `${software.startScript}sleep 1\necho end >> "$HOME/ran"\n` };
      for (let start = 0; start < 3; start += 1) {
        execFileSync('sh', ['-c', onstartOf({ ...request, software: slow })], { env, stdio: 'ignore' });
      }
      while (!existsSync(join(home, 'ran')) || !ran().includes('end')) execFileSync('sleep', ['0.05']);
      assert.equal(ran(), 'hi\nend\n');
      assert.equal(readFileSync(join(home, '.ssh/authorized_keys'), 'utf8'), 'ssh-ed25519 AAAA\n');
    } finally {
      rmSync(home, { recursive: true, force: true });
    }
  });

  it('tells how its GPUs are at the first start alone: later its renter may be asked', () => {
    const home = mkdtempSync(join(tmpdir(), 'onstart-'));
    const bin = join(home, 'bin');
    mkdirSync(bin);
    writeFileSync(join(bin, 'nvidia-smi'), '#!/bin/sh\necho asked >> "$HOME/asked"\n', { mode: 0o755 });
    const report = { url: 'http://127.0.0.1:9/v1/machine/reports', token };
    try {
      for (let start = 0; start < 3; start += 1) {
        const env = { HOME: home, PATH: `${bin}:/usr/bin:/bin` };
        execFileSync('sh', ['-c', onstartOf({ ...request, software: undefined, report })], {
          env,
          stdio: 'ignore',
        });
        assert.equal(readFileSync(join(home, '.ssh/authorized_keys'), 'utf8'), 'ssh-ed25519 AAAA\n');
      }
      assert.equal(readFileSync(join(home, 'asked'), 'utf8'), 'asked\n');
    } finally {
      rmSync(home, { recursive: true, force: true });
    }
  });

  it('fetches what is too long for it, and goes elsewhere where it can’t', () => {
    const large = { ...software, startScript: 'x'.repeat(4_000) };
    assert.throws(() => onstartOf({ ...request, software: large }), { kind: 'no_capacity' });
    const bootstrap = bootstrapLines('https://machines.example.com', token);
    const script = onstartOf({ ...request, software: large, bootstrap });
    assert.ok(script.includes(token) && !script.includes('xxxx'));
  });
});
