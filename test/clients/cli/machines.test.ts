import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createServer } from 'node:http';
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AddressInfo } from 'node:net';
import { exitCodes } from '../../../clients/cli/src/exit-codes.js';
import { runProgram } from '../../../clients/cli/src/surroundings.js';
import { findFreePorts } from '../../../lab/stack/ports.js';
import { startMock, type MockServer } from '../../../lab/mock/server.js';
import { until } from '../../support/until.js';
import { GpuUser } from './support/gpu.js';
import { Person } from './support/person.js';
import { SshMachine } from './support/ssh-machine.js';
import { gpuFile, keys, Terminal } from './support/terminal.js';

describe('gpu, on a machine', () => {
  let mock: MockServer;
  let ann: Person;
  let machine: SshMachine;
  let rentalId: string;

  before(async () => {
    mock = await startMock({ port: 0, durations: { provisionMs: 50, tickMs: 200, endMs: 20 } });
    machine = await SshMachine.start();
    ann = await Person.at(mock);
    await ann.pay(20);
    rentalId = await ann.rent('rtx-4090 --name box');
  });
  after(async () => {
    await machine.stop();
    await mock.stop();
  });

  const at = (over?: Parameters<SshMachine['told']>[0]): typeof fetch => machine.told(over);

  const knownHosts = (): string => join(ann.home, '.local/state/gpu-rental/known_hosts', rentalId);

  const noNetwork: typeof fetch = () =>
    Promise.reject(
      Object.assign(new TypeError('fetch failed'), {
        cause: Object.assign(new Error('ENETUNREACH'), { code: 'ENETUNREACH' }),
      }),
    );
  const flat = (text: string): string => text.replace(/\s+/g, ' ');

  it('made a key pair of its own for it, readable by its owner only, and sent the public half', async () => {
    const file = join(ann.home, '.local/share/gpu-rental/id_ed25519');
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.match(readFileSync(`${file}.pub`, 'utf8'), /^ssh-ed25519 \S+ gpu-rental\n$/);
    assert.deepEqual(readdirSync(join(file, '..')).toSorted(), ['id_ed25519', 'id_ed25519.pub']);
    const before = readFileSync(file, 'utf8');
    await ann.json('quote rtx-4090');
    assert.equal(readFileSync(file, 'utf8'), before);
    const { body } = await ann.elsewhere.get(`/v1/rentals/${rentalId}`);
    assert.deepEqual(body.warnings, [], 'the machine knows a key');
  });

  it('is refused as before while the service is away and nothing is pinned', async () => {
    const { code } = await ann.run(['ssh', 'box', '--', 'true'], { fetch: noNetwork });
    assert.equal(code, exitCodes.network);
  });

  // What ssh writes goes to the terminal of whoever runs it; here the files that commands leave are looked at.
  it('runs a command by the user’s own ssh, with the pinned host key and the right key of theirs', async () => {
    const mark = join(ann.home, 'mark');
    const { code, err } = await ann.run(['ssh', 'box', '--', `echo done > ${mark}`], { fetch: at() });
    assert.equal(code, 0, err);
    assert.equal(readFileSync(mark, 'utf8'), 'done\n');
    const own = spawnSync('ssh-keygen', ['-lf', join(ann.home, '.local/share/gpu-rental/id_ed25519.pub')], {
      encoding: 'utf8',
    });
    assert.deepEqual(machine.entered.at(-1), { username: 'ubuntu', fingerprint: own.stdout.split(' ')[1] });
    assert.match(readFileSync(knownHosts(), 'utf8'), new RegExp(`^${rentalId} ssh-rsa \\S+\n$`));
  });

  it('passes the exit code of the command on, and takes the only machine when none is named', async () => {
    assert.equal((await ann.run(['ssh', '--', 'exit 7'], { fetch: at() })).code, 7);
    assert.equal((await ann.run(['ssh', rentalId.slice(-6), '--', 'exit 3'], { fetch: at() })).code, 3);
    assert.equal(
      (await ann.run(['ssh', rentalId.slice(-6).toLowerCase(), '--', 'true'], { fetch: at() })).code,
      0,
    );
  });

  it('refuses a machine that shows another host key than the service saw, and says what that may mean', async () => {
    const other = `SHA256:${'A'.repeat(43)}`;
    const before = machine.entered.length;
    const { code, err } = await ann.run(['ssh', 'box', '--', 'true'], {
      fetch: at({ hostKeyFingerprint: other }),
    });
    assert.equal(code, exitCodes.hostKey, err);
    const text = err.replace(/\n/g, ' ');
    assert.match(text, /has another host key than when it started, so we did not connect/);
    assert.ok(text.includes(`Expected: ${other}`), text);
    assert.ok(text.includes(`Shown: ${machine.fingerprint}`), text);
    assert.match(text, /Someone may be between you and the machine/);
    assert.equal(machine.entered.length, before);
  });

  it('refuses a machine whose host key has changed after it was pinned', async () => {
    assert.equal((await ann.run(['ssh', 'box', '--', 'true'], { fetch: at() })).code, 0);
    const { port, fingerprint } = machine;
    await machine.stop();
    const impostor = await SshMachine.start(port);
    try {
      const { code, err } = await ann.run(['ssh', 'box', '--', 'true'], {
        fetch: at({ hostKeyFingerprint: fingerprint, port }),
      });
      assert.equal(code, exitCodes.hostKey, err);
      assert.ok(err.replace(/\n/g, ' ').includes(`Shown: ${impostor.fingerprint}`), err);
      assert.deepEqual(impostor.entered, []);
    } finally {
      await impostor.stop();
      machine = await SshMachine.start();
    }
  });

  it('says that a machine does not answer, and where', async () => {
    const closed = await SshMachine.start();
    const { port } = closed;
    await closed.stop();
    const silent = { port, hostKeyFingerprint: closed.fingerprint };
    const { code, err } = await ann.run(['ssh', 'box', '--', 'true'], { fetch: at(silent) });
    assert.equal(code, exitCodes.network, err);
    assert.match(err, new RegExp(`box does not answer at 127\\.0\\.0\\.1 port ${port}\\.`));
  });

  it('does not enter a machine whose host key nobody has seen yet, and does not call it ended', async () => {
    const unseen = { hostKeyFingerprint: null };
    const { code, err } = await ann.run(['ssh', 'box', '--', 'true'], { fetch: at(unseen) });
    assert.equal(code, exitCodes.notReached, err);
    assert.match(flat(err), /box has not shown its host key yet\. Try again in a minute\./);
  });

  it('enters by a stored key of ~/.ssh as well, or by the one that is named', async () => {
    const folder = join(ann.home, '.ssh');
    mkdirSync(folder);
    for (const name of ['id_ed25519', 'other']) {
      spawnSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'x', '-f', join(folder, name)]);
    }
    const publicKey = readFileSync(join(folder, 'id_ed25519.pub'), 'utf8').trim();
    const { body: stored } = await ann.elsewhere.post('/v1/ssh-keys', { name: 'laptop', publicKey });
    machine.letsIn = [stored.fingerprint];
    assert.equal((await ann.run(['ssh', 'box', '--', 'true'], { fetch: at() })).code, 0);
    const refused = await ann.run(['ssh', 'box', '-i', join(folder, 'other'), '--', 'true'], { fetch: at() });
    assert.equal(refused.code, 255);
    assert.match(refused.err, /--identity/);
    const missing = await ann.run(['ssh', 'box', '-i', join(folder, 'none'), '--', 'true'], { fetch: at() });
    assert.equal(missing.code, exitCodes.usage);
    machine.letsIn = undefined;
  });

  it('copies files there and back, folders too', async () => {
    const [from, there, back] = ['from', 'there', 'back'].map((name) => join(ann.home, name)) as [
      string,
      string,
      string,
    ];
    mkdirSync(from);
    writeFileSync(join(from, 'a file.txt'), 'content');
    const up = await ann.run(['cp', '-r', from, `box:${there}`], { fetch: at() });
    assert.equal(up.code, 0, up.err);
    assert.equal(readFileSync(join(there, 'a file.txt'), 'utf8'), 'content');
    const down = await ann.run(['cp', '-r', `:${there}`, back], { fetch: at() });
    assert.equal(down.code, 0, down.err);
    assert.equal(readFileSync(join(back, 'a file.txt'), 'utf8'), 'content');
  });

  it('says that a machine has ended, and does not connect', async () => {
    const ended = await ann.rent('rtx-4090 --name ended');
    assert.equal((await ann.type('stop ended')).code, 0);
    const { code, err } = await ann.run(['ssh', 'ended', '--', 'true'], { fetch: at() });
    assert.equal(code, exitCodes.notFound);
    assert.match(err, /ended is no longer running: you stopped it\./);
    assert.equal(existsSync(join(knownHosts(), '..', ended)), false);
  });

  it('stops a machine also where its files here can’t be reached', async () => {
    const file = join(ann.home, 'file');
    writeFileSync(file, '');
    await ann.rent('rtx-4090 --name one --no-wait');
    const { code, err } = await ann.type('stop one', { env: { XDG_STATE_HOME: file } });
    assert.deepEqual([code, err], [0, '']);
    await ann.rent('rtx-4090 --name two --no-wait');
    const homeless = Object.assign(new GpuUser(mock.url, ann.apiKey), { home: '' });
    assert.equal((await homeless.type('stop two')).code, 0);
  });

  it('forwards a port of the machine to this one until ctrl-C', async () => {
    const page = createServer((_request, response) => response.end('a notebook'));
    await new Promise<void>((resolve) => page.listen(0, '127.0.0.1', resolve));
    const remotePort = (page.address() as AddressInfo).port;
    const [localPort = 0] = await findFreePorts(1);
    // The mock is asked through a proxy of this process, because the command runs in another one.
    const proxy = await changingProxy(at());
    const terminal = new Terminal(`${gpuFile} ports ${localPort}:${remotePort}`, {
      env: { HOME: ann.home, GPU_API_URL: proxy.url, GPU_API_KEY: ann.apiKey ?? '' },
      columns: 60,
    });
    try {
      await terminal.sees(`http://127.0.0.1:${localPort} is port ${remotePort} of box`);
      await terminal.sees('Connected. Press ctrl-C to end.');
      assert.equal(await (await fetch(`http://127.0.0.1:${localPort}`)).text(), 'a notebook');
      terminal.press(keys.ctrlC);
      assert.equal(await terminal.ended(), 0);
    } finally {
      terminal.kill();
      proxy.close();
      page.close();
      page.closeAllConnections();
    }
  });

  it('ends what it runs when it is told to end by a signal', async () => {
    const mark = join(ann.home, 'running');
    const [localPort = 0] = await findFreePorts(1);
    const lines = [
      ['ssh', 'box', '--', `touch ${mark}; exec sleep 20`],
      ['ports', '--machine', 'box', `${localPort}:1`],
    ];
    const entered = machine.entered.length;
    const started = [() => existsSync(mark), () => machine.entered.length === entered + 2];
    for (const [index, line] of lines.entries()) {
      const stopping = new AbortController();
      const ran = ann.run(line, { fetch: at(), signal: stopping.signal });
      await until('it is in the machine', started[index]!);
      stopping.abort(new Error('Cancelled.'));
      const { code, err } = await ran;
      assert.equal(code === 0, line[0] === 'ports', `${line[0]} ended with ${code}: ${err}`);
    }
    await until('nobody is in the machine', () => machine.connected === 0);
  });

  it('prints its line, which a shell runs as it is', async () => {
    const mark = join(ann.home, 'a mark');
    const before = machine.entered.length;
    const remote = `echo "it's done" > '${mark}'`;
    const { code, out, err } = await ann.run(['ssh', 'box', '--print', '--', remote], {
      fetch: machine.told(),
    });
    assert.equal(code, 0, err);
    assert.match(out, /^ssh -p \d+ -l ubuntu -o .*\n$/);
    assert.equal(machine.entered.length, before, 'nothing was entered');
    const ran = await ann.run(['ssh', 'box', '--print', '--json', '--', remote], { fetch: machine.told() });
    const { command } = JSON.parse(ran.out) as { command: string[] };
    assert.deepEqual([command[0], command.at(-1)], ['ssh', remote]);
    const { code: ended } = await runProgram('sh', ['-c', out]);
    assert.equal(ended, 0);
    assert.equal(readFileSync(mark, 'utf8'), "it's done\n");
  });

  it('enters a machine from what it has pinned while the service is away, and says so', async () => {
    const hour = 3_600_000;
    const entered = await ann.run(['ssh', 'box', '--', 'true'], { fetch: machine.told() });
    assert.equal(entered.code, 0, entered.err);
    for (const words of [['box'], [rentalId], [rentalId.slice(-6).toLowerCase()], []]) {
      const mark = join(ann.home, 'mark');
      const { code, err } = await ann.run(['ssh', ...words, '--', `echo ${words.join()} > ${mark}`], {
        fetch: noNetwork,
        now: () => Date.now() + 2 * hour,
      });
      assert.equal(code, 0, err);
      assert.equal(readFileSync(mark, 'utf8'), `${words.join()}\n`);
      assert.match(
        flat(err),
        /^No connection to \S+: the network is not reachable\. Trying box where it was 2 h ago, at 127\.0\.0\.1 port \d+, with the host key that was pinned then\. $/,
      );
    }
    const other = await ann.run(['ssh', 'other', '--', 'true'], { fetch: noNetwork });
    assert.equal(other.code, exitCodes.network);
    const elsewhere = await ann.run(['ssh', 'box', '--url', 'https://gpu.invalid', '--', 'true'], {
      fetch: noNetwork,
    });
    assert.equal(elsewhere.code, exitCodes.network, 'it belongs to one service');
  });

  it('takes no other host key than the pinned one while the service is away', async () => {
    const { port } = machine;
    await machine.stop();
    const impostor = await SshMachine.start(port);
    try {
      const { code, err } = await ann.run(['ssh', 'box', '--', 'true'], { fetch: noNetwork });
      assert.equal(code, exitCodes.hostKey, err);
      assert.deepEqual(impostor.entered, []);
    } finally {
      await impostor.stop();
      machine = await SshMachine.start();
    }
  });

  it('names the machines that it knows where one must be named', async () => {
    const twin = await ann.rent('rtx-4090 --name twin');
    const fetch = machine.told();
    for (const name of ['box', 'twin'])
      assert.equal((await ann.run(['ssh', name, '--', 'true'], { fetch })).code, 0);
    const { code, err } = await ann.run(['ssh', '--', 'true'], { fetch: noNetwork });
    assert.equal(code, exitCodes.usage);
    assert.ok(flat(err).includes(`${twin.slice(-6)} (twin)`), err);
    const kept = join(ann.home, '.local/state/gpu-rental/machines', twin);
    assert.ok(existsSync(kept));
    assert.equal((await ann.type('stop twin')).code, 0);
    assert.equal(existsSync(kept), false, 'what has ended is forgotten');
  });

  async function changingProxy(change: typeof fetch): Promise<{ url: string; close(): void }> {
    const server = createServer((request, response) => {
      void change(`${mock.url}${request.url ?? ''}`, {
        headers: { authorization: request.headers.authorization ?? '', cookie: request.headers.cookie ?? '' },
      }).then(async (answer) => {
        response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' });
        response.end(await answer.text());
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return {
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      close() {
        server.close();
        server.closeAllConnections();
      },
    };
  }
});
