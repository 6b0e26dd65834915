import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { Pod } from '../../../adapters/providers/provider.js';
import { createPodProcesses } from '../../../lab/provider/pod-processes.js';
import { startPodSshServer } from '../../../lab/provider/pod-ssh-server.js';
import {
  login,
  loginWithLibrary,
  newRenterKey,
  requestOf,
  startLivingLab,
  until,
  untilActive,
  type LivingLab,
} from './living-lab.js';

describe('lab provider: a pod over SSH', () => {
  const key = newRenterKey();
  const second = newRenterKey('rsa');
  let lab: LivingLab;
  let pod: Pod & { host: string; port: number };
  const enter = (command: string | null, more: { input?: string; tty?: boolean } = {}) =>
    login({ port: pod.port, user: 'shadeform', key, command, ...more });

  before(async () => {
    lab = await startLivingLab();
    const request = requestOf({
      offerId: 'vast/H100_sxm5x2/paris-france-1',
      publicKeys: [key.line, second.line],
      templateId: 'vllm',
    });
    await lab.provider.allocate(request);
    pod = await untilActive(lab.provider, request.tag);
  });
  after(() => lab.stop());

  it('lets the renter in and reports the exit code', async () => {
    const result = await enter('echo in; echo err >&2; exit 7');
    assert.deepEqual(result, { code: 7, stdout: 'in\n', stderr: 'err\n' });
  });

  it('lets every key of the renter in, RSA too', async () => {
    const result = await login({ port: pod.port, user: 'shadeform', key: second, command: 'echo in' });
    assert.deepEqual(result, { code: 0, stdout: 'in\n', stderr: '' });
  });

  it('serves the ssh2 client as well', async () => {
    const result = await loginWithLibrary({ port: pod.port, user: 'shadeform', key, command: 'exit 3' });
    assert.equal(result.code, 3);
  });

  it('gives the command its input, and a shell without a terminal', async () => {
    assert.equal((await enter('wc -c', { input: 'x'.repeat(200_000) })).stdout.trim(), '200000');
    assert.deepEqual(await enter(null, { input: 'echo hello; exit 4\n' }), {
      code: 4,
      stdout: 'hello\n',
      stderr: '',
    });
  });

  it('passes large outputs on whole, on both streams', async () => {
    const result = await enter('head -c 3000000 /dev/zero; head -c 2500000 /dev/zero >&2; exit 5');
    assert.deepEqual([result.code, result.stdout.length, result.stderr.length], [5, 3_000_000, 2_500_000]);
  });

  it('gives a terminal on request', async () => {
    const result = await enter('test -t 0 && test -t 1 && echo terminal; exit 6', { tty: true });
    assert.deepEqual([result.code, result.stdout.trim()], [6, 'terminal']);
  });

  it('refuses another key', async () => {
    const result = await login({ port: pod.port, user: 'shadeform', key: newRenterKey(), command: 'true' });
    assert.equal(result.code, 255);
    assert.match(result.stderr, /Permission denied|authentication methods failed/);
  });

  it('refuses another user', async () => {
    const result = await login({ port: pod.port, user: 'root', key, command: 'true' });
    assert.equal(result.code, 255);
  });

  it('refuses a key from the moment that the renter takes it out of authorized_keys', async () => {
    const blob = second.line.split(' ')[1]!;
    await enter(`grep -vF '${blob}' .ssh/authorized_keys > k; cat k > .ssh/authorized_keys`);
    const refused = await login({ port: pod.port, user: 'shadeform', key: second, command: 'true' });
    assert.equal(refused.code, 255);
  });

  it('runs commands without privileges, in a home of their own, with nothing of the lab in the environment', async () => {
    process.env['LAB_SECRET_OF_TEST'] = 'secret';
    const { stdout } = await enter('id -u; pwd; env');
    delete process.env['LAB_SECRET_OF_TEST'];
    const [uid, folder, ...env] = stdout.trim().split('\n');
    assert.notEqual(uid, '0');
    assert.match(folder!, new RegExp(`${pod.podId}/home$`));
    const names = env.map((line) => line.split('=')[0]!).sort();
    const shellsOwn = ['_', 'PWD', 'OLDPWD', 'SHLVL'];
    const given = names.filter((name) => !shellsOwn.includes(name));
    assert.deepEqual(given, ['HOME', 'LAB_POD_ID', 'LANG', 'LOGNAME', 'PATH', 'SHELL', 'USER']);
  });

  it('shows the rented GPUs by nvidia-smi', async () => {
    const query = await enter('nvidia-smi --query-gpu=name,memory.total --format=csv,noheader');
    assert.equal(query.stdout, 'NVIDIA H100 80GB HBM3, 81559 MiB\n'.repeat(2));
    const list = await enter('nvidia-smi -L');
    assert.match(list.stdout, /^GPU 0: NVIDIA H100 80GB HBM3 \(UUID: GPU-[-0-9a-f]{36}\)\nGPU 1: .*\n$/);
    const table = await enter('nvidia-smi');
    assert.equal(table.stdout.match(/NVIDIA H100 80GB HBM3/g)?.length, 2);
    const wrong = await enter('nvidia-smi --query-gpu=colour --format=csv');
    assert.equal(wrong.code, 2);
  });

  it('notes the container of the template, and runs none', async () => {
    const { stdout } = await enter('cat containers.log');
    assert.match(stdout, /^docker run .*-p 127\.0\.0\.1:8000:8000 vllm\/vllm-openai:latest$/m);
  });

  it('serves no more than 32 connections at once', async () => {
    const sockets = Array.from({ length: 33 }, () => connect(pod.port, '127.0.0.1'));
    try {
      const ends = await Promise.all(
        sockets.map((socket) =>
          Promise.race([
            once(socket, 'data').then(() => 'served'),
            once(socket, 'close').then(() => 'dropped'),
          ]),
        ),
      );
      assert.equal(ends.filter((end) => end === 'served').length, 32);
    } finally {
      for (const socket of sockets) socket.destroy();
    }
  });

  it('kills everything that the pod started when it is deleted', async () => {
    const request = requestOf({ publicKeys: [key.line] });
    const { podId } = await lab.provider.allocate(request);
    const { port } = await untilActive(lab.provider, request.tag);
    const running = enterAt(
      port,
      'setsid sleep 300 > /dev/null 2>&1 & echo $!; sleep 300 > /dev/null 2>&1 & echo $!; exit',
    );
    const pids = (await running).stdout.trim().split('\n').map(Number);
    const open = enterAt(port, 'touch up; sleep 300');
    await enterAt(port, 'until test -f up; do sleep 0.02; done');
    await lab.provider.terminate(podId);
    assert.notEqual((await open).code, 0);
    await until('the processes to end', () => Promise.resolve(pids.some(isAlive) ? undefined : true));
  });

  it('drops a client that does not log in', async () => {
    const paths = { root: lab.dataDir, home: lab.dataDir, bin: lab.dataDir };
    const server = await startPodSshServer({
      host: '127.0.0.1',
      port: 0,
      hostKey: newRenterKey().pem,
      userName: 'shadeform',
      processes: createPodProcesses({ id: 'none', paths, user: null, userName: 'shadeform', envs: [] }),
      readKeys: () => Promise.resolve([]),
      loginLimitMs: 30,
    });
    try {
      const silent = connect(server.port, '127.0.0.1').resume();
      const startedMs = performance.now();
      await once(silent, 'close');
      assert.ok(performance.now() - startedMs >= 25);
    } finally {
      await server.close();
    }
  });

  function enterAt(port: number, command: string) {
    return login({ port, user: 'shadeform', key, command });
  }
});

/** A killed process that is not yet buried (state Z) is not alive. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
