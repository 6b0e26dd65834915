import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bootstrapLines } from '../../../adapters/providers/bootstrap.js';
import type { AllocationRequest } from '../../../adapters/providers/provider.js';
import { commandOf, runpodSoftware } from '../../../adapters/providers/runpod/runpod-software.js';
import { probeSsh } from '../../../adapters/providers/ssh/ssh-probe.js';
import { fetchedScript, ownContainerOf, startupScript } from '../../../adapters/providers/startup-script.js';
import {
  misfitsOf,
  noSoftware,
  outlineOf,
  ownSoftwareId,
  type Software,
} from '../../../domain/rentals/software.js';
import { noShell } from '../../../lab/provider/images.js';
import {
  lambdaRequestOf,
  newRenterKey,
  requestOf,
  runpodRequestOf,
  startLivingLab,
  until,
  untilActive,
  vastRequestOf,
  type LivingLab,
} from '../../lab/provider/living-lab.js';

const token = 'cd'.repeat(32);
const args = ['it’s', '$HOME', 'a "b" \\c', '{"entrypoint":["x"]}'];
/** It says with what it runs, for as long as its machine does. */
const startScript = [
  '#!/bin/sh',
  'printf "%s|" "$GREETING" "$@" >> "$HOME/ran"',
  'echo >> "$HOME/ran"',
  'while sleep 0.1; do :; done',
].join('\n');
const scripted: Software = {
  ...{ ...noSoftware, entrypoint: 'replace', startScript, args },
  env: { GREETING: 'hi “you”' },
};
const told = `${['hi “you”', ...args].join('|')}|\n`;

describe('what takes the place of an entrypoint', function () {
  this.timeout(30_000);
  let lab: LivingLab;
  let server: Server;
  let url: string;
  let asked: string[];

  before(async () => {
    lab = await startLivingLab();
    server = createServer((request, response) => {
      asked.push(`${request.method} ${request.url}`);
      if (request.method === 'POST') response.writeHead(204).end();
      else response.end(fetchedScript(scripted));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  after(async () => {
    server.close();
    server.closeAllConnections();
    await lab.stop();
  });
  beforeEach(() => {
    asked = [];
  });

  async function rent(software: Software, isFetched = true): Promise<string> {
    const bootstrap = isFetched ? bootstrapLines(url, token) : undefined;
    const request = runpodRequestOf({ templateId: ownSoftwareId, software, bootstrap });
    await lab.of('runpod').allocate(request);
    return until(`${request.tag} runs`, async () => {
      const pod = (await lab.state()).pods.find(({ name }) => name === request.tag);
      return pod?.status === 'active' ? pod.id : undefined;
    });
  }
  const homeFile = (podId: string, name: string, has: (text: string) => boolean): Promise<string> =>
    until(`${name} of ${podId}`, () => {
      try {
        const text = readFileSync(join(lab.homesDir(), podId, 'home', name), 'utf8');
        return Promise.resolve(has(text) ? text : undefined);
      } catch {
        return Promise.resolve(undefined);
      }
    });
  const fetchedOnce = ['GET /v1/machine/bundle', 'POST /v1/machine/bundle/acknowledged'];
  const log = 'container.log';

  for (const image of ['lab/curl-only:1', 'lab/wget-only:1']) {
    it(`is the renter’s script in ${image}, with arguments and variables that the upstream has not`, async () => {
      const podId = await rent({ ...scripted, image });
      assert.equal(await homeFile(podId, 'ran', (text) => text.endsWith('\n')), told);
      assert.deepEqual(asked, fetchedOnce);
      const made = (await lab.state()).pods.find(({ id }) => id === podId);
      const sent = `${made?.args}${JSON.stringify(made?.envs)}${Buffer.from(made?.base64Script ?? '', 'base64').toString('utf8')}`;
      assert.ok(sent.includes(token) && !/GREETING|a .?"b/.test(sent));
    });
  }

  it('is fetched by each start of the container', async () => {
    const podId = await rent({ ...scripted, image: 'lab/curl-only:1' });
    await homeFile(podId, 'ran', (text) => text.endsWith('\n'));
    await lab.call('POST', `/lab/pods/${podId}/restart`, {});
    // Its disk is a new one.
    assert.equal(await homeFile(podId, 'ran', (text) => text.length >= told.length), told);
    await until('it is fetched again', () => Promise.resolve(asked.length === 4 || undefined));
    assert.deepEqual(asked, [...fetchedOnce, ...fetchedOnce]);
  });

  it('says why nothing runs in an image without a shell, or without a program that fetches', async () => {
    const without = await rent({ ...scripted, image: 'lab/no-fetcher:1' });
    await homeFile(without, log, (text) => text.includes('no curl or wget'));
    const bare = await rent({ ...scripted, image: 'lab/no-sh:1' });
    await homeFile(bare, log, (text) => text.includes(noShell));
    assert.deepEqual(asked, []);
    for (const podId of [without, bare]) {
      assert.throws(() => readFileSync(join(lab.homesDir(), podId, 'home', 'ran')));
    }
  });

  it('is a short script without the listener, which needs no program that fetches', async () => {
    const software = { ...scripted, env: {}, image: 'lab/no-fetcher:1' };
    const podId = await rent(software, false);
    assert.equal(await homeFile(podId, 'ran', (text) => text.endsWith('\n')), told.replace('hi “you”', ''));
  });

  it('are words alone, which are run as they are', async () => {
    const words = ['/bin/sh', '-c', 'printf "%s|" "$GREETING" "$@" > "$HOME/ran"', 'sh', ...args];
    const software = { ...scripted, startScript: null, args: words, image: 'lab/curl-only:1' };
    const podId = await rent(software, false);
    assert.equal(await homeFile(podId, 'ran', (text) => text.endsWith('x"]}|')), told.trim());
  });

  it('goes elsewhere where it is too long', async () => {
    const long = { ...scripted, startScript: 'x'.repeat(4_000), image: 'lab/curl-only:1' };
    await assert.rejects(rent(long, false), { kind: 'no_capacity' });
  });

  it('can’t be had at Lambda, nor at Vast, which would open what the image exposes', async () => {
    const refused = async (dialect: 'lambda' | 'vast', request: AllocationRequest) =>
      assert.rejects(lab.of(dialect).allocate(request), { kind: 'refused' });
    const own = { templateId: ownSoftwareId, software: { ...scripted, image: 'lab/curl-only:1' } };
    await refused('lambda', lambdaRequestOf(own));
    await refused('vast', vastRequestOf(own));
  });

  it('opens SSH only by what starts a daemon', async () => {
    const software = { ...scripted, startScript: null, args: ['sleep', '60'], image: 'lab/sshd-command:1' };
    const request = runpodRequestOf({
      ...{ templateId: ownSoftwareId, software },
      publicKeys: [newRenterKey().line],
    });
    await lab.of('runpod').allocate(request);
    const { host, port } = await untilActive(lab.of('runpod'), request.tag);
    const limits = { connectTimeoutMs: 1_500, identTimeoutMs: 500 };
    assert.equal((await probeSsh({ host, port, allowPrivate: true, ...limits })).answered, false);
  });

  it('leaves the words of an image alone that keeps its entrypoint, whatever they look like', async () => {
    const software = { ...scripted, entrypoint: 'keep', startScript: null, image: 'lab/command:1' } as const;
    const podId = await rent(software, false);
    const made = (await lab.state()).pods.find(({ id }) => id === podId);
    assert.equal(made?.args, `'it’s' '$HOME' 'a "b" \\c' '{"entrypoint":["x"]}'`);
    const only = await rent({ ...software, args: ['{"entrypoint":["x"]}'] }, false);
    assert.match((await lab.state()).pods.find(({ id }) => id === only)?.args ?? '', /^'/);
  });

  it('reaches Shadeform in the script of the machine, which fetches it there', async () => {
    const software = { ...scripted, image: 'lab/no-fetcher:1' };
    const bootstrap = bootstrapLines(url, token);
    const request = requestOf({ templateId: ownSoftwareId, software, bootstrap });
    await lab.provider.allocate(request);
    await until('it was fetched', () => Promise.resolve(asked.length === 2 || undefined));
    const sent = (await lab.state()).pods.find(({ name }) => name === request.tag)?.base64Script ?? '';
    const script = Buffer.from(sent, 'base64').toString('utf8');
    assert.ok(script.includes(token) && !/docker|GREETING/.test(script));
  });
});

describe('a start command', () => {
  const words: Readonly<Record<string, string[]>> = {
    'many short words': Array<string>(64).fill('x'.repeat(63)),
    'double quotes': ['"'.repeat(2_100)],
    'single quotes': ["'".repeat(1_030)],
    'a few words': ['serve', '--all'],
  };
  for (const [name, args] of Object.entries(words)) {
    for (const entrypoint of ['keep', 'replace'] as const) {
      for (const script of [null, 'x'.repeat(600)]) {
        if (entrypoint === 'keep' && script !== null) continue;
        it(`of ${name} fits where the quote says so: ${entrypoint}, ${script === null ? 'no script' : 'a script'}`, () => {
          const software = { ...noSoftware, image: 'x', entrypoint, args, startScript: script };
          const misfits = misfitsOf(outlineOf(software, null), runpodSoftware, ownSoftwareId);
          if (misfits.length === 0)
            assert.ok((commandOf(software, undefined) ?? '').length <= runpodSoftware.argsMaxChars);
          else assert.notEqual(name, 'a few words');
        });
      }
    }
  }

  it('of words is as long as the quote says', () => {
    for (const entrypoint of ['keep', 'replace'] as const) {
      const software = { ...noSoftware, image: 'x', entrypoint, args: ['it’s', '"', "'"] };
      assert.equal(commandOf(software, undefined)?.length, outlineOf(software, null).argsChars);
    }
  });
});

/** Docker as far as a machine needs it: it makes a container, copies a file into it, and starts it. */
const docker = `#!/bin/sh
echo "$1" >> "$HOME/steps"
case "$1" in
  login) cat > "$HOME/password" ;;
  cp) cp -p "$2" "$HOME/inside" ;;
  create) shift
    until [ "$1" = --entrypoint ]; do shift; done
    printf '%s\\n' "$2" > "$HOME/entrypoint"
    shift 3
    printf '%s\\0' "$@" > "$HOME/command" ;;
  start) sed -i "s#/start-script#$HOME/inside#" "$HOME/command"
    xargs -0 "$(cat "$HOME/entrypoint")" < "$HOME/command" ;;
  run) printf '%s\\n' "$@" > "$HOME/asked" ;;
esac
`;

describe('the container of a machine whose entrypoint is replaced', () => {
  let home: string;
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'container-'));
    mkdirSync(join(home, 'bin'));
    writeFileSync(join(home, 'bin', 'docker'), docker, { mode: 0o755 });
  });
  afterEach(() => rmSync(home, { recursive: true, force: true }));

  const run = (script: string) =>
    execFileSync('sh', ['-c', script], {
      env: { HOME: home, PATH: `${home}/bin:/usr/bin:/bin`, GREETING: 'hi “you”' },
    });
  const file = (name: string): string => readFileSync(join(home, name), 'utf8');
  const own = {
    ...{
      ...scripted,
      image: 'registry.example/team/server:1',
      startScript: startScript.replace(/while.*/, ''),
    },
    registryAuth: { username: 'renter', password: 'pull-me' },
  };

  it('has the script inside, and runs it with its arguments', () => {
    run(fetchedScript(own, 'container').replace('rm -f "$0"', ''));
    assert.equal(file('ran'), told);
    assert.deepEqual(file('steps').trim().split('\n'), ['login', 'create', 'cp', 'start', 'logout']);
    assert.equal(file('password'), 'pull-me');
  });

  it('runs words alone', () => {
    const software = { ...own, startScript: null, args: ['serve', '--all'], registryAuth: null };
    const container = ownContainerOf(software);
    run(startupScript({ throwAwayKey: 'k', publicKeys: [], container, software }));
    const words = file('asked').trim().split('\n');
    assert.deepEqual(words.slice(-4), ['--entrypoint', 'serve', own.image, '--all']);
    assert.ok(words.includes('GREETING=hi “you”'));
  });
});
