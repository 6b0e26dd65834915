import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startMock, type MockServer } from '../../../lab/mock/server.js';
import { readStackSettings } from '../../../lab/stack/settings.js';
import { findPythonEnvironment } from '../../../tools/verify-api/python-package.js';
import { Person } from './support/person.js';
import { SshMachine } from './support/ssh-machine.js';
import { asVirtualMachine } from './support/virtual-machine.js';

const run = promisify(execFile);

/** The programs that read the files, as they are published. */
const packages = { dstack: 'dstack==0.22.5', skypilot: 'skypilot==0.14.1' };

/** Reads a fleet as `dstack apply` does before it asks its server. */
const readFleet = `import json, sys, yaml
from dstack._internal.core.models.configurations import parse_apply_configuration
fleet = parse_apply_configuration(yaml.safe_load(open(sys.argv[1])))
print(json.dumps([fleet.type, fleet.name, [[h.hostname, h.port, h.user, h.identity_file] for h in fleet.ssh_config.hosts]]))`;

/** Reads a pool as \`sky ssh up\` does before it installs anything. */
const readPool = `import json, sys
from sky.ssh_node_pools import utils
pools = utils.get_cluster_config(utils.load_ssh_targets(sys.argv[1]))
print(json.dumps({name: utils.prepare_hosts_info(name, pool) for name, pool in pools.items()}))`;

describe('what gpu export prints, read by the published programs', function () {
  this.timeout(600_000);
  let mock: MockServer;
  let ann: Person;
  let machine: SshMachine;

  before(async () => {
    mock = await startMock({ port: 0, durations: { provisionMs: 50, tickMs: 200, endMs: 20 } });
    machine = await SshMachine.start();
    ann = await Person.at(mock);
    await ann.pay(20);
    await ann.rent('rtx-4090 --name box');
  });
  after(async () => {
    await machine.stop();
    await mock.stop();
  });

  async function pythonWith(tool: keyof typeof packages): Promise<string> {
    const wanted = [packages[tool]];
    const { cliPlaces } = readStackSettings(process.env);
    const python = await findPythonEnvironment(
      packages[tool].replace('==', '-'),
      wanted,
      cliPlaces,
      () => undefined,
    );
    assert.ok(python, 'There is no Python from 3.10 with venv on the PATH.');
    return python;
  }

  /** What a tool reads of the file that is printed for it. */
  async function readBy(tool: keyof typeof packages, program: string): Promise<unknown> {
    const { code, out, err } = await ann.type(`export ${tool}`, {
      fetch: machine.told(),
      run: asVirtualMachine,
    });
    assert.equal(code, 0, err);
    const file = join(ann.home, `${tool}.yaml`);
    writeFileSync(file, out);
    // OpenSSH finds its configuration by the system's home folder, not by HOME.
    const bin = join(ann.home, 'bin');
    mkdirSync(bin, { recursive: true });
    writeFileSync(join(bin, 'ssh'), `#!/bin/sh\nexec /usr/bin/ssh -F "${ann.home}/.ssh/config" "$@"\n`);
    chmodSync(join(bin, 'ssh'), 0o755);
    const env = { HOME: ann.home, PATH: `${bin}:${process.env['PATH'] ?? ''}` };
    const { stdout } = await run(await pythonWith(tool), ['-c', program, file], { env });
    return JSON.parse(stdout.trim().split('\n').at(-1)!);
  }

  it('is a fleet of dstack', async () => {
    assert.deepEqual(await readBy('dstack', readFleet), [
      ...['fleet', 'gpu-rental'],
      [['127.0.0.1', machine.port, 'ubuntu', join(ann.home, '.local/share/gpu-rental/id_ed25519')]],
    ]);
  });

  it('is a pool of SkyPilot, whose hosts ssh knows', async () => {
    const host = { ip: 'gpu-box', user: '', identity_file: '', password: '', use_ssh_config: true };
    assert.deepEqual(await readBy('skypilot', readPool), { 'gpu-rental': [host] });
  });
});
