import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { exitCodes } from '../../../clients/cli/src/exit-codes.js';
import { runProgram } from '../../../clients/cli/src/surroundings.js';
import { startMock, type MockServer } from '../../../lab/mock/server.js';
import { Person } from './support/person.js';
import { SshMachine } from './support/ssh-machine.js';

describe('gpu ssh', () => {
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

  const noNetwork: typeof fetch = () =>
    Promise.reject(
      Object.assign(new TypeError('fetch failed'), {
        cause: Object.assign(new Error('ENETUNREACH'), { code: 'ENETUNREACH' }),
      }),
    );
  const flat = (text: string): string => text.replace(/\s+/g, ' ');

  it('is refused as before while the service is away and nothing is pinned', async () => {
    const { code } = await ann.run(['ssh', 'box', '--', 'true'], { fetch: noNetwork });
    assert.equal(code, exitCodes.network);
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
});
