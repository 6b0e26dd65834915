import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findProcess } from '../../../lab/servers/process-table.js';
import { ProgramError, startProgram, type Program, type ProgramPlan } from '../../../lab/servers/program.js';
import { supervise, type Supervised } from '../../../lab/stack/supervise.js';

const pace = { firstMs: 10, mostMs: 40, healthyMs: 60_000 };

describe('a program of the stack', () => {
  let folder: string;
  let started: Program[];
  let supervised: Supervised | undefined;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'gpu-rental-program-'));
    started = [];
    supervised = undefined;
  });
  afterEach(async () => {
    supervised?.kill();
    for (const program of started) {
      program.kill();
      await program.exited;
    }
    rmSync(folder, { recursive: true, force: true });
  });

  const start = async (script: string, changes: Partial<ProgramPlan> = {}) => {
    const program = await startProgram({
      name: 'The program',
      command: '/bin/sh',
      args: ['-c', script],
      env: { PATH: '/usr/bin:/bin' },
      cwd: '/',
      logFile: join(folder, 'program.log'),
      isReady: (logged) => logged().includes('ready'),
      readyLimitMs: 5000,
      stopSignal: 'SIGTERM',
      stopLimitMs: 300,
      ...changes,
    });
    started.push(program);
    return program;
  };
  const waitFor = async (condition: () => boolean) => {
    const deadline = performance.now() + 5000;
    while (!condition()) {
      assert.ok(performance.now() < deadline, 'it did not happen within 5 s');
      await sleep(5);
    }
  };

  it('is waited for until it says that it is ready', async () => {
    const program = await start('sleep 0.1; echo ready; exec sleep 60');
    assert.ok(findProcess(program.pid));
    await program.stop();
    assert.equal(await program.exited, 'signal SIGTERM');
    assert.equal(findProcess(program.pid), undefined);
  });

  it('that ends too early is told with its last lines and its log', async () => {
    await assert.rejects(start('echo no such flag >&2; exit 3'), (error: Error) => {
      assert.ok(error instanceof ProgramError);
      assert.match(error.message, /ended before it was ready \(exit code 3\)/);
      assert.match(error.message, /no such flag/);
      assert.ok(error.message.includes(join(folder, 'program.log')));
      return true;
    });
  });

  it('does not take the lines of an earlier run for its own', async () => {
    await (await start('echo ready; exec sleep 60')).stop();
    await assert.rejects(start('exec sleep 60', { readyLimitMs: 200 }), /was not ready within 0.2 s/);
  });

  it('that does not exist is an error, too', async () => {
    await assert.rejects(start('', { command: '/no/such/program' }), /could not be started .*ENOENT/);
  });

  it('that does not end when asked is killed after its limit, with its children', async () => {
    const program = await start(
      'trap "" TERM; sleep 61 & echo "child $!"; echo ready; while :; do sleep 0.05; done',
      {
        isReady: (logged) => {
          output.text = logged();
          return output.text.includes('ready');
        },
      },
    );
    const child = Number(/child (\d+)/.exec(output.text)?.[1]);
    assert.ok(findProcess(child));
    await program.stop();
    assert.equal(await program.exited, 'signal SIGKILL');
    await waitFor(() => findProcess(child) === undefined);
  });
  const output = { text: '' };

  it('can be given up while it starts', async () => {
    const abort = new AbortController();
    const starting = start('exec sleep 60', { signal: abort.signal });
    setTimeout(() => abort.abort(), 50);
    await assert.rejects(starting, /was stopped while it started/);
  });

  it('that dies is started again, and a line says so', async () => {
    const lines: string[] = [];
    supervised = await supervise(
      'it',
      () => start('echo ready; exec sleep 60'),
      (line) => lines.push(line),
      pace,
    );
    const first = supervised.pid()!;
    process.kill(first, 'SIGKILL');
    await waitFor(() => lines.length >= 2);
    const second = supervised.pid()!;
    assert.notEqual(second, first);
    assert.equal(lines[0], 'it died (signal SIGKILL): starting it again in 0.01 s');
    assert.equal(lines[1], `it runs again (process ${second})`);
    await supervised.stop();
    assert.equal(findProcess(second), undefined);
    assert.equal(lines.length, 2, 'a stop is no death');
  });

  it('that dies again and again is started after pauses that double up to a limit', async () => {
    const lines: string[] = [];
    supervised = await supervise(
      'it',
      () => start('echo ready; sleep 0.15'),
      (line) => lines.push(line),
      pace,
    );
    const pauses = () => lines.flatMap((line) => /again in (.*) s/.exec(line)?.[1] ?? []);
    await waitFor(() => pauses().length >= 4);
    await supervised.stop();
    assert.deepEqual(pauses().slice(0, 4), ['0.01', '0.02', '0.04', '0.04']);
  });

  it('is tried again when it can not be started for a while', async () => {
    const lines: string[] = [];
    const state = { starts: 0 };
    const startSometimes = () => {
      state.starts += 1;
      return state.starts === 2 ? Promise.reject(new Error('no luck')) : start('echo ready; exec sleep 60');
    };
    supervised = await supervise('it', startSometimes, (line) => lines.push(line), pace);
    process.kill(supervised.pid()!, 'SIGKILL');
    await waitFor(() => state.starts === 3 && supervised?.pid() !== undefined);
    assert.ok(lines.includes('no luck'));
    await supervised.stop();
  });
});
