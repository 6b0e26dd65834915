import type { Database } from '../adapters/postgres/database.js';
import { recordUse } from '../adapters/postgres/machines/telemetry.js';
import { judgeGuards } from '../adapters/postgres/rentals/idle-guards.js';
import { MINUTE } from '../domain/durations.js';
import { noUse, UseMinutes, type ListedUse } from '../domain/machines/telemetry.js';
import { cpuSecondsOfTree } from './cpu.js';
import { seedFleet } from './fleet.js';
import { report, round } from './report.js';
import { startBenchServer, type BenchServer } from './server.js';

/** How many machines are followed, all of them guarded, and for how many minutes of lists each ten seconds. */
const machines = Number(process.env['BENCH_MACHINES'] ?? 1_000);
const minutes = Number(process.env['BENCH_MINUTES'] ?? 180);
const LIST_MS = 10_000;
const told = { cpu: true, network: false, sessions: false };

async function seed(db: Database): Promise<{ podIds: string[]; providerCode: string }> {
  await seedFleet(db, machines, 'realistic');
  await db.raw(`update rentals set pod_id = 'pod-' || no where status = 'running'`);
  await db.raw(
    `insert into idle_guards (rental_no, minutes, ignores) select no, 1440, '{sessions}' from rentals`,
  );
  const rows = await db('rentals').where({ status: 'running' }).select('pod_id', 'provider_code');
  return { podIds: rows.map(({ pod_id: id }) => id ?? ''), providerCode: rows[0]?.provider_code ?? '' };
}

/** Follows them as a watcher does, without its pauses. */
async function follow(db: Database, providerCode: string, podIds: readonly string[]): Promise<void> {
  const lists = new UseMinutes();
  const startMs = Math.floor(Date.now() / MINUTE) * MINUTE;
  for (let atMs = startMs; atMs <= startMs + minutes * MINUTE; atMs += LIST_MS) {
    const percent = (atMs / LIST_MS) % 90;
    const use: ListedUse = {
      ...{ ...noUse, report: atMs, gpuPercent: percent, busiestGpuPercent: percent },
      ...{ gpuMemoryPercent: 40, cpuPercent: 12, memoryPercent: 30 },
    };
    const over = lists.take(atMs, new Map(podIds.map((id) => [id, use])));
    if (over.length === 0) continue;
    await recordUse(db, providerCode, over);
    await judgeGuards(db, { providerCode, told }, over, atMs);
  }
}

async function measure({ db, pid }: BenchServer): Promise<void> {
  const { podIds, providerCode } = await seed(db);
  const before = { worker: process.cpuUsage(), postgres: cpuSecondsOfTree(pid) };
  await follow(db, providerCode, podIds);
  const { user, system } = process.cpuUsage(before.worker);
  const seconds = (user + system) / 1e6 + cpuSecondsOfTree(pid) - before.postgres;
  const cores = round(seconds / (minutes * 60), 4);
  await db.raw('vacuum full telemetry_hours');
  const { rows } = await db.raw<{ rows: { bytes: number; hours: number }[] }>(
    `select pg_total_relation_size('telemetry_hours')::int as bytes, count(*)::int as hours from telemetry_hours`,
  );
  const bytesADay = round((24 * (rows[0]?.bytes ?? 0)) / (rows[0]?.hours ?? 1));
  report(
    'telemetry',
    `${podIds.length} guarded machines: ${cores} cores with PostgreSQL, ${bytesADay} bytes a machine and day`,
    { machines: podIds.length, minutes, cores, bytesADay },
    [
      { id: `telemetry.cores.${machines}`, what: `use of ${machines} machines`, ours: cores, unit: 'cores' },
      { id: 'telemetry.bytes', what: 'bytes a machine and day', ours: bytesADay, unit: '' },
    ],
  );
}

const server = await startBenchServer();
try {
  await measure(server);
} finally {
  await server.stop();
}
