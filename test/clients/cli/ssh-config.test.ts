import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { exitCodes } from '../../../clients/cli/src/exit-codes.js';
import { runProgram } from '../../../clients/cli/src/surroundings.js';
import { startMock, type MockServer } from '../../../lab/mock/server.js';
import { until } from '../../support/until.js';
import { Person } from './support/person.js';
import { SshMachine } from './support/ssh-machine.js';
import { gpuLine } from './support/terminal.js';

describe('gpu ssh-config', () => {
  let mock: MockServer;
  let ann: Person;
  let machine: SshMachine;
  let boxId: string;

  before(async () => {
    mock = await startMock({ port: 0, durations: { provisionMs: 50, tickMs: 200, endMs: 20 } });
    machine = await SshMachine.start();
    ann = await Person.at(mock);
    await ann.pay(20);
    boxId = await ann.rent('rtx-4090 --name box');
  });
  after(async () => {
    await machine.stop();
    await mock.stop();
  });

  const config = (): string => join(ann.home, '.ssh/config');
  const folder = (): string => join(ann.home, '.local/state/gpu-rental/ssh_config.d');
  const includeLine = (): string => `Include "${folder()}/*.conf"`;
  const written = (): string =>
    readdirSync(folder())
      .map((file) => readFileSync(join(folder(), file), 'utf8'))
      .join('');
  const theirs = 'Host other\r\n  User them\n\n# the last line ends without a break';

  interface Answer {
    readonly include: { readonly added: boolean };
    readonly machines: readonly { readonly rentalId: string; readonly names: readonly string[] }[];
    readonly removed: readonly string[];
  }
  const write = (): Promise<Answer> => ann.json<Answer>('ssh-config', { fetch: machine.told() });

  it('adds one line to ~/.ssh/config, and a name for each running machine by which ssh finds it', async () => {
    mkdirSync(join(ann.home, '.ssh'));
    writeFileSync(config(), theirs);
    const { code, out, err } = await ann.type('ssh-config', { fetch: machine.told() });
    assert.equal(code, 0, err);
    assert.match(out, /^NAME +ALSO +ADDRESS\ngpu-box +gpu-\w{6} +127\.0\.0\.1 port \d+\n/);
    assert.ok(out.replaceAll(/\s+/g, ' ').includes(`Added to ${config()}: ${includeLine()}`), out);
    assert.match(out, /\nLog in: ssh gpu-box\n$/);
    assert.equal(readFileSync(config(), 'utf8'), `${includeLine()}\n${theirs}`);
    assert.equal(statSync(config()).mode & 0o077, 0);
    for (const name of ['gpu-box', `gpu-${boxId.slice(-6)}`]) {
      const entered = machine.entered.length;
      const ran = await runProgram('ssh', ['-F', config(), name, 'true']);
      assert.equal(ran.code, 0, ran.stderr);
      assert.equal(machine.entered.length, entered + 1);
      assert.equal(machine.entered.at(-1)?.username, 'ubuntu');
    }
  });

  it('changes nothing when it is run again', async () => {
    const before = [readFileSync(config(), 'utf8'), written()];
    const { include, machines, removed } = await write();
    assert.deepEqual([include.added, removed], [false, []]);
    assert.deepEqual(machines, [
      { ...machines[0], rentalId: boxId, names: [`gpu-${boxId.slice(-6)}`, 'gpu-box'] },
    ]);
    assert.deepEqual([readFileSync(config(), 'utf8'), written()], before);
  });

  it('pins the host key: ssh refuses another machine at that address', async () => {
    const { port } = machine;
    await machine.stop();
    const impostor = await SshMachine.start(port);
    try {
      const { code, stderr } = await runProgram('ssh', ['-F', config(), 'gpu-box', 'true']);
      assert.equal(code, 255);
      assert.match(stderr, /IDENTIFICATION HAS CHANGED/);
      assert.deepEqual(impostor.entered, []);
    } finally {
      await impostor.stop();
      machine = await SshMachine.start();
    }
  });

  it('takes no name that ssh would read as a pattern, as two, or as that of another one', async () => {
    const odd = await ann.rent('rtx-4090');
    await ann.elsewhere.patch(`/v1/rentals/${odd}`, { name: '* !gpu-box' });
    const twin = await ann.rent('rtx-4090 --name box');
    const { machines } = await write();
    const names = new Map(machines.map((each) => [each.rentalId, each.names]));
    assert.deepEqual(names.get(odd), [`gpu-${odd.slice(-6)}`]);
    assert.deepEqual(names.get(twin), [`gpu-${twin.slice(-6)}`, 'gpu-box'], 'the newest one has the name');
    assert.deepEqual(names.get(boxId), [`gpu-${boxId.slice(-6)}`]);
    for (const id of [odd, twin]) assert.equal((await ann.type(`stop ${id}`)).code, 0);
  });

  it('removes what is gone, and leaves a machine out that does not answer as it should', async () => {
    const gone = await ann.rent('rtx-4090 --name gone');
    assert.match(written(), /gpu-box/);
    await write();
    assert.match(written(), /gpu-gone/);
    assert.equal((await ann.type(`stop ${gone}`)).code, 0);
    await until('it is gone', async () => !(await ann.type('ls')).out.includes('gone'));
    const { removed } = await write();
    assert.deepEqual(removed, [`gpu-${gone.slice(-6)}`, 'gpu-gone']);
    assert.doesNotMatch(written(), /gone/);
    const other = `SHA256:${'A'.repeat(43)}`;
    const { code, out, err } = await ann.type('ssh-config', {
      fetch: machine.told({ hostKeyFingerprint: other }),
    });
    assert.equal(code, exitCodes.hostKey, err);
    assert.match(out, /^None of your machines could be named\.\nRemoved: gpu-/);
    assert.doesNotMatch(written(), /Host /);
    await write();
  });

  it('gives no name that another sign-in’s machine has, and leaves that one’s names and the line to it', async () => {
    const other = join(folder(), 'other.conf');
    writeFileSync(other, 'Host gpu-AAAAAA gpu-box\n  HostName 192.0.2.1\n');
    const { machines } = await write();
    assert.deepEqual(
      machines.map(({ names }) => names),
      [[`gpu-${boxId.slice(-6)}`]],
    );
    assert.match(
      (await ann.type('ssh-config --remove')).out,
      /The line stays in .*config for your other sign-ins/,
    );
    assert.deepEqual(readdirSync(folder()), ['other.conf']);
    assert.ok(readFileSync(config(), 'utf8').startsWith(includeLine()));
    rmSync(other);
    await write();
  });

  it('forgets a machine that ended elsewhere', async () => {
    const ended = await ann.rent('rtx-4090 --name elsewhere');
    await write();
    const kept = (): boolean => readdirSync(join(folder(), '../machines')).includes(ended);
    assert.ok(kept());
    await ann.elsewhere.post(`/v1/rentals/${ended}/stop`, {});
    await until('it is gone', async () => !(await ann.type('ls')).out.includes('elsewhere'));
    await write();
    assert.ok(!kept());
  });

  it('takes its line and its files away again, and nothing else', async () => {
    assert.equal((await ann.type('ssh-config --remove')).code, 0);
    assert.equal(readFileSync(config(), 'utf8'), theirs);
    assert.equal(existsSync(folder()), false);
    assert.match((await ann.type('ssh-config --remove')).out, /has no line of gpu ssh-config/);
  });

  it('leaves a configuration alone that is no text', async () => {
    const bytes = Buffer.from([0x23, 0xff, 0xfe, 0x0a]);
    writeFileSync(config(), bytes);
    const { code, err } = await ann.type('ssh-config', { fetch: machine.told() });
    assert.equal(code, exitCodes.usage);
    assert.ok(err.replace(/\s+/g, ' ').includes('is not UTF-8 text'), err);
    assert.deepEqual(readFileSync(config()), bytes);
  });

  it('leaves the file as it was where the disk takes only a part of it', async () => {
    const bob = await Person.at(mock);
    const before = `# ${'x'.repeat(20_000)}\n`;
    const file = join(bob.home, '.ssh/config');
    mkdirSync(join(bob.home, '.ssh'));
    writeFileSync(file, before);
    // 8 KiB, and an error in place of the signal that ends a program.
    const line = `trap "" XFSZ; ulimit -f 8; exec ${await gpuLine()} ssh-config`;
    const { code, stderr } = await runProgram('env', [
      ...[`HOME=${bob.home}`, `GPU_API_URL=${mock.url}`, `GPU_API_KEY=${bob.apiKey ?? ''}`],
      ...['bash', '-c', line],
    ]);
    assert.equal(code, exitCodes.fault, stderr);
    assert.ok(stderr.replace(/\s/g, '').includes(file), stderr);
    assert.match(stderr.replace(/\s+/g, ' '), /larger than files may be/);
    assert.equal(readFileSync(file, 'utf8'), before);
    assert.deepEqual(readdirSync(join(bob.home, '.ssh')), ['config']);
  });
});
