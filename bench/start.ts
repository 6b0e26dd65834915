import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { describeMachine } from '../lab/servers/machine.js';
import { choosePostgresFolder } from '../lab/servers/postgres-home.js';
import { startPostgres } from '../lab/servers/postgres.js';
import { findTemporalCli } from '../lab/servers/temporal-cli.js';
import { startTemporal } from '../lab/servers/temporal.js';
import { findFreePorts, findStackPorts } from '../lab/stack/ports.js';
import { readStackSettings } from '../lab/stack/settings.js';
import { searchAttributes } from '../workflows/contracts/search-attributes.js';
import { cpuSecondsOfTree } from './cpu.js';
import { percentile, report, round, type Figure } from './report.js';

/**
 * bench:start. `npm start` as a developer types it until it says where everything is, on data and builds that are there
 * already; turn by turn with its peer: Temporal's dev server and PostgreSQL alone, side by side, by the same functions.
 * Then `npm run demo`, which starts a stack of its own, until its story has held and the stack has stopped. On a machine that does other work the processor time says more than the clock.
 */
const rounds = Number(process.env['BENCH_ROUNDS'] ?? '5');
const demos = Number(process.env['BENCH_DEMOS'] ?? '3');

interface Turn {
  readonly readyMs: number;
  /** Used until then by all of its processes that still run. */
  readonly cpuMs: number;
  /** When each part said that it was ready, in ms from the start of the stack's own clock. */
  readonly partsMs: Readonly<Record<string, number>>;
}

const folder = mkdtempSync(join(tmpdir(), 'gpu-rental-bench-'));
const dataDir = (name: string): string => join(folder, name);

/** Runs one of the project's commands on ports of its own and the data of all turns. */
async function runOurs(...args: string[]): Promise<ChildProcessByStdio<null, Readable, Readable>> {
  return spawn('npm', args, {
    env: { ...process.env, ...(await findStackPorts()), LAB_DATA_DIR: dataDir('ours') },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
}

/** @throws Error with what it printed, where it ended before it was ready */
async function startOurs(): Promise<Turn> {
  const beganMs = performance.now();
  const child = await runOurs('start');
  const { pid = 0 } = child;
  // npm is gone before what it started is: their outputs are closed when all are.
  const ended = once(child, 'close');
  const printed: string[] = [];
  const partsMs: Record<string, number> = {};
  child.stderr.setEncoding('utf8').on('data', (text: string) => printed.push(text));
  for await (const line of createInterface(child.stdout)) {
    printed.push(line);
    const [, seconds, part = ''] = /^ *([\d.]+) s {2}([\w ]+): /.exec(line) ?? [];
    if (seconds !== undefined) partsMs[part] = round(Number(seconds) * 1_000);
    if (/^-{20,}$/.test(line)) break;
  }
  const turn = { readyMs: performance.now() - beganMs, cpuMs: 1_000 * cpuSecondsOfTree(pid), partsMs };
  child.stdout.resume();
  if (partsMs['worker'] === undefined) throw new Error(`It was not ready:\n${printed.join('\n')}`);
  process.kill(-pid, 'SIGTERM');
  await ended;
  return turn;
}

/** @returns how long it took. @throws Error with what it printed, where its story did not hold */
async function playDemo(): Promise<number> {
  const beganMs = performance.now();
  const child = await runOurs('run', 'demo');
  const printed: string[] = [];
  for (const output of [child.stdout, child.stderr]) {
    output.setEncoding('utf8').on('data', (text: string) => printed.push(text));
  }
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`The demo did not hold:\n${printed.join('')}`);
  return performance.now() - beganMs;
}

async function startPeer(cliPath: string): Promise<Turn> {
  const [postgresPort = 0, temporalPort = 0, uiPort = 0] = await findFreePorts(3);
  const postgresDir = choosePostgresFolder(dataDir('peer'));
  const beganMs = performance.now();
  const [postgres, temporal] = await Promise.all([
    startPostgres({
      ...{ dataDir: postgresDir, port: postgresPort, machine: describeMachine(postgresDir) },
      ...{ logFile: join(dataDir('peer'), 'postgres.log'), log: () => undefined },
    }),
    startTemporal({
      ...{ cliPath, port: temporalPort, uiPort, namespace: 'default', searchAttributes, env: process.env },
      ...{ dbFile: join(dataDir('peer'), 'temporal.db'), logFile: join(dataDir('peer'), 'temporal.log') },
    }),
  ]);
  const readyMs = performance.now() - beganMs;
  const cpuMs = 1_000 * (cpuSecondsOfTree(postgres.pid) + cpuSecondsOfTree(temporal.pid));
  await Promise.all([postgres.stop(), temporal.stop()]);
  return { readyMs, cpuMs, partsMs: {} };
}

const seconds = (ms: number): number => round(ms / 1_000, 2);

function p50(turns: readonly Turn[], of: (turn: Turn) => number): number {
  return percentile(turns.map(of), 0.5);
}

function tell(ours: readonly Turn[], peer: readonly Turn[], demoMs: readonly number[]): void {
  const readyOf = (turns: readonly Turn[]): number => seconds(p50(turns, (turn) => turn.readyMs));
  const cpuOf = (turns: readonly Turn[]): number => seconds(p50(turns, (turn) => turn.cpuMs));
  const [ready, peerReady, cpu, peerCpu] = [readyOf(ours), readyOf(peer), cpuOf(ours), cpuOf(peer)];
  const parts = Object.keys(ours[0]?.partsMs ?? {});
  const partsMs = Object.fromEntries(
    parts.map((part) => [part, p50(ours, (turn) => turn.partsMs[part] ?? Number.NaN)]),
  );
  const alone = 'Temporal and PostgreSQL alone';
  const demo = demoMs.length === 0 ? undefined : seconds(percentile(demoMs, 0.5));
  const figures: Figure[] = [
    {
      ...{ id: 'start.warm', what: '`npm start`, warm, until all is ready', ours: ready, unit: 's' },
      peer: { what: alone, value: peerReady },
    },
    {
      ...{ id: 'start.cpu', what: 'processor time of `npm start`, warm', ours: cpu, unit: 's' },
      peer: { what: alone, value: peerCpu },
    },
  ];
  if (demo !== undefined)
    figures.push({ id: 'start.demo', what: '`npm run demo`, warm', ours: demo, unit: 's' });
  report(
    'start',
    `ready after ${ready} s and ${cpu} s of processor time (p50 of ${rounds}); ${alone} ${peerReady} s ` +
      `and ${peerCpu} s${demo === undefined ? '' : `; the demo took ${demo} s (p50 of ${demos})`}`,
    {
      rounds,
      partsMs,
      readySeconds: ours.map((turn) => seconds(turn.readyMs)),
      demoSeconds: demoMs.map(seconds),
    },
    figures,
  );
}

try {
  const { cliPlaces } = readStackSettings();
  const cliPath = await findTemporalCli({ places: cliPlaces, log: (line) => console.error(line) });
  // The first turn makes the data, and what is built and kept.
  await startOurs();
  await startPeer(cliPath);
  const [ours, peer]: [Turn[], Turn[]] = [[], []];
  for (let turn = 0; turn < rounds; turn += 1) {
    ours.push(await startOurs());
    peer.push(await startPeer(cliPath));
  }
  const demoMs: number[] = [];
  for (let turn = 0; turn < demos; turn += 1) demoMs.push(await playDemo());
  tell(ours, peer, demoMs);
} finally {
  rmSync(choosePostgresFolder(dataDir('ours')), { recursive: true, force: true });
  rmSync(choosePostgresFolder(dataDir('peer')), { recursive: true, force: true });
  rmSync(folder, { recursive: true, force: true });
}
