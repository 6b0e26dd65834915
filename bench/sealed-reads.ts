import { explainEntry } from '../adapters/postgres/explain/explain-entry.js';
import type { Database } from '../adapters/postgres/database.js';
import { readLedger } from '../adapters/postgres/ledger/ledger-reads.js';
import { sumCharges } from '../adapters/postgres/ledger/rental-charges.js';
import { sealInTurns } from '../adapters/postgres/ledger/sealing.js';
import { findStretch, readStatement, readStretch } from '../adapters/postgres/ledger/statement-reads.js';
import { DAY } from '../domain/durations.js';
import type { RentalId, UserId } from '../domain/ids.js';
import { ledgerLimits } from '../domain/ledger/limits.js';
import { seedFleet } from './fleet.js';
import { percentile, report, round, type Figure } from './report.js';
import { startBenchServer } from './server.js';

/**
 * bench:sealed-reads. What each reader of one wallet's ledger takes from rows, and once all is sealed (decision 139,
 * "Seals of the ledger").
 */
const entries = Number(process.env['BENCH_ENTRIES'] ?? '10000000');
const turns = Number(process.env['BENCH_PAGES'] ?? '60');
const userId: UserId = `usr_${'1'.padStart(26, '0')}`;
const rentalId: RentalId = `rent_${'1'.padStart(26, '0')}`;

/** A wallet whose two rentals wrote an entry every four seconds, and a top-up in a thousand. */
async function seedWallet(db: Database): Promise<{ walletId: number; from: Date }> {
  await seedFleet(db, 2, 'realistic');
  const wallet = await db('wallets').where({ user_id: userId }).first();
  const walletId = wallet?.id ?? 0;
  const from = new Date(Date.now() - entries * 4_000);
  for (const table of ['ledger_entries', 'wallets', 'rentals'])
    await db.raw('alter table ?? disable trigger user', [table]);
  await db.raw('update rentals set opened_seq = 0');
  await db.raw(
    `insert into ledger_entries (wallet_id, seq, type, amount_cents, balance_after_cents, rental_no, processor_charge_id, created_at)
     select :walletId, n, case when m = 1 then 'processor_topup' else 'rental_charge' end::ledger_entry_type,
            case when m = 1 then 999 else -1 end, 100000000 + (1000 - m) % 1000,
            case when m <> 1 then (select min(no) from rentals) + n % 2 end, case when m = 1 then 'ch_' || n end,
            date_trunc('milliseconds', :from::timestamptz + make_interval(secs => n * 4.0 + random() * 0.02))
       from (select n, (n - 1) % 1000 as m from generate_series(2, :entries::bigint) n) numbers`,
    { walletId, entries, from },
  );
  await db('wallets')
    .where({ id: walletId })
    .update({
      seq: entries,
      available_cents: 100_000_000 + ((1_000 - ((entries - 1) % 1_000)) % 1_000),
    });
  for (const table of ['ledger_entries', 'wallets', 'rentals'])
    await db.raw('alter table ?? enable trigger user', [table]);
  await db.raw('vacuum analyze');
  return { walletId, from };
}

type Readers = Readonly<Record<string, (turn: number) => Promise<unknown>>>;

function readersOf(db: Database, walletId: number, from: Date): Readers {
  const any = (): number => 2_000 + Math.floor(Math.random() * (entries - 4_000));
  const page = (filter: Parameters<typeof readLedger>[2]) => () => readLedger(db, userId, filter, 51);
  const month = (): { from: Date; to: Date } => {
    const begin = from.getTime() + Math.random() * Math.max(0, entries * 4_000 - 31 * DAY);
    return { from: new Date(begin), to: new Date(begin + 30 * DAY) };
  };
  return {
    'first page': page({}),
    'page by cursor': () => page({ beforeSeq: any() })(),
    'page by type': () => page({ beforeSeq: any(), type: 'processor_topup' })(),
    'page by rental': () => page({ beforeSeq: any(), rentalId })(),
    'page by date': async () => {
      const { fromSeq, toSeq } = await findStretch(db, userId, ...Object.values(month()));
      return page({ fromSeq, beforeSeq: toSeq })();
    },
    'page over the border': () => page({ beforeSeq: entries - 20 })(),
    '20,000 lines of CSV': async () => {
      const stretch = { walletId, fromSeq: any() % Math.max(1, entries - 20_000), toSeq: entries };
      for (let fromSeq = stretch.fromSeq, end = fromSeq + 20_000; fromSeq < end;) {
        const read = await readStretch(db, { ...stretch, fromSeq, toSeq: end }, 1_000);
        fromSeq = (read.at(-1)?.seq ?? end) + 1;
      }
    },
    'statement of a month': () => readStatement(db, userId, month()),
    explain: async () => {
      const { entries: found } = await readLedger(db, userId, { beforeSeq: any() }, 1);
      return explainEntry(db, found[0]!.id, 1, userId);
    },
    charges: () => sumCharges(db, userId, rentalId, 'day'),
  };
}

/** The median of each reader, in ms. Those that take long take fewer turns. */
async function measure(readers: Readers): Promise<Record<string, number>> {
  const medians: Record<string, number> = {};
  for (const [name, read] of Object.entries(readers)) {
    const ms: number[] = [];
    const began = performance.now();
    for (let turn = 0; turn < turns && (turn < 3 || performance.now() - began < 20_000); turn += 1) {
      const started = performance.now();
      await read(turn);
      ms.push(performance.now() - started);
    }
    medians[name] = round(percentile(ms, 0.5), 2);
  }
  return medians;
}

const server = await startBenchServer();
try {
  const { db } = server;
  const { walletId, from } = await seedWallet(db);
  const readers = readersOf(db, walletId, from);
  await measure(readers);
  const rows = await measure(readers);
  await db.raw('select switch_sealing(true)');
  const limits = { leastEntries: 1, mostEntries: ledgerLimits.sealEntries };
  const began = performance.now();
  await sealInTurns(db, [walletId], limits, () => false);
  const sealSeconds = round((performance.now() - began) / 1_000, 1);
  await db.raw('vacuum analyze');
  await measure(readers);
  const sealed = await measure(readers);
  const figures = Object.keys(readers).map<Figure>((name) => ({
    id: `sealed-reads.${name.replaceAll(' ', '-')}`,
    what: `${name}, sealed ledger of ${entries.toLocaleString('en-US')} entries, p50`,
    ours: sealed[name]!,
    unit: 'ms',
    peer: { what: 'rows', value: rows[name]! },
  }));
  const told = Object.keys(readers).map((name) => `${name} ${rows[name]} to ${sealed[name]} ms`);
  report('sealed-reads', told.join(', '), { entries, sealSeconds, rows, sealed }, figures);
} finally {
  await server.stop();
}
