import { spawnSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { tick } from '../money/metering/tick.js';
import { processesOfTree } from './cpu.js';
import { seedFleet } from './fleet.js';
import { report, round, type Figure } from './report.js';
import { startBenchServer, type BenchServer } from './server.js';

/**
 * bench:shards. Entries a second by one and by several engines, with PostgreSQL held to one core and then to two, turn by
 * turn in one run: what a core gives, and what a second one adds. Each rental owes a cent a second.
 */
const rentals = Number(process.env['BENCH_RENTALS'] ?? '50000');
const rounds = Number(process.env['BENCH_ROUNDS'] ?? '6');
const SETUPS = [
  { cores: 1, shards: 1 },
  { cores: 1, shards: 2 },
  { cores: 2, shards: 1 },
  { cores: 2, shards: 2 },
  { cores: 2, shards: 4 },
] as const;

/** Holds all processes of the server to its first cores (Linux: taskset). Its later connections inherit it. */
function holdTo(server: BenchServer, cores: number): void {
  for (const pid of processesOfTree(server.pid)) {
    const { status, error } = spawnSync('taskset', ['-a', '-p', '-c', `0-${cores - 1}`, String(pid)], {
      stdio: 'ignore',
    });
    if (error) throw new Error('taskset is missing: install util-linux');
    // A connection that ended meanwhile needs no core.
    if (status !== 0 && processesOfTree(server.pid).includes(pid))
      throw new Error(`process ${pid} keeps its cores`);
  }
}

/** Ticks all shards at once. @returns the entries that they wrote, and for how many milliseconds */
async function tickAll(server: BenchServer, shards: number): Promise<{ entries: number; ms: number }> {
  const began = performance.now();
  const ticks = await Promise.all(
    Array.from({ length: shards }, (_, shard) => tick(server.db, { shard, shards })),
  );
  return { entries: ticks.reduce((sum, { entries }) => sum + entries, 0), ms: performance.now() - began };
}

const server = await startBenchServer();
try {
  await seedFleet(server.db, rentals, 'every-second');
  const spent = SETUPS.map((setup) => ({ ...setup, entries: 0, ms: 0 }));
  await tickAll(server, 1);
  for (let turn = 0; turn < rounds; turn += 1) {
    for (const setup of spent) {
      holdTo(server, setup.cores);
      // Each rental owes a cent by then.
      await sleep(1_050);
      const { entries, ms } = await tickAll(server, setup.shards);
      setup.entries += entries;
      setup.ms += ms;
    }
  }
  const rates = spent.map(({ cores, shards, entries, ms }) => ({
    cores,
    shards,
    perSecond: round((entries / ms) * 1_000),
  }));
  const one = rates[0]?.perSecond ?? 0;
  const figures: Figure[] = rates.slice(1).map(({ cores, shards, perSecond }) => ({
    id: `shards.entries.${cores}.${shards}`,
    what: `entries a second, ${shards} engines on ${cores} cores`,
    ours: perSecond,
    unit: '/s',
    peer: { what: 'one engine on one core', value: one },
  }));
  const told = rates.map(({ cores, shards, perSecond }) => `${shards} on ${cores}: ${perSecond}/s`);
  report(
    'shards',
    `engines on cores, ${rentals} rentals: ${told.join(', ')}`,
    { rentals, rounds, rates },
    figures,
  );
} finally {
  await server.stop();
}
