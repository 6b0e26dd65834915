import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../adapters/postgres/database.js';
import { tick } from '../money/metering/tick.js';
import { verifyLedger } from '../adapters/postgres/ledger/verify.js';
import { cpuSecondsOfTree } from './cpu.js';
import { tickAllUntil } from './engine.js';
import { clearFleet, seedFleet, type PriceMix } from './fleet.js';
import { floorTick, makeFloor } from './floor.js';
import { measureLiteralLoop } from './literal-loop.js';
import { ratioOfTurns, toldMedian, type MedianOfTurns } from './median.js';
import { percentile, report, round, type Figure } from './report.js';
import { startBenchServer, walBytes, type BenchServer } from './server.js';

/**
 * bench:meter. Measures the cost of a tick with everything enforced, against the floor and against the literal loop in
 * the same run. The rentals are rows under load, not workflows: a running rental costs Temporal one round an hour.
 */
const sizes = (process.env['BENCH_RENTALS'] ?? '10000,50000,100000,1000000').split(',').map(Number);
const seconds = Number(process.env['BENCH_SECONDS'] ?? '30');
/** Turns of the floor and the product. */
const rounds = Number(process.env['BENCH_ROUNDS'] ?? '24');
/** Engines side by side, as METER_SHARDS has them. */
const shards = Number(process.env['BENCH_SHARDS'] ?? '2');
const whole = { shard: 0, shards: 1 };
/** More that each owe a cent each second are more than the floor itself can write in one. */
const MOST_EVERY_SECOND = 100_000;
/** A fleet that owes from its seeding is caught up within this time, or never. */
const CATCH_UP_MS = 120_000;

interface Measured {
  readonly entries: number;
  readonly tickMs: number[];
  readonly cores: { worker: number; postgres: number };
  /** Per entry, of everything that the database logged during the measurement. */
  readonly walBytesPerEntry: number;
}

/**
 * Has all engines tick each second, and measures once they have caught up with what came due while the fleet was
 * seeded: when a tick of each has taken less than a second.
 */
async function measureTicks(server: BenchServer, forSeconds: number): Promise<Measured> {
  await catchUp(server.db);
  const tickMs: number[] = [];
  let entries = 0;
  const walBefore = await walBytes(server.db);
  const cpuBefore = { worker: process.cpuUsage(), postgres: cpuSecondsOfTree(server.pid) };
  const begun = performance.now();
  const isOver = (): boolean => performance.now() - begun >= forSeconds * 1_000;
  await tickAllUntil(isOver, server.db, shards, (ms, metered) => {
    tickMs.push(ms);
    entries += metered.entries;
  });
  const wallSeconds = (performance.now() - begun) / 1_000;
  const worker = process.cpuUsage(cpuBefore.worker);
  return {
    entries,
    tickMs,
    cores: {
      worker: round((worker.user + worker.system) / 1e6 / wallSeconds, 3),
      postgres: round((cpuSecondsOfTree(server.pid) - cpuBefore.postgres) / wallSeconds, 3),
    },
    walBytesPerEntry: round(((await walBytes(server.db)) - walBefore) / entries),
  };
}

async function catchUp(db: Database): Promise<void> {
  const begun = performance.now();
  let inTime = 0;
  const isOver = (): boolean => inTime >= 2 * shards || performance.now() - begun > CATCH_UP_MS;
  await tickAllUntil(isOver, db, shards, (ms) => (inTime = ms < 1_000 ? inTime + 1 : 0));
}

/** Bytes of disk per entry of the ledger, its indexes included. */
async function ledgerBytesPerEntry(db: Database): Promise<number> {
  const { rows } = await db.raw<{ rows: { bytes: number; entries: number }[] }>(
    `select pg_total_relation_size('ledger_entries') as bytes, count(*) as entries from ledger_entries`,
  );
  return round((rows[0]?.bytes ?? 0) / (rows[0]?.entries ?? 0));
}

/** One turn of one side. */
interface Turn {
  readonly entries: number;
  readonly ms: number;
}

interface AgainstFloor {
  /** Entries a second, over all turns. */
  readonly floor: number;
  readonly product: number;
  /** Of the entries a second, turn by turn: the product's by the floor's. */
  readonly ratio: MedianOfTurns;
}

/**
 * Measures the floor and the product in turn, each by one connection, so that a drift of the machine's speed affects
 * both. They take turns at who begins: whoever does comes to a machine that has waited for a second, and the other to
 * one that is warm. Each turn gives one ratio, and their median counts: a commit that waits for the disk, on either
 * side, does not move it.
 */
async function measureAgainstFloor(db: Database): Promise<AgainstFloor> {
  await makeFloor(db);
  const floor = { turns: [] as Turn[], run: (turn: number) => floorTick(db, turn) };
  const product = { turns: [] as Turn[], run: async () => (await tick(db, whole)).entries };
  await product.run();
  for (let turn = 1; turn <= rounds; turn += 1) {
    // Each rental owes a cent a second: wait until all of them owe at least one.
    await sleep(1_050);
    for (const side of turn % 2 === 0 ? [floor, product] : [product, floor]) {
      const began = performance.now();
      const entries = await side.run(turn);
      side.turns.push({ entries, ms: performance.now() - began });
    }
  }
  return {
    floor: perSecond(floor.turns),
    product: perSecond(product.turns),
    ratio: ratioOfTurns(product.turns, floor.turns, (turn) => perSecond([turn])),
  };
}

function perSecond(turns: readonly Turn[]): number {
  const sum = (of: (turn: Turn) => number) => turns.reduce((total, turn) => total + of(turn), 0);
  return (sum(({ entries }) => entries) / sum(({ ms }) => ms)) * 1_000;
}

async function measureMix(
  server: BenchServer,
  rentals: number,
  mix: PriceMix,
): Promise<Record<string, unknown>> {
  await clearFleet(server.db);
  await seedFleet(server.db, rentals, mix);
  const measured = await measureTicks(server, seconds);
  const figures: Record<string, unknown> = {
    rentals,
    mix,
    shards,
    ticks: measured.tickMs.length,
    entriesPerTick: round(measured.entries / measured.tickMs.length),
    tickP50Ms: round(percentile(measured.tickMs, 0.5)),
    tickP99Ms: round(percentile(measured.tickMs, 0.99)),
    cores: measured.cores,
    walBytesPerEntry: measured.walBytesPerEntry,
    ledgerBytesPerEntry: await ledgerBytesPerEntry(server.db),
  };
  if (mix === 'every-second') {
    const { floor, product, ratio } = await measureAgainstFloor(server.db);
    Object.assign(figures, {
      entriesPerSecond: round(product),
      floorEntriesPerSecond: round(floor),
      ratioToFloor: ratio,
    });
  }
  // The table was analyzed before it held any charge, and autovacuum comes too late for a short run.
  await server.db.raw('analyze');
  const broken = await verifyLedger(server.db);
  if (broken.length > 0) throw new Error(`the ledger does not add up: ${JSON.stringify(broken[0])}`);
  // It runs beside each size that it is compared with: the machine's speed drifts.
  if (mix === 'every-second') figures['literalTicksPerSecond'] = await measureLiteralLoop(server);
  return figures;
}

/** The figures of one size and mix for the table of all benchmarks. */
function figuresOf(measured: Record<string, unknown>): Figure[] {
  const [rentals, mix] = [Number(measured['rentals']), String(measured['mix'])];
  const { worker, postgres } = measured['cores'] as Measured['cores'];
  const name = `${rentals}.${mix}`;
  const of = `${rentals.toLocaleString('en-US')} rentals, ${mix}`;
  const figures: Figure[] = [
    { id: `meter.p50.${name}`, what: `tick of ${of}, p50`, ours: Number(measured['tickP50Ms']), unit: 'ms' },
    { id: `meter.p99.${name}`, what: `tick of ${of}, p99`, ours: Number(measured['tickP99Ms']), unit: 'ms' },
    { id: `meter.cores.${name}`, what: `ticks of ${of}`, ours: round(worker + postgres, 3), unit: 'cores' },
  ];
  if (!('entriesPerSecond' in measured)) return figures;
  const what = `entries a second, ${rentals.toLocaleString('en-US')} rentals`;
  const ours = Number(measured['entriesPerSecond']);
  const { median } = measured['ratioToFloor'] as MedianOfTurns;
  const floor = { what: 'floor', value: Number(measured['floorEntriesPerSecond']) };
  const literal = { what: 'literal loop', value: Number(measured['literalTicksPerSecond']) };
  return [
    ...figures,
    { id: `meter.entries.${name}`, what, ours, unit: '/s', peer: floor },
    {
      id: `meter.ratio.${name}`,
      what: `${what}, by the floor's, median of turns`,
      ours: round(median, 3),
      unit: '',
    },
    { id: `meter.literal.${name}`, what, ours, unit: '/s', peer: literal },
  ];
}

/** The figures of one size and mix in a line. */
function tell(measured: Record<string, unknown>): string {
  const of = `${String(measured['rentals'])} rentals, ${String(measured['mix'])}`;
  const ticks = `${of}: tick p50 ${String(measured['tickP50Ms'])} ms, p99 ${String(measured['tickP99Ms'])} ms`;
  if (!('entriesPerSecond' in measured)) return ticks;
  const ratio = toldMedian(measured['ratioToFloor'] as MedianOfTurns);
  const literal = Number(measured['literalTicksPerSecond']);
  const times = round(Number(measured['entriesPerSecond']) / literal);
  return `${ticks}, of the floor ${ratio}, ${times} times the literal loop (${literal} ticks/s)`;
}

const server = await startBenchServer();
try {
  for (const rentals of sizes) {
    for (const mix of ['realistic', 'every-second'] as const) {
      if (mix === 'every-second' && rentals > MOST_EVERY_SECOND) continue;
      const figures = await measureMix(server, rentals, mix);
      report('meter', tell(figures), figures, figuresOf(figures));
    }
  }
} finally {
  await server.stop();
}
