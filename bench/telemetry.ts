import { once } from 'node:events';
import { Agent, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import pino from 'pino';
import { hashOfMachineToken } from '../adapters/machine-bundles.js';
import { openDatabase, type Database } from '../adapters/postgres/database.js';
import { createMachineDesk } from '../adapters/postgres/machines/machine-tokens.js';
import { readReportedUse, recordUse } from '../adapters/postgres/machines/telemetry.js';
import { judgeGuards } from '../adapters/postgres/rentals/idle-guards.js';
import { startServer } from '../api/server.js';
import { MINUTE, SECOND } from '../domain/durations.js';
import { noUse, reportedUse, UseMinutes, type ListedUse } from '../domain/machines/telemetry.js';
import { createListener } from '../listener/app.js';
import { databaseRoles } from '../migrations/roles.js';
import { cpuSecondsOfTree } from './cpu.js';
import { seedFleet } from './fleet.js';
import { report, round } from './report.js';
import { startBenchServer, type BenchServer } from './server.js';

/** How many machines are followed, all of them guarded, and for how many minutes of lists each ten seconds. */
const machines = Number(process.env['BENCH_MACHINES'] ?? 1_000);
const minutes = Number(process.env['BENCH_MINUTES'] ?? 180);
/** For how many minutes of reports: they come over HTTP, each by a connection of its own, and so take longer to measure. */
const reportedMinutes = Math.ceil(minutes / 12);
const LIST_MS = 10_000;
const told = { cpu: true, network: false, sessions: false };

interface Fleet {
  readonly podIds: readonly string[];
  readonly providerCode: string;
}

async function seed(db: Database): Promise<Fleet> {
  await seedFleet(db, machines, 'realistic');
  await db.raw(`update rentals set pod_id = 'pod-' || no where status = 'running'`);
  await db.raw(
    `insert into idle_guards (rental_no, minutes, ignores) select no, 1440, '{sessions}' from rentals`,
  );
  const rows = await db('rentals').where({ status: 'running' }).select('pod_id', 'provider_code');
  return { podIds: rows.map(({ pod_id: id }) => id ?? ''), providerCode: rows[0]?.provider_code ?? '' };
}

/** Follows them as a watcher does, without its pauses. */
async function follow(db: Database, { podIds, providerCode }: Fleet): Promise<void> {
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

/** Gives each machine a token for its reports of use. */
async function seedTokens(db: Database): Promise<string[]> {
  await db.raw(
    `insert into allocation_attempts (rental_id, attempt, tag, provider_code, listing_id, offer_id,
                                      price_per_hour_cents, state, pod_id, deadline_ms)
     select id, 1, tag, provider_code, listing_id, 'o', price_per_hour_cents, 'adopted', pod_id, 60000
       from rentals where status = 'running'`,
  );
  const attempts = await db('allocation_attempts').where({ state: 'adopted' }).pluck<number[]>('id');
  const tokens = attempts.map((id) => id.toString(16).padStart(64, '0'));
  await db.batchInsert(
    'machine_tokens',
    attempts.map((id, index) => ({
      token_sha256: hashOfMachineToken(tokens[index] ?? ''),
      attempt_id: id,
      purpose: 'use',
    })) as never,
    1_000,
  );
  return tokens;
}

/** Sends the reports of a part of a minute, and follows them as a watcher does, without the pauses. */
async function followReports(db: Database, url: string, tokens: readonly string[], code: string) {
  const sample = '-\n64, 31\n64, 31\n';
  for (let minute = 1; minute <= reportedMinutes; minute += 1) {
    const body = `gpu-use 1 ${minute * 60} 12 30 20000 0\n${sample.repeat(6)}`;
    // A watcher reads three times a minute.
    for (let third = 0; third < 3; third += 1) {
      const senders = tokens.filter((_, index) => index % 3 === third);
      for (let at = 0; at < senders.length; at += 20) {
        await Promise.all(senders.slice(at, at + 20).map((token) => send(url, token, body)));
      }
      const { rows } = await db.raw<{ rows: { now: Date }[] }>(
        `select clock_ms() - interval '20 seconds' as now`,
      );
      const told = await readReportedUse(db, code, rows[0]?.now ?? new Date(0));
      await recordUse(db, code, told, 'reporter');
      await judgeGuards(db, { providerCode: code, told: reportedUse }, told, Date.now());
      // What was read is a minute old when the next comes.
      await db('machine_uses').update({ received_at: db.raw(`received_at - interval '20 seconds'`) });
    }
  }
}

/** Sends a report by a connection of its own, as machines do. */
async function send(url: string, token: string, body: string): Promise<void> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'text/plain' };
  const sent = request(url, { method: 'POST', headers, agent: new Agent({ keepAlive: false }) });
  const answered = once(sent, 'response') as Promise<[{ statusCode?: number; resume(): void }]>;
  sent.end(body);
  const [answer] = await answered;
  answer.resume();
  if (answer.statusCode !== 204) throw new Error(`a report was answered ${answer.statusCode}`);
}

/** Counts the processor seconds of this process and PostgreSQL. */
async function secondsOf(pid: number, work: () => Promise<void>): Promise<number> {
  const before = { here: process.cpuUsage(), postgres: cpuSecondsOfTree(pid) };
  await work();
  const { user, system } = process.cpuUsage(before.here);
  return (user + system) / 1e6 + cpuSecondsOfTree(pid) - before.postgres;
}

async function bytesADayOf(db: Database): Promise<number> {
  await db.raw('vacuum full telemetry_hours');
  const { rows } = await db.raw<{ rows: { bytes: number; hours: number }[] }>(
    `select pg_total_relation_size('telemetry_hours')::int as bytes, count(*)::int as hours from telemetry_hours`,
  );
  return round((24 * (rows[0]?.bytes ?? 0)) / (rows[0]?.hours ?? 1));
}

async function measureReports({ db, pid, url }: BenchServer, { providerCode }: Fleet): Promise<number> {
  const tokens = await seedTokens(db);
  const ofListener = openDatabase(url, 4, 'bench-listener', databaseRoles.machine);
  const app = createListener({
    ...{ desk: createMachineDesk(ofListener), log: pino({ level: 'silent' }), trustProxy: false },
    perMinuteOfAddress: Number.MAX_SAFE_INTEGER,
  });
  const server = await startServer(app.callback(), { host: '127.0.0.1', port: 0 });
  const at = `http://127.0.0.1:${(server.server.address() as AddressInfo).port}/v1/machine/use`;
  try {
    const seconds = await secondsOf(pid, () => followReports(db, at, tokens, providerCode));
    return round(seconds / (reportedMinutes * 60), 4);
  } finally {
    await server.stop(SECOND);
    await ofListener.destroy();
  }
}

async function measure(bench: BenchServer): Promise<void> {
  const { db, pid } = bench;
  const fleet = await seed(db);
  const seconds = await secondsOf(pid, () => follow(db, fleet));
  const cores = round(seconds / (minutes * 60), 4);
  const bytesADay = await bytesADayOf(db);
  const reportedCores = await measureReports(bench, fleet);
  const { rows } = await db.raw<{ rows: { bytes: number }[] }>(
    `select pg_total_relation_size('machine_uses')::int / greatest(count(*), 1)::int as bytes from machine_uses`,
  );
  const reportBytes = rows[0]?.bytes ?? 0;
  report(
    'telemetry',
    `${fleet.podIds.length} guarded machines: ${cores} cores with PostgreSQL, ${bytesADay} bytes a machine and day; where machines report it ${reportedCores} cores, and ${reportBytes} bytes a machine for the newest`,
    { machines: fleet.podIds.length, minutes, cores, bytesADay, reportedMinutes, reportedCores, reportBytes },
    [
      { id: `telemetry.cores.${machines}`, what: `use of ${machines} machines`, ours: cores, unit: 'cores' },
      { id: 'telemetry.bytes', what: 'bytes a machine and day', ours: bytesADay, unit: '' },
      {
        ...{ id: `telemetry.reported.${machines}`, what: `use that ${machines} machines report` },
        ...{ ours: reportedCores, unit: 'cores' },
      },
    ],
  );
}

const server = await startBenchServer();
try {
  await measure(server);
} finally {
  await server.stop();
}
