import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startMock, type MockServer } from '../../../lab/mock/server.js';
import { gpuArgs } from '../../clients/cli/support/terminal.js';
import { ApiClient } from '../../support/http/api.js';
import { until } from '../../support/until.js';

interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** The whole story of the command, as it is installed, on the mock alone. */
describe('the machines of the mock', () => {
  let mock: MockServer;
  let folder: string;
  let env: Record<string, string | undefined>;

  before(async () => {
    const beganMs = performance.now();
    mock = await startMock({ port: 0, withMachines: true, durations: { provisionMs: 200, endMs: 50 } });
    assert.ok(performance.now() - beganMs < 2_000, 'the mock starts within 2 s');
    folder = mkdtempSync(join(tmpdir(), 'gpu-mock-story-'));
    const home = join(folder, 'home');
    mkdirSync(home);
    const person = new ApiClient(mock.url);
    await person.post('/v1/auth/verify-code', { email: 'ann@example.com', code: '123456' });
    const { checkoutUrl } = (await person.post('/v1/billing/checkout', { amountCents: 1_000 })).body;
    await fetch(checkoutUrl);
    const asked = { name: 'the command', scopes: ['read', 'rentals', 'billing'] };
    const { key } = (await person.post('/v1/api-keys', asked)).body as unknown as { key: string };
    const { PATH } = process.env;
    env = { PATH, HOME: home, GPU_API_URL: mock.url, GPU_API_KEY: key, NO_COLOR: '1' };
  });
  after(async () => {
    await mock.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  async function gpu(...args: string[]): Promise<Ended> {
    const started = [...(await gpuArgs()), ...args];
    return new Promise((resolve) => {
      execFile(process.execPath, started, { env, cwd: folder }, (error, out, err) => {
        resolve({ code: typeof error?.code === 'number' ? error.code : 0, out, err });
      });
    });
  }
  const done = async (...args: string[]): Promise<string> => {
    const { code, out, err } = await gpu(...args);
    assert.equal(code, 0, `gpu ${args.join(' ')}: ${err}`);
    return out;
  };

  it('are rented, run commands, take files, and go', async () => {
    const { id } = JSON.parse(await done('rent', 'rtx-4090', '--yes', '--json')) as { id: string };
    assert.equal((await done('ssh', id, '--', 'echo', 'hello', 'there')).trim(), 'hello there');
    assert.match(await done('ssh', id, '--', 'nvidia-smi', '-L'), /RTX 4090/);
    assert.equal((await gpu('ssh', id, '--', 'exit', '3')).code, 3);

    writeFileSync(join(folder, 'up.txt'), 'data\n');
    await done('cp', 'up.txt', `${id}:up.txt`);
    await done('cp', `${id}:up.txt`, 'down.txt');
    assert.equal(readFileSync(join(folder, 'down.txt'), 'utf8'), 'data\n');

    const shown = JSON.parse(await done('show', id, '--json')) as {
      host: string;
      port: number;
      hostKeyFingerprint: string;
    };
    assert.deepEqual([shown.host, /^SHA256:\S{43}$/.test(shown.hostKeyFingerprint)], ['127.0.0.1', true]);

    await done('stop', id, '--yes');
    await until('nothing answers there', async () => !(await answersAt(shown.port)));
  });

  it('are refused when they show another host key than the one that was told', async () => {
    const { id } = JSON.parse(await done('rent', 'rtx-4090', '--yes', '--json')) as { id: string };
    const row = [...mock.world.accounts.all()]
      .flatMap(({ rentals }) => rentals)
      .find((one) => one.row.id === id)!.row;
    row.host_key_fingerprint = `SHA256:${'A'.repeat(43)}`;
    const { code, out } = await gpu('ssh', id, '--', 'echo', 'reached');
    assert.notEqual(code, 0);
    assert.equal(out, '');
  });
});

function answersAt(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port })
      .once('connect', () => resolve(true))
      .once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}
