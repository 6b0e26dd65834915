import assert from 'node:assert/strict';
import { execFile, execFileSync, spawn, type ChildProcess } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { reporterLines } from '../../../adapters/providers/reporter-script.js';
import { keptAliveWords } from '../../../domain/machines/calls.js';
import { noUse } from '../../../domain/machines/telemetry.js';
import { readUse } from '../../../domain/machines/use-report.js';
import { nvidiaSmiScript } from '../../../lab/provider/nvidia-smi.js';
import { until } from '../../support/until.js';

const TOKEN = 'a'.repeat(64);
const PROGRAMS = ['sh', 'sleep', 'timeout', 'head', 'cut', 'cat', 'tr', 'grep', 'awk', 'chmod', 'rm'];
const shells = ['dash', 'bash'].filter((shell) => isThere(shell));
const gpu = { vramGb: 80, productName: 'NVIDIA H100 80GB HBM3', memoryMib: 81_559 };
const idle = nvidiaSmiScript(gpu, 2, 'a-pod');
const isReport = /^gpu-use 1 \d+ \d{1,3} \d{1,3} \d+ \d+\n(-\n(.+\n)*){6}$/;

function isThere(program: string): boolean {
  try {
    execFileSync('which', [program]);
    return true;
  } catch {
    return false;
  }
}

interface Machine {
  /** The programs that it does not have. */
  readonly without?: string[];
  readonly sender?: string;
  /** What its processes call themselves; by default those that run here. */
  readonly titles?: readonly string[];
  /** And at each second look. */
  readonly otherTitles?: readonly string[];
}

const whichOf = (program: string) => execFileSync('which', [program], { encoding: 'utf8' }).trim();

const print = (titles: readonly string[]) =>
  `printf '%s\\0' ${titles.map((title) => `'${title}'`).join(' ')}`;

/** @param others what it shows at each second look */
const catOf = (titles: readonly string[], others: readonly string[], seen: string) =>
  `#!/bin/sh\nif rm ${seen}; then ${print(others)}; else : > ${seen}; ${print(titles)}; fi 2> /dev/null\n`;

function pretended(dir: string, { sender = 'curl', titles, otherTitles = titles }: Machine) {
  // Everybody on a machine can read what a program is called with.
  const curl = `#!/bin/sh\necho "$*" >> ${join(dir, 'called')}\nexec ${whichOf('curl')} "$@"\n`;
  return {
    ...(sender === 'curl' && { curl }),
    ...(titles && otherTitles && { cat: catOf(titles, otherTitles, join(dir, 'seen')) }),
  };
}

describe('the reporter', () => {
  let dir: string;
  let server: Server;
  let url: string;
  let heard: {
    readonly path: string | undefined;
    readonly authorization: string | undefined;
    readonly body: string;
  }[];
  /** What the listener answers next; the last one holds. */
  let answers: [status: number, text?: string][];
  let machine: ChildProcess | undefined;

  beforeEach(async () => {
    dir = mkdtempSync(join(tmpdir(), 'reporter-'));
    heard = [];
    answers = [[204]];
    server = createServer((request, response) => {
      let body = '';
      request.on('data', (part: Buffer) => (body += part.toString()));
      request.on('end', () => {
        heard.push({ path: request.url, authorization: request.headers.authorization, body });
        const [status, text] = (answers.length > 1 ? answers.shift() : answers[0]) ?? [204];
        response.writeHead(status).end(text);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/machine/use`;
  });
  afterEach(() => {
    if (machine?.pid !== undefined) process.kill(-machine.pid, 'SIGKILL');
    server.closeAllConnections();
    server.close();
    rmSync(dir, { recursive: true, force: true });
  });

  /**
   * Starts the script on a machine that has these programs alone, whose sleep writes down how long it should be and is a
   * third of a second, and then its renter's line.
   * @returns the seconds that it slept so far
   */
  async function start(
    shell: string,
    nvidiaSmi: string | null,
    machineThere: Machine = {},
  ): Promise<() => number[]> {
    const { without = [], sender = 'curl' } = machineThere;
    const programs = join(dir, 'bin');
    mkdirSync(programs);
    const sleepOf = whichOf('sleep');
    const slept = join(dir, 'slept');
    writeFileSync(slept, '');
    const nap = `#!/bin/sh\necho $1 >> ${slept}\nexec ${sleepOf} 0.3\n`;
    const wall = `#!/bin/sh\ncat >> ${join(dir, 'wall')}\n`;
    // A hanging program is waited for as long as the machine sleeps.
    const hurried = `#!/bin/sh\nshift 3\nexec ${whichOf('timeout')} -k 0.1 0.3 "$@"\n`;
    const written = {
      // Whoever is root has the command elsewhere.
      id: '#!/bin/sh\necho 1000\n',
      sleep: nap,
      wall,
      timeout: hurried,
      ...(nvidiaSmi !== null && { 'nvidia-smi': nvidiaSmi }),
      ...pretended(dir, machineThere),
    };
    const there = [...PROGRAMS, sender].filter((name) => !without.includes(name) && !(name in written));
    for (const program of there) symlinkSync(whichOf(program), join(programs, program));
    for (const [name, text] of Object.entries(written)) {
      writeFileSync(join(programs, name), text, { mode: 0o755 });
    }
    const lines = reporterLines({ url, token: TOKEN }).join('\n');
    assert.ok(lines.length < 2_560, `${lines.length} characters`);
    writeFileSync(join(dir, 'script'), `${lines}\necho "renter $g $s $b"\n`);
    const env = { PATH: programs, NO_PROXY: '*', HOME: dir };
    const child = spawn(whichOf(shell), [join(dir, 'script')], { env, detached: true });
    machine = child;
    let said = '';
    for (const out of [child.stdout, child.stderr])
      out.on('data', (part: Buffer) => (said += part.toString()));
    const began = performance.now();
    await new Promise((resolve) => child.on('close', resolve));
    // It says nothing, delays nobody, and leaves the renter's shell as it was.
    assert.equal(said, 'renter   \n');
    assert.ok(performance.now() - began < 2_000);
    return () => execFileSync('cat', [slept], { encoding: 'utf8' }).trim().split('\n').map(Number);
  }

  const hears = (count: number) => until(`${count} reports`, () => heard.length >= count, 20_000);

  for (const shell of shells) {
    it(`tells the use of the machine, again and again, under ${shell}`, async () => {
      const slept = await start(shell, idle);
      await hears(2);
      for (const { authorization, body } of heard) {
        assert.equal(authorization, `Bearer ${TOKEN}`);
        assert.match(`${body}\n`, isReport);
        const { cpuPercent, memoryPercent, networkBytesPerSecond, sessions, ...gpus } = readUse(body, 2);
        assert.deepEqual([gpus.gpuPercent, gpus.busiestGpuPercent, gpus.gpuMemoryPercent], [0, 0, 0]);
        for (const told of [cpuPercent, memoryPercent, networkBytesPerSecond, sessions]) {
          assert.notEqual(told, null);
        }
      }
      const uptimes = heard.map(({ body }) => Number(body.split(' ')[2]));
      assert.ok((uptimes[1] ?? 0) > (uptimes[0] ?? 0));
      assert.ok(
        slept().every((seconds) => seconds >= 1 && seconds <= 10),
        slept().join(' '),
      );
    });

    it(`goes on where nobody hears it, ever more rarely, under ${shell}`, async () => {
      answers = [[503], [503], [401], [401], [204]];
      const slept = await start(shell, idle);
      await hears(5);
      assert.deepEqual(
        slept().filter((seconds) => seconds > 10),
        [60],
      );
    });

    it(`tells the rest without nvidia-smi and awk, under ${shell}`, async () => {
      await start(shell, null, { without: ['awk'] });
      await hears(1);
      const told = readUse(heard[0]?.body ?? '', 2);
      assert.notEqual(told.cpuPercent, null);
      assert.deepEqual({ ...told, cpuPercent: null, sessions: null }, noUse);
      assert.equal(told.sessions, Number(heard[0]?.body.split('\n')[0]?.split(' ')[6]));
    });
  }

  const sessions = [
    ...['sshd: ubuntu', 'sshd: ubuntu@pts/0', 'sshd: ada@notty', 'sshd: ubuntu@pts/1,pts/2'],
    ...['sshd-session: ubuntu', 'sshd-session: ubuntu@pts/3'],
    // Root’s, for tunnels alone.
    ...['sshd: root [priv]', 'sshd-session: root [priv]'],
  ];
  const noSessions = [
    ...['sshd: /usr/sbin/sshd -D [listener] 0 of 10-100 startups', '/usr/sbin/sshd', '-D', 'grep', 'sshd'],
    ...['sshd: root [priv]', 'sshd: root [net]', 'sshd-session: root [priv]', 'sshd-auth: root [net]'],
    ...['sshd: [accepted]', 'sshd: unknown [net]', 'sshd: unknown [priv]', 'sshd: ubuntu [priv]'],
    ...[
      'sshd-session: ubuntu [priv]',
      'sshd-session: [accepted]',
      'sshd-auth: ubuntu [net]',
      'vim sshd: a@b',
    ],
  ];
  it('counts whoever is logged in, with a terminal or for a tunnel alone, and nobody else', async () => {
    await start('sh', idle, { titles: [...noSessions, ...sessions] });
    await hears(1);
    assert.equal(readUse(heard[0]?.body ?? '', 2).sessions, sessions.length);
  });

  for (const [halves, titles, otherTitles] of [
    ['are seen by turns', ['sshd: root [priv]'], ['sshd: root [net]']],
    [
      'end while they are seen',
      ['sshd: root [net]', 'sshd: ada@notty'],
      ['sshd: root [net]', 'sshd: ada@notty'],
    ],
  ] as const) {
    it(`counts no login under way of root whose halves ${halves}`, async () => {
      await start('sh', idle, { titles, otherTitles });
      await hears(2);
      const real = titles.filter((title) => title.includes('ada')).length;
      assert.deepEqual(
        heard.map(({ body }) => readUse(body, 2).sessions),
        heard.map(() => real),
      );
    });
  }

  for (const sender of ['curl', 'wget'].filter(isThere)) {
    it(`shows once what it is answered, by ${sender}`, async () => {
      answers = [[204], [200, 'This machine stops.\n']];
      await start('sh', idle, { sender });
      await hears(4);
      const shown = `This machine stops.\nOr here: ${dir}/gpu-keep-alive 2h\n`;
      assert.equal(readFileSync(join(dir, 'wall'), 'utf8'), shown);
      assert.equal(readFileSync(join(dir, 'gpu-idle'), 'utf8'), shown);
      answers = [[204]];
      await until('the file is gone', () => !existsSync(join(dir, 'gpu-idle')));
    });

    it(`leaves a command that keeps the machine alive, by ${sender}`, async () => {
      await start('sh', idle, { sender });
      await hears(1);
      const command = join(dir, 'gpu-keep-alive');
      assert.equal(statSync(command).mode & 0o777, 0o700);
      const keep = (...args: string[]) =>
        new Promise((resolve) => {
          const env = { PATH: join(dir, 'bin'), NO_PROXY: '*' };
          execFile(command, args, { env }, (error, stdout) => resolve([error?.code ?? 0, stdout]));
        });
      const kept = `${keptAliveWords} before noon.\n`;
      answers = [[200, kept]];
      assert.deepEqual(await keep(), [0, kept]);
      assert.deepEqual(await keep('@/etc/passwd'), [0, kept]);
      const wishes = heard.filter(({ path }) => path === '/v1/machine/use/keep-alive');
      assert.deepEqual(
        wishes.map(({ authorization, body }) => [authorization, body]),
        ['2h', '@/etc/passwd'].map((body) => [`Bearer ${TOKEN}`, body]),
      );
      answers = [[429, '{"error":"too_many","message":"Too many. Use its GPUs."}']];
      assert.deepEqual(await keep(), [1, 'Too many. Use its GPUs.\n']);
      const unanswered = [1, 'Nobody answers. Try again in a minute.\n'];
      for (const ofProxy of [502, 200]) {
        answers = [[ofProxy, '<html><h1>Bad gateway</h1></html>']];
        assert.deepEqual(await keep(), unanswered);
      }
      server.closeAllConnections();
      server.close();
      assert.deepEqual(await keep(), unanswered);
      if (sender === 'curl') assert.doesNotMatch(readFileSync(join(dir, 'called'), 'utf8'), /Bearer|aaaa/);
    });
  }

  it('is what the documentation shows', () => {
    const page = readFileSync(new URL('../../../docs/own-software.md', import.meta.url), 'utf8');
    const shown = reporterLines({ url: 'https://machines.example.com/v1/machine/use', token: '<token>' });
    assert.ok(page.includes(`\n${shown.join('\n')}\n`));
  });

  for (const [what, script] of [
    ['a hanging driver', '#!/bin/sh\ntrap "" TERM\nsleep 60\n'],
    [
      'sixteen GPUs of many words',
      '#!/bin/sh\nfor i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17; do echo "Unable to determine the device handle for GPU0000:02:00.0: GPU is lost"; done\n',
    ],
  ] as const) {
    it(`stays small, with ${what}`, async () => {
      await start('sh', script);
      await hears(1);
      assert.ok((heard[0]?.body.length ?? 0) <= 4_096, `${heard[0]?.body.length} bytes`);
      assert.equal(readUse(heard[0]?.body ?? '', 8).busiestGpuPercent, null);
    });
  }
});
