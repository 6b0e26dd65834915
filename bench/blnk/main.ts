import { mkdtempSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pLimit from 'p-limit';
import { verifyLedger } from '../../adapters/postgres/ledger/verify.js';
import { LEFT_OUT } from '../../lab/servers/script-run.js';
import { readStackSettings } from '../../lab/stack/settings.js';
import { tick } from '../../money/metering/tick.js';
import { cpuSecondsOfTree } from '../cpu.js';
import { seedFleet } from '../fleet.js';
import { report, round } from '../report.js';
import { startBenchServer, type BenchServer } from '../server.js';
import { findBlnk, NotToBeHad, startBlnk, type Blnk, type BlnkPrograms } from './blnk.js';

/**
 * bench:blnk. Entries that the tick writes a second beside transactions that blnk, an open ledger, takes a second over
 * its HTTP API, in turn on the same PostgreSQL. They do different things: a tick computes and writes what thousands of
 * wallets owe in one statement; blnk is asked for each transfer. It ends with exit code 75 where blnk can't be had.
 */
const rentals = Number(process.env['BENCH_RENTALS'] ?? '10000');
const seconds = Number(process.env['BENCH_SECONDS'] ?? '20');
const callers = Number(process.env['BENCH_CALLERS'] ?? '8');
const rounds = Number(process.env['BENCH_ROUNDS'] ?? '3');
const perBulk = 100;
const pairs = 1_000;
const whole = { shard: 0, shards: 1 };

/** What one side did in all its turns. */
interface Rate {
  done: number;
  ms: number;
  cpuSeconds: number;
}

const none = (): Rate => ({ done: 0, ms: 0, cpuSeconds: 0 });
const perSecond = ({ done, ms }: Rate): number => round((done * 1_000) / ms);
const cpuMicros = ({ done, cpuSeconds }: Rate): number => round((cpuSeconds * 1e6) / done);

async function post(blnk: Blnk, path: string, body: unknown): Promise<Record<string, unknown>> {
  const response = await fetch(`${blnk.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`blnk refused ${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as Record<string, unknown>;
}

/** Pairs of balances: each transfer has two of its own, so that none waits for another's lock. */
async function makePairs(blnk: Blnk): Promise<[string, string][]> {
  const { ledger_id: ledgerId } = await post(blnk, '/ledgers', { name: 'bench' });
  const limit = pLimit(callers);
  const make = async (): Promise<string> => {
    const made = await post(blnk, '/balances', { ledger_id: ledgerId, currency: 'USD' });
    return String(made['balance_id']);
  };
  return Promise.all(
    Array.from({ length: pairs }, () => limit(async () => [await make(), await make()] as [string, string])),
  );
}

let references = 0;

/** A transfer of a cent, done before its answer comes. */
function transfer([source, destination]: [string, string]): Record<string, unknown> {
  references += 1;
  return {
    precise_amount: 1,
    precision: 100,
    currency: 'USD',
    reference: `bench-${references}`,
    description: 'a cent',
    source,
    destination,
    allow_overdraft: true,
    skip_queue: true,
  };
}

/** Lets callers send for the given time; each caller has pairs of its own. */
async function send(
  forMs: number,
  rate: Rate,
  cpu: () => number,
  once: (caller: number, turn: number) => Promise<number>,
): Promise<void> {
  const [beganMs, before] = [performance.now(), cpu()];
  await Promise.all(
    Array.from({ length: callers }, async (_, caller) => {
      for (let turn = 0; performance.now() - beganMs < forMs; turn += 1)
        rate.done += await once(caller, turn);
    }),
  );
  rate.ms += performance.now() - beganMs;
  rate.cpuSeconds += cpu() - before;
}

/** Ticks of a fleet in which each rental owes a cent a second; only the ticks themselves count. */
async function ticks(server: BenchServer, forMs: number, rate: Rate, cpu: () => number): Promise<void> {
  const beganMs = performance.now();
  do {
    await sleep(1_050);
    const [startedMs, before] = [performance.now(), cpu()];
    rate.done += (await tick(server.db, whole)).entries;
    rate.ms += performance.now() - startedMs;
    rate.cpuSeconds += cpu() - before;
  } while (performance.now() - beganMs < forMs);
}

async function measure(server: BenchServer, blnk: Blnk): Promise<void> {
  const all = await makePairs(blnk);
  const pairOf = (caller: number, turn: number): [string, string] => {
    const pair = all[(turn * callers + caller) % all.length];
    if (!pair) throw new Error('there are no balances');
    return pair;
  };
  const single = async (caller: number, turn: number): Promise<number> => {
    await post(blnk, '/transactions', transfer(pairOf(caller, turn)));
    return 1;
  };
  const bulk = async (caller: number, turn: number): Promise<number> => {
    const transactions = Array.from({ length: perBulk }, (_, index) =>
      transfer(pairOf(caller, turn * perBulk + index)),
    );
    await post(blnk, '/transactions/bulk', { transactions, skip_queue: true });
    return perBulk;
  };
  const [ours, singles, bulks] = [none(), none(), none()];
  const ourCpu = (): number => cpuSecondsOfTree(server.pid) + process.cpuUsage().user / 1e6;
  const theirCpu = (): number =>
    [server.pid, ...blnk.pids].reduce((sum, pid) => sum + cpuSecondsOfTree(pid), 0);
  const turnMs = (seconds * 1_000) / rounds;
  // A turn of each warms them up and is not counted; the first tick writes what came due while the fleet was seeded.
  await send(turnMs / 4, none(), theirCpu, single);
  await ticks(server, 0, none(), ourCpu);
  for (let round = 1; round <= rounds; round += 1) {
    console.error(`turn ${round} of ${rounds}: ticks, transactions, transactions in bulk …`);
    await ticks(server, turnMs, ours, ourCpu);
    await send(turnMs, singles, theirCpu, single);
    await send(turnMs, bulks, theirCpu, bulk);
  }
  await server.db.raw('analyze');
  const broken = await verifyLedger(server.db);
  if (broken.length > 0) throw new Error(`the ledger does not add up: ${JSON.stringify(broken[0])}`);
  tell(ours, singles, bulks);
}

function tell(ours: Rate, singles: Rate, bulks: Rate): void {
  const [entries, single, bulk] = [perSecond(ours), perSecond(singles), perSecond(bulks)];
  const figure = {
    what: `entries a second, ${rentals.toLocaleString('en-US')} rentals`,
    ours: entries,
    unit: '/s',
  };
  report(
    'blnk',
    `${entries} entries/s by the tick; blnk ${single} transactions/s, ${bulk} in bulk; CPU of each ` +
      `${cpuMicros(ours)}, ${cpuMicros(singles)} and ${cpuMicros(bulks)} µs`,
    {
      ...{ rentals, seconds, callers, perBulk, pairs },
      entriesPerSecond: entries,
      transactionsPerSecond: single,
      bulkTransactionsPerSecond: bulk,
      cpuMicros: {
        entry: cpuMicros(ours),
        transaction: cpuMicros(singles),
        bulkTransaction: cpuMicros(bulks),
      },
    },
    [
      { ...figure, id: `blnk.single.${rentals}`, peer: { what: "blnk's transactions", value: single } },
      { ...figure, id: `blnk.bulk.${rentals}`, peer: { what: "blnk's transactions in bulk", value: bulk } },
    ],
  );
}

async function run(programs: BlnkPrograms): Promise<void> {
  const server = await startBenchServer();
  const folder = mkdtempSync(join(tmpdir(), 'gpu-rental-blnk-'));
  try {
    await seedFleet(server.db, rentals, 'every-second');
    await server.db.raw('create database blnk');
    const blnk = await startBlnk(programs, new URL('/blnk', server.url).toString(), folder);
    try {
      await measure(server, blnk);
    } finally {
      await blnk.stop();
    }
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

try {
  await run(await findBlnk(readStackSettings().cliPlaces, (line) => console.error(line)));
} catch (error) {
  if (!(error instanceof NotToBeHad)) throw error;
  console.error(`blnk can't be had here: ${error.message}`);
  process.exitCode = LEFT_OUT;
}
