import assert from 'node:assert/strict';
import type { Rental } from '@gpu-rental/client';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { exitCodes } from '../../../clients/cli/src/exit-codes.js';
import { runProgram, type Surroundings } from '../../../clients/cli/src/surroundings.js';
import { startMock, type MockServer } from '../../../lab/mock/server.js';
import { parse } from 'yaml';
import { Person } from './support/person.js';
import { SshMachine } from './support/ssh-machine.js';
import { asVirtualMachine } from './support/virtual-machine.js';

describe('gpu export', () => {
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

  const run = (line: string, more: object = {}) => ann.type(line, { fetch: machine.told(), ...more });
  const asVm = { run: asVirtualMachine };

  it('says that nothing runs, and which tools there are', async () => {
    assert.equal((await run('export dstack')).code, exitCodes.notFound);
    const { code, err } = await run('export nomad');
    assert.equal(code, exitCodes.usage);
    assert.match(err, /dstack, skypilot/);
  });

  it('leaves containers out: this test’s machine runs no system of its own', async () => {
    await ann.rent('rtx-4090 --name box');
    const asContainer: Surroundings['run'] = (program, args, options) =>
      runProgram(
        program,
        args.map((word) => word.replace('/run/systemd/system', '/nowhere')),
        options,
      );
    const { code, out, err } = await run('export dstack', { run: asContainer });
    assert.deepEqual([code, out], [exitCodes.notAvailable, '']);
    assert.match(err.replaceAll(/\s+/g, ' '), /These are containers.*: .*box/);
  });

  it('prints the fleet of dstack: addresses, users and the key of this computer', async () => {
    const { code, out, err } = await run('export dstack', asVm);
    assert.equal(code, 0, err);
    assert.match(err, /does not check host keys/);
    assert.deepEqual(parse(out), {
      ...{ type: 'fleet', name: 'gpu-rental' },
      ssh_config: {
        hosts: [
          {
            ...{ hostname: '127.0.0.1', port: machine.port, user: 'ubuntu' },
            identity_file: join(ann.home, '.local/share/gpu-rental/id_ed25519'),
          },
        ],
      },
    });
  });

  it('prints the pool of SkyPilot: names that ssh knows, of those machines that are meant', async () => {
    await ann.rent('rtx-4090 --name other');
    const { out, code, err } = await run('export skypilot box', asVm);
    assert.equal(code, 0, err);
    assert.deepEqual(parse(out), { 'gpu-rental': { hosts: ['gpu-box'] } });
    const all = await run('export skypilot', asVm);
    assert.deepEqual(parse(all.out), { 'gpu-rental': { hosts: ['gpu-other', 'gpu-box'] } });
    assert.match(readFileSync(join(ann.home, '.ssh/config'), 'utf8'), /^Include /);
  });

  /** Asks as `told` does; the machine `other` has no SSH. */
  const withoutSsh: typeof fetch = async (input, init) => {
    const response = await machine.told()(input, init);
    const body = (await response.json()) as { rentals?: Rental[] };
    const rentals = body.rentals?.map((rental) =>
      rental.name === 'other' ? { ...rental, host: null, hostKeyFingerprint: null } : rental,
    );
    const { status, headers } = response;
    return new Response(JSON.stringify({ ...body, ...(rentals && { rentals }) }), { status, headers });
  };

  it('leaves out a machine without SSH, and says so, unless it is named or the only one', async () => {
    const more = { ...asVm, fetch: withoutSsh };
    const { code, out, err } = await ann.type('export skypilot', more);
    assert.equal(code, 0, err);
    assert.deepEqual(parse(out), { 'gpu-rental': { hosts: ['gpu-box'] } });
    assert.match(err.replaceAll(/\s+/g, ' '), /Left out: .*other.* does not answer over SSH/);
    const apart = await ann.type('export skypilot box', more);
    assert.equal(apart.code, 0);
    assert.doesNotMatch(apart.err, /Left out/);
    for (const line of ['export skypilot other', 'export skypilot other box']) {
      const named = await ann.type(line, more);
      assert.deepEqual([named.code, named.out], [exitCodes.notReached, ''], named.err);
    }
  });

  it('leaves out a machine that lets nobody in, while another one does', async () => {
    const { rentals } = await ann.json<{ rentals: Rental[] }>('ls');
    const { id = 'none' } = rentals.find(({ name }) => name === 'other') ?? {};
    const { code, out, err } = await run('export skypilot', {
      run: ((program, args, options) =>
        args.join(' ').includes(id)
          ? Promise.resolve({ code: 255, stdout: '', stderr: 'Permission denied' })
          : asVirtualMachine(program, args, options)) satisfies Surroundings['run'],
    });
    assert.equal(code, 0, err);
    assert.deepEqual(parse(out), { 'gpu-rental': { hosts: ['gpu-box'] } });
    assert.match(err.replaceAll(/\s+/g, ' '), /Left out: .*other does not let you in: Permission denied/);
  });

  it('says why a machine lets nobody in', async () => {
    machine.letsIn = [];
    const { code, err } = await run('export dstack box');
    machine.letsIn = undefined;
    assert.equal(code, exitCodes.notReached);
    assert.match(err, /does not let you in/);
  });
});
