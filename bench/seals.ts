import { openDatabase, type Database } from '../adapters/postgres/database.js';
import { databaseDeadlines } from '../adapters/postgres/deadlines.js';
import { findUnsealed, sealInTurns } from '../adapters/postgres/ledger/sealing.js';
import { findNewestWallet, verifyLedger } from '../adapters/postgres/ledger/verify.js';
import { ledgerLimits } from '../domain/ledger/limits.js';
import { tick } from '../money/metering/tick.js';
import { cpuSecondsOfTree } from './cpu.js';
import { ageFleet, clearFleet, seedFleet } from './fleet.js';
import { percentile, report, round, type Figure } from './report.js';
import { startBenchServer, walBytes, type BenchServer } from './server.js';

/**
 * bench:seals. What the ledger's seals cost and save (decision 139, "Seals of the ledger"): hours of ticks by a clock that
 * is moved on a second a tick, with sealing and without it, minute by minute in turn, and the bytes that an entry keeps for
 * good.
 */
const rentals = Number(process.env['BENCH_RENTALS'] ?? '20000');
const hours = Number(process.env['BENCH_HOURS'] ?? '3');
/** A dump's snapshot is held for the first half of this hour. */
const dumpHour = 2;
const whole = { shard: 0, shards: 1 };
const MINUTE = 60;
/** A benchmark's hour, in seconds of its clock: shorter ones try the benchmark itself. */
const HOUR = Number(process.env['BENCH_HOUR_SECONDS'] ?? '3600');
/** How often the worker walks over all wallets, in minutes. */
const WALK_MINUTES = (ledgerLimits.sealEveryMs + ledgerLimits.sealRestMs) / 60_000;
/** A sized server's checkpoint_timeout, in minutes. */
const CHECKPOINT_MINUTES = 15;

/** What an hour took, and how large the table and its indexes are at its end. */
interface Hour {
  readonly entries: number;
  /** Processor time of all of PostgreSQL, and what of it was spent while ticks were not under way, by what was. */
  readonly postgresSeconds: number;
  readonly sealingSeconds: number;
  readonly cleaningSeconds: number;
  readonly checkpointSeconds: number;
  readonly walBytes: number;
  readonly tickP99Ms: number;
  readonly heapBytes: number;
  readonly indexBytes: number;
}

/** One of the two ledgers that are compared, each on a server of its own. */
interface Side {
  readonly name: 'rows' | 'sealed';
  readonly server: BenchServer;
  readonly db: Database;
  /** Moves its clock on. */
  readonly move: (seconds: number) => Promise<void>;
  /** How many rows have gone since the table was cleaned. */
  gone: number;
  readonly hours: Hour[];
}

/**
 * Puts the database's clock into the hands of the benchmark: hours pass as fast as they can be ticked. One connection
 * does all, as the clock is its own. Autovacuum and checkpoints follow the true clock and would come too rarely, so the
 * benchmark cleans the table and writes checkpoints itself, where they would come.
 */
async function steerClock(db: Database): Promise<(seconds: number) => Promise<void>> {
  await db.raw(`create or replace function clock_ms() returns timestamptz language sql
    as $$ select to_timestamp(current_setting('bench.at')::float8) $$`);
  await db.raw('alter table ledger_entries set (autovacuum_enabled = off)');
  let at = Date.now() / 1_000;
  const move = async (seconds: number): Promise<void> => {
    at += seconds;
    await db.raw(`select set_config('bench.at', ?, false)`, [at.toFixed(3)]);
  };
  await move(0);
  return move;
}

async function sizesOf(db: Database): Promise<Pick<Hour, 'heapBytes' | 'indexBytes'>> {
  const { rows } = await db.raw<{ rows: Pick<Hour, 'heapBytes' | 'indexBytes'>[] }>(
    `select pg_table_size('ledger_entries') as "heapBytes", pg_indexes_size('ledger_entries') as "indexBytes"`,
  );
  return rows[0]!;
}

/** Seals as the worker does, each wallet that has enough entries. @returns how many entries */
async function sealAll(db: Database, leastEntries: number): Promise<number> {
  const limits = { leastEntries, mostEntries: ledgerLimits.sealEntries };
  let sum = 0;
  const all = await findUnsealed(db, { above: 0, upTo: await findNewestWallet(db) }, leastEntries);
  for (let from = 0; from < all.length; from += ledgerLimits.sealAtOnce) {
    await sealInTurns(db, all.slice(from, from + ledgerLimits.sealAtOnce), limits, (entries) => {
      sum += entries;
      return false;
    });
  }
  return sum;
}

/** How many rows may be gone before autovacuum comes, by the table's own settings. */
async function vacuumThreshold(db: Database): Promise<number> {
  const { rows } = await db.raw<{ rows: { rows: number }[] }>(
    `select sum(case split_part(option, '=', 1)
                  when 'autovacuum_vacuum_threshold' then split_part(option, '=', 2)::float8
                  when 'autovacuum_vacuum_scale_factor' then split_part(option, '=', 2)::float8 * greatest(reltuples, 0)
                end)::float8 as rows
       from pg_class, unnest(reloptions) option where oid = 'ledger_entries'::regclass`,
  );
  return rows[0]!.rows;
}

/** The pool ends a connection that nobody has used for 30 s, and the clock is the connection's own. */
function keepUsed(db: Database): void {
  setInterval(() => void db.raw('select 1').catch(() => undefined), 10_000).unref();
}

/** Starts a side's server. */
async function startSide(name: Side['name']): Promise<Side> {
  const server = await startBenchServer();
  const db = openDatabase(server.url, 1, 'bench', null, {
    ...databaseDeadlines.worker,
    ...{ statementMs: 0, transactionMs: 0, answerMs: 10 * HOUR * 1_000 },
  });
  keepUsed(db);
  return { name, server, db, move: await steerClock(db), gone: 0, hours: [] };
}

/** Gives a side a fleet that has run for long. */
async function fill({ name, db }: Side): Promise<void> {
  await db.raw('select switch_sealing(?)', [name === 'sealed']);
  await seedFleet(db, rentals, 'realistic');
  await ageFleet(db, ledgerLimits.sealEntries);
}

/** Measures an hour of a side, of which others pass parts in between. */
class HourOfSide {
  private entries = 0;
  private readonly seconds = { ticks: 0, sealing: 0, cleaning: 0, checkpoint: 0 };
  private walBytes = 0;
  private readonly tickMs: number[] = [];
  private late = 0;
  private letGo: (() => Promise<void>) | undefined;

  constructor(
    private readonly side: Side,
    private readonly hour: number,
  ) {}

  /** Ticks once a second, up to 20 ms late as a timer is, and does what is due at the minute's end. */
  async passMinute(minute: number): Promise<void> {
    const { side } = this;
    const { db, server } = side;
    const walBefore = await walBytes(db);
    if (minute === 1 && this.hour === dumpHour) this.letGo = await holdSnapshot(server);
    await this.spend('ticks', () => this.tickForMinute());
    await this.spend('sealing', async () => {
      if (side.name === 'sealed' && minute % WALK_MINUTES === 0)
        side.gone += await sealAll(db, ledgerLimits.sealEntries);
    });
    await this.spend('cleaning', async () => {
      if (side.gone <= (await vacuumThreshold(db))) return;
      await db.raw('vacuum ledger_entries');
      side.gone = 0;
    });
    if (minute === 30) await this.letGo?.();
    await this.spend('checkpoint', async () => {
      if (minute % CHECKPOINT_MINUTES === 0) await server.checkpoint();
    });
    this.walBytes += (await walBytes(db)) - walBefore;
  }

  /** Closes the hour, and prints it. */
  async end(): Promise<void> {
    const { ticks, sealing, cleaning, checkpoint } = this.seconds;
    const hour: Hour = {
      entries: this.entries,
      postgresSeconds: round(ticks + sealing + cleaning + checkpoint, 1),
      sealingSeconds: round(sealing, 1),
      cleaningSeconds: round(cleaning, 1),
      checkpointSeconds: round(checkpoint, 1),
      walBytes: this.walBytes,
      tickP99Ms: round(percentile(this.tickMs, 0.99), 1),
      ...(await sizesOf(this.side.db)),
    };
    this.side.hours.push(hour);
    console.error(`${this.side.name}, hour ${this.hour}: ${JSON.stringify(hour)}`);
  }

  private async tickForMinute(): Promise<void> {
    for (let second = 1; second <= MINUTE; second += 1) {
      const nextLate = Math.random() * 0.02;
      await this.side.move(1 + nextLate - this.late);
      this.late = nextLate;
      const began = performance.now();
      this.entries += (await tick(this.side.db, whole)).entries;
      this.tickMs.push(performance.now() - began);
    }
  }

  private async spend(on: keyof typeof this.seconds, work: () => Promise<void>): Promise<void> {
    const before = cpuSecondsOfTree(this.side.server.pid);
    await work();
    this.seconds[on] += cpuSecondsOfTree(this.side.server.pid) - before;
  }
}

/** Passes an hour on both sides in turn, so that both meet the machine at its fast and its slow minutes. */
async function passHour(sides: readonly Side[], hour: number): Promise<void> {
  const measures = sides.map((side) => new HourOfSide(side, hour));
  for (let minute = 1; minute <= HOUR / MINUTE; minute += 1) {
    for (const measure of minute % 2 === 0 ? measures : measures.toReversed())
      await measure.passMinute(minute);
  }
  for (const measure of measures) await measure.end();
}

/** Holds what a dump holds. @returns a function that lets it go */
async function holdSnapshot(server: BenchServer): Promise<() => Promise<void>> {
  const dump = openDatabase(server.url, 1, 'dump', null);
  const trx = await dump.transaction({ isolationLevel: 'repeatable read' });
  await trx.raw('select count(*) from wallets');
  return async () => {
    await trx.rollback();
    await dump.destroy();
  };
}

/** What stays of the ledger and its proof for good. */
const keptTables = [
  'ledger_entries',
  'ledger_causes',
  'ledger_seals',
  'ledger_hashes',
  'ledger_note_salts',
  'ledger_roots',
  'wallet_proof_ids',
];

/** All that stays of the ledger, the night's seals made and the table's free room given up, over all its entries. */
async function bytesForGood(db: Database): Promise<{ bytesPerEntry: number; entriesPerSeal: number }> {
  await sealAll(db, 1);
  await db.raw(`vacuum full ${keptTables.join(', ')}`);
  const { rows } = await db.raw<{ rows: { bytesPerEntry: number; entriesPerSeal: number }[] }>(
    `select (select sum(pg_total_relation_size(kept)) from unnest(?::regclass[]) kept)::float8
              / sum(seq)::float8 as "bytesPerEntry",
            sum(seq)::float8 / (select count(*) from ledger_seals) as "entriesPerSeal"
       from wallets`,
    [keptTables],
  );
  return rows[0]!;
}

/** One machine of $0.20 an hour in each wallet, for a day: what a small customer leaves. */
async function bytesOfSmall(db: Database): Promise<{ bytesPerEntry: number; entriesPerSeal: number }> {
  await clearFleet(db);
  await seedFleet(db, 2_000, 'realistic');
  for (const table of ['ledger_entries', 'wallets'])
    await db.raw('alter table ?? disable trigger user', [table]);
  await db.raw(
    `insert into ledger_entries (wallet_id, seq, type, amount_cents, balance_after_cents, rental_no, created_at)
     select w.id, 1 + n, 'rental_charge', -1, 100000000 - n, w.no,
            date_trunc('milliseconds', clock_ms() + make_interval(secs => ceil(n * 18.0) + random() * 0.02))
       from (select wallet_id as id, min(no) as no from rentals group by wallet_id) w, generate_series(1, 480) n`,
  );
  await db.raw('update wallets set seq = 481, available_cents = 100000000 - 480');
  await db.raw('analyze ledger_entries');
  for (const table of ['ledger_entries', 'wallets'])
    await db.raw('alter table ?? enable trigger user', [table]);
  return bytesForGood(db);
}

const [rows, sealed] = [await startSide('rows'), await startSide('sealed')];
try {
  for (const side of [rows, sealed]) await fill(side);
  for (let hour = 1; hour <= hours; hour += 1) await passHour([rows, sealed], hour);
  const kept = await bytesForGood(sealed.db);
  const broken = await verifyLedger(sealed.db);
  if (broken.length > 0) throw new Error(`the ledger does not add up: ${JSON.stringify(broken[0])}`);
  const small = await bytesOfSmall(sealed.db);
  const perEntry = (all: readonly Hour[], of: (hour: Hour) => number): number =>
    all.reduce((sum, hour) => sum + of(hour), 0) / all.reduce((sum, { entries }) => sum + entries, 0);
  const sides = [rows.hours, sealed.hours];
  const cpuUs = sides.map((side) =>
    round(
      perEntry(side, (hour) => hour.postgresSeconds * 1e6),
      2,
    ),
  );
  const logged = sides.map((side) => round(perEntry(side, (hour) => hour.walBytes)));
  const ticks = sides.map((side) => Math.max(...side.map((hour) => hour.tickP99Ms)));
  const size = ({ heapBytes, indexBytes }: Hour): number => heapBytes + indexBytes;
  const growth = round(size(sealed.hours.at(-1)!) / size(sealed.hours[0]!), 3);
  const of = `${rentals.toLocaleString('en-US')} rentals`;
  const figures: Figure[] = [
    {
      id: 'seals.bytes',
      what: 'bytes that an entry keeps for good',
      ours: round(kept.bytesPerEntry, 2),
      unit: 'bytes',
    },
    {
      id: 'seals.bytes.small',
      what: 'the same, one machine of $0.20 an hour in each wallet',
      ours: round(small.bytesPerEntry, 2),
      unit: 'bytes',
    },
    {
      id: 'seals.cpu',
      what: `processor time of PostgreSQL an entry, ticks of ${of} and sealing`,
      ours: cpuUs[1]!,
      unit: 'µs',
      peer: { what: 'without sealing', value: cpuUs[0]! },
    },
    {
      id: 'seals.wal',
      what: `log of an entry, ticks of ${of} and sealing`,
      ours: logged[1]!,
      unit: 'bytes',
      peer: { what: 'without sealing', value: logged[0]! },
    },
    {
      id: 'seals.p99',
      what: `p99 of a tick of ${of}, with sealing each ${WALK_MINUTES} minutes`,
      ours: ticks[1]!,
      unit: 'ms',
      peer: { what: 'without sealing', value: ticks[0]! },
    },
    {
      id: 'seals.growth',
      what: 'the table after all hours, over its size after the first',
      ours: growth,
      unit: 'times',
    },
  ];
  report(
    'seals',
    `${round(kept.bytesPerEntry, 2)} bytes an entry, ${cpuUs[1]} µs against ${cpuUs[0]}, log ${logged[1]} against ${logged[0]} bytes`,
    { rentals, hours, rows: rows.hours, sealed: sealed.hours, kept, small },
    figures,
  );
} finally {
  for (const side of [rows, sealed]) {
    await side.db.destroy();
    await side.server.stop();
  }
}
