import { setTimeout as sleep } from 'node:timers/promises';
import { openDatabase } from '../../adapters/postgres/database.js';
import { verifyLedger } from '../../adapters/postgres/ledger/verify.js';
import { tick } from '../../money/metering/tick.js';
import { tickAllUntil } from '../engine.js';
import { seedFleet } from '../fleet.js';
import { percentile, report, round, type Figure } from '../report.js';
import { startBenchServer, type BenchServer } from '../server.js';
import { LIVES_CONNECTIONS, beginLives, seedMarket, type Lives } from './lives.js';
import { Gauge, heading, lineOf, type Part } from './measures.js';

/**
 * bench:soak. Ticks each second for half an hour, as the engine does, while rentals begin and end all the time and
 * autovacuum runs. It is as fast, and its tables are as large, at the end as in the first minutes, or it says so. The
 * rentals are rows, not workflows. The ledger is verified at the end.
 */
const rentals = Number(process.env['BENCH_RENTALS'] ?? '200000');
const minutes = Number(process.env['BENCH_MINUTES'] ?? '30');
/** Rentals that begin, and that end, each second. */
const perSecond = Number(process.env['BENCH_RATE'] ?? '20');
const shards = Number(process.env['BENCH_SHARDS'] ?? '2');

const MINUTE = 60_000;
/** The verdict compares thirds: there are at least three parts, however short. */
const partMs = Math.min(MINUTE, (minutes * MINUTE) / 3);

interface Soaked {
  readonly parts: readonly Part[];
  readonly lives: Lives;
  /** Ticks that failed as a whole and were done in parts. */
  readonly apart: number;
}

/** Ticks and prints a line for each part. */
async function soak(server: BenchServer, lives: Lives): Promise<Soaked> {
  // The first ticks write the charges that came due while the fleet was seeded.
  for (let turn = 0; turn < 3; turn += 1) await tick(server.db, { shard: 0, shards: 1 });
  const gauge = await Gauge.begin(server.db, server.pid);
  const parts: Part[] = [];
  const count = { apart: 0 };
  const beganMs = performance.now();
  const isOver = (): boolean => performance.now() >= beganMs + minutes * MINUTE || lives.failed;
  const ticking = tickAllUntil(isOver, server.db, shards, (ms, { entries, ended }, apart) => {
    gauge.note(ms, entries);
    lives.settle(ended);
    if (apart) count.apart += 1;
  });
  console.log(heading);
  const gauging = async (): Promise<void> => {
    for (let no = 1; no * partMs <= minutes * MINUTE + 1 && !lives.failed; no += 1) {
      await sleep(Math.max(0, beganMs + no * partMs - performance.now()));
      const part = await gauge.endPart();
      parts.push(part);
      console.log(lineOf(part, (no * partMs) / MINUTE));
    }
  };
  await Promise.all([ticking, gauging()]);
  return { parts, lives, apart: count.apart };
}

/** The figures of the verdict: the last third beside the first. */
function verdictOf(parts: readonly Part[]): { text: string; figures: Figure[] } {
  const third = Math.floor(parts.length / 3);
  const [first, last] = [parts.slice(0, third), parts.slice(-third)];
  const p99 = (some: readonly Part[]) =>
    round(
      percentile(
        some.flatMap(({ tickMs }) => tickMs),
        0.99,
      ),
    );
  const [early, end] = [first.at(-1), last.at(-1)];
  if (!early || !end) throw new Error(`${parts.length} parts make no thirds`);
  const of = `${rentals.toLocaleString('en-US')} rentals`;
  const figures: Figure[] = [
    {
      id: `soak.p99.${rentals}`,
      what: `tick of ${of} after ${minutes} minutes, p99`,
      ours: p99(last),
      unit: 'ms',
      peer: { what: 'the first third', value: p99(first) },
    },
    ...(['wallets', 'meter_readings', 'rentals'] as const).map((table) => ({
      id: `soak.${table}.${rentals}`,
      what: `${table} of ${of} after ${minutes} minutes`,
      ours: end.tables[table].mib,
      unit: 'MiB',
      peer: { what: 'after the first third', value: early.tables[table].mib },
    })),
  ];
  const text = figures.map(({ what, ours, unit, peer }) => `${what} ${ours} ${unit} (${peer?.value ?? ''})`);
  return { text: text.join('; '), figures };
}

const server = await startBenchServer();
// Rentals live over connections of their own, as the engine has its own in a worker.
const db = openDatabase(server.url, LIVES_CONNECTIONS, 'bench-lives');
try {
  await seedFleet(server.db, rentals, 'realistic');
  await seedMarket(server.db);
  const lives = beginLives(db, perSecond, Math.ceil(rentals / 2));
  const soaking = soak(server, lives);
  await Promise.allSettled([soaking]);
  await lives.stop();
  const { parts, apart } = await soaking;
  await server.db.raw('analyze');
  const broken = await verifyLedger(server.db);
  if (broken.length > 0) throw new Error(`the ledger does not add up: ${JSON.stringify(broken[0])}`);
  const { text, figures } = verdictOf(parts);
  const { opened, settled, busy } = lives;
  report(
    'soak',
    `${text}; ${opened} rentals opened, ${settled} settled, ${busy} steps waited for a wallet, ${apart} ticks in parts; the ledger adds up`,
    {
      rentals,
      minutes,
      perSecond,
      shards,
      opened,
      settled,
      busy,
      apart,
      parts: parts.map(({ tickMs, ...part }) => ({ ticks: tickMs.length, ...part })),
    },
    figures,
  );
} finally {
  await db.destroy();
  await server.stop();
}
