import assert from 'node:assert/strict';
import { createServer, type AddressInfo } from 'node:net';
import { exitCodes } from '../../../clients/cli/src/exit-codes.js';
import { runProgram, type Surroundings } from '../../../clients/cli/src/surroundings.js';
import { startMock, type MockServer } from '../../../lab/mock/server.js';
import { Person } from './support/person.js';
import { SshMachine } from './support/ssh-machine.js';

describe('gpu notebook', () => {
  let mock: MockServer;
  let ann: Person;
  let machine: SshMachine;
  before(async () => {
    mock = await startMock({ port: 0, durations: { provisionMs: 50, tickMs: 200, endMs: 20 } });
    machine = await SshMachine.start();
    ann = await Person.at(mock);
    await ann.pay(20);
  });
  after(async () => {
    await machine.stop();
    await mock.stop();
  });

  const tokenOf = async (id: string, name: string): Promise<string> => {
    const { body } = await ann.elsewhere.get(`/v1/rentals/${id}/endpoints/${name}/token`);
    return (body as unknown as { token: string }).token;
  };

  it('leads a free port here to the one of the machine, and shows its token on a terminal alone', async () => {
    const id = await ann.rent('rtx-4090 --template jupyter --name nb');
    const token = await tokenOf(id, 'notebook');
    /** The arguments of the tunnels that were opened. */
    const tunnels: string[] = [];
    const run: Surroundings['run'] = (program, args, options) => {
      if (program !== 'ssh') return runProgram(program, args, options);
      tunnels.push(args.join(' '));
      return Promise.resolve({ code: 0, stdout: '', stderr: '' });
    };
    const told = { fetch: machine.told(), run };
    const shown = await ann.type('notebook nb', { ...told, columns: 100 });
    assert.equal(shown.code, 0, shown.err);
    const [, url = '', port = ''] = /Notebook +(http:\/\/127\.0\.0\.1:(\d+)\/)\n/.exec(shown.out) ?? [];
    assert.match(shown.out, new RegExp(`Token +${token}\n`));
    assert.ok(!url.includes(token));
    assert.ok(tunnels[0]?.includes(` -L 127.0.0.1:${port}:127.0.0.1:8888 `), tunnels[0]);
    for (const line of ['notebook nb', 'notebook nb --json']) {
      const piped = await ann.type(line, told);
      assert.equal(piped.code, 0, piped.err);
      assert.match(piped.out, /http:\/\/127\.0\.0\.1:\d+\//);
      assert.ok(!(piped.out + piped.err).includes(token), line);
    }
    // Somebody else has the port already.
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const taken = (other.address() as AddressInfo).port;
    try {
      await ann.type(`notebook nb --port ${taken}`, told);
      assert.ok(
        tunnels.at(-1)?.includes(` -L 127.0.0.1:${taken}:`),
        'a port that was named is taken as it is',
      );
    } finally {
      other.close();
    }
    const { out: facts } = await ann.type('show nb');
    assert.match(facts, new RegExp(`notebook: gpu notebook ${id.slice(-6)}\n`));
    await ann.type(`stop nb --yes`);
  });

  it('ends well at ctrl-C, also where ssh hears of it first', async () => {
    await ann.rent('rtx-4090 --template jupyter --name cut');
    const ctrlC = new AbortController();
    let hasEnded = false;
    const run: Surroundings['run'] = (program, args, options) => {
      if (program === 'ssh') hasEnded = true;
      if (program === 'ssh') return Promise.resolve({ code: 255, stdout: '', stderr: '' });
      if (hasEnded) ctrlC.abort(new Error('ctrl-C'));
      return runProgram(program, args, options);
    };
    const { code, err } = await ann.type('notebook cut', {
      fetch: machine.told(),
      run,
      signal: ctrlC.signal,
    });
    assert.ok(ctrlC.signal.aborted, 'the host key was looked at after ssh had ended');
    assert.equal(code, 0, err);
    await ann.type('stop cut --yes');
  });

  it('shows the address of a public one, and warns', async () => {
    const id = await ann.rent('rtx-4090 --template jupyter --name open --port lab:8888/http:public');
    const { code, out, err } = await ann.type('notebook open', { columns: 100 });
    assert.equal(code, 0, err);
    assert.match(out, /Notebook +http:\/\/203\.0\.113\.\d+:8888\/\n/);
    assert.match(out, new RegExp(`Token +${await tokenOf(id, 'lab')}\n`));
    assert.match(err, /its token is all that keeps them out/);
    const { out: facts } = await ann.type('show open');
    assert.match(facts, /lab: http:\S+ \(public\)/);
  });

  it('says which machines have none, and who may read a token', async () => {
    const plain = await ann.rent('rtx-4090 --name plain');
    const none = await ann.type('notebook plain');
    assert.equal(none.code, exitCodes.usage);
    assert.match(none.err, /plain has no notebook[^]*gpu rent --template jupyter/);
    await ann.type(`stop ${plain} --yes`);
    const { body } = await ann.elsewhere.post('/v1/rentals', {
      ...{ familyId: 'rtx-4090', gpuCount: 1, templateId: 'jupyter', name: 'theirs' },
      ports: [{ name: 'lab', port: 8888, kind: 'http', public: true }],
    });
    const { code, out, err } = await ann.type('notebook theirs', { columns: 100 });
    assert.equal(code, 0, err);
    assert.match(err, /can’t read its token\. Copy it on the/);
    assert.ok(!out.includes(await tokenOf(body.id, 'lab')));
  });
});
