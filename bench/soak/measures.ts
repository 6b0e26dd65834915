import type { Database } from '../../adapters/postgres/database.js';
import { cpuSecondsOfTree } from '../cpu.js';
import { percentile, round } from '../report.js';
import { walBytes } from '../server.js';

/** The tables whose growth is watched. */
const watched = ['wallets', 'meter_readings', 'rentals', 'ledger_entries'] as const;
export type Watched = (typeof watched)[number];

/** What one part of the soak, a minute in earnest, was like. */
export interface Part {
  readonly tickMs: readonly number[];
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly entries: number;
  readonly running: number;
  /** MiB with indexes, and dead rows as the statistics tell them, at its end. */
  readonly tables: Readonly<Record<Watched, { readonly mib: number; readonly dead: number }>>;
  readonly ledgerBytesPerEntry: number;
  readonly walMib: number;
  readonly cores: { readonly worker: number; readonly postgres: number };
}

/** Gathers the ticks of a part, and reads the rest at its end. */
export class Gauge {
  #tickMs: number[] = [];
  #entries = 0;
  #allEntries: number;
  #begun: {
    readonly ms: number;
    readonly cpu: NodeJS.CpuUsage;
    readonly postgres: number;
    /** In bytes. */
    readonly wal: number;
  };

  private constructor(
    private readonly db: Database,
    private readonly pid: number,
    entries: number,
    wal: number,
  ) {
    this.#allEntries = entries;
    this.#begun = this.#now(wal);
  }

  /** @param pid of the database's server */
  static async begin(db: Database, pid: number): Promise<Gauge> {
    const { rows } = await db.raw<{ rows: { count: number }[] }>('select count(*)::int from ledger_entries');
    return new Gauge(db, pid, rows[0]?.count ?? 0, await walBytes(db));
  }

  #now(wal: number) {
    return { ms: performance.now(), cpu: process.cpuUsage(), postgres: cpuSecondsOfTree(this.pid), wal };
  }

  note(ms: number, entries: number): void {
    this.#tickMs.push(ms);
    this.#entries += entries;
  }

  /** Ends a part and begins the next. */
  async endPart(): Promise<Part> {
    const [tickMs, entries, begun] = [this.#tickMs, this.#entries, this.#begun];
    const worker = process.cpuUsage(begun.cpu);
    this.#tickMs = [];
    this.#entries = 0;
    this.#begun = this.#now(await walBytes(this.db));
    this.#allEntries += entries;
    const seconds = (this.#begun.ms - begun.ms) / 1_000;
    const tables = await readTables(this.db);
    return {
      tickMs,
      p50Ms: round(percentile(tickMs, 0.5)),
      p99Ms: round(percentile(tickMs, 0.99)),
      entries,
      running: await countMeters(this.db),
      tables,
      ledgerBytesPerEntry: round((tables.ledger_entries.mib * 2 ** 20) / this.#allEntries),
      walMib: round((this.#begun.wal - begun.wal) / 2 ** 20),
      cores: {
        worker: round((worker.user + worker.system) / 1e6 / seconds, 2),
        postgres: round((this.#begun.postgres - begun.postgres) / seconds, 2),
      },
    };
  }
}

async function countMeters(db: Database): Promise<number> {
  const { rows } = await db.raw<{ rows: { count: number }[] }>('select count(*)::int from meters');
  return rows[0]?.count ?? 0;
}

async function readTables(db: Database): Promise<Part['tables']> {
  const { rows } = await db.raw<{ rows: { name: Watched; bytes: string; dead: string }[] }>(
    `select relname as name, pg_total_relation_size(relid) as bytes, n_dead_tup as dead
       from pg_stat_user_tables where schemaname = 'public' and relname = any(?)`,
    [[...watched]],
  );
  const none = { mib: Number.NaN, dead: Number.NaN };
  const read = new Map(
    rows.map(({ name, bytes, dead }) => [
      name,
      { mib: round(Number(bytes) / 2 ** 20, 1), dead: Number(dead) },
    ]),
  );
  const of = (name: Watched) => read.get(name) ?? none;
  return {
    wallets: of('wallets'),
    meter_readings: of('meter_readings'),
    rentals: of('rentals'),
    ledger_entries: of('ledger_entries'),
  };
}

const titles = [
  'minute',
  'p50',
  'p99 ms',
  'entries',
  'running',
  ...watched.slice(0, 3).map((n) => `${n} MiB/dead`),
];
export const heading = [...titles, 'ledger B/entry', 'log MiB', 'cores'].join('  ');

/** The line of a part under the heading. @param minutes at its end, since the beginning */
export function lineOf(part: Part, minutes: number): string {
  const { tables, cores } = part;
  const cells = [
    minutes.toFixed(1),
    part.p50Ms,
    part.p99Ms,
    part.entries,
    part.running,
    ...(['wallets', 'meter_readings', 'rentals'] as const).map(
      (name) => `${tables[name].mib}/${tables[name].dead}`,
    ),
    part.ledgerBytesPerEntry,
    part.walMib,
    `${cores.worker}+${cores.postgres}`,
  ];
  const widths = [...titles, 'ledger B/entry', 'log MiB', 'cores'].map((title) => title.length);
  return cells.map((cell, index) => String(cell).padStart(widths[index] ?? 0)).join('  ');
}
