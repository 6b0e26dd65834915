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
 * bench:sealed-reads. What each reader of a wallet's ledger takes from rows and from seals (decision 139, "Seals of the
 * ledger"): two wallets with the same ledger, of which one is sealed, are read in turn.
 */
const entries = Number(process.env['BENCH_ENTRIES'] ?? '10000000');
const turns = Number(process.env['BENCH_PAGES'] ?? '60');
const from = new Date(Date.now() - entries * 4_000);

/** One of the two wallets that are compared. */
interface Wallet {
  readonly id: number;
  readonly userId: UserId;
  readonly rentalId: RentalId;
}

/** The wallets of seedFleet's first users, each with two rentals. */
const [rowsWallet, sealedWallet] = [1, 2].map<Wallet>((n) => ({
  id: n,
  userId: `usr_${String(n).padStart(26, '0')}`,
  rentalId: `rent_${String(2 * n).padStart(26, '0')}`,
})) as [Wallet, Wallet];

/** Makes wallets whose two rentals wrote an entry every four seconds, and a top-up in a thousand. */
async function seedWallets(db: Database): Promise<void> {
  await seedFleet(db, 4, 'realistic');
  for (const table of ['ledger_entries', 'wallets', 'rentals'])
    await db.raw('alter table ?? disable trigger user', [table]);
  await db.raw('update rentals set opened_seq = 0');
  await db.raw(
    `insert into ledger_entries (wallet_id, seq, type, amount_cents, balance_after_cents, rental_no, processor_charge_id, created_at)
     select w.id, n, case when m = 1 then 'processor_topup' else 'rental_charge' end::ledger_entry_type,
            case when m = 1 then 999 else -1 end, 100000000 + (1000 - m) % 1000,
            case when m <> 1 then w.rental_no + n % 2 end, case when m = 1 then 'ch_' || w.id || '_' || n end,
            date_trunc('milliseconds', :from::timestamptz + make_interval(secs => n * 4.0 + random() * 0.02))
       from (select wallet_id as id, min(no) as rental_no from rentals group by wallet_id) w
      cross join (select n, (n - 1) % 1000 as m from generate_series(2, :entries::bigint) n) numbers`,
    { entries, from },
  );
  await db('wallets').update({
    seq: entries,
    available_cents: 100_000_000 + ((1_000 - ((entries - 1) % 1_000)) % 1_000),
  });
  for (const table of ['ledger_entries', 'wallets', 'rentals'])
    await db.raw('alter table ?? enable trigger user', [table]);
  await db.raw('vacuum analyze');
}

type Readers = Readonly<Record<string, () => Promise<unknown>>>;

function readersOf(db: Database, { id: walletId, userId, rentalId }: Wallet): Readers {
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

/** The medians of each reader, in ms, each wallet in turn. Those that take long take fewer turns. */
async function measure(
  rows: Readers,
  sealed: Readers,
): Promise<[name: string, rows: number, sealed: number][]> {
  const medians: [string, number, number][] = [];
  for (const name of Object.keys(rows)) {
    const ms: number[][] = [[], []];
    const began = performance.now();
    for (let turn = 0; turn < turns && (turn < 3 || performance.now() - began < 40_000); turn += 1) {
      for (const [side, readers] of [rows, sealed].entries()) {
        const started = performance.now();
        await readers[name]!();
        ms[side]!.push(performance.now() - started);
      }
    }
    const [ofRows, ofSealed] = ms.map((each) => round(percentile(each, 0.5), 2));
    medians.push([name, ofRows!, ofSealed!]);
  }
  return medians;
}

const server = await startBenchServer();
try {
  const { db } = server;
  await seedWallets(db);
  await db.raw('select switch_sealing(true)');
  const limits = { leastEntries: 1, mostEntries: ledgerLimits.sealEntries };
  const began = performance.now();
  await sealInTurns(db, [sealedWallet.id], limits, () => false);
  const sealSeconds = round((performance.now() - began) / 1_000, 1);
  await db.raw('vacuum analyze');
  const sides = [readersOf(db, rowsWallet), readersOf(db, sealedWallet)] as const;
  await measure(...sides);
  const medians = await measure(...sides);
  const figures = medians.map<Figure>(([name, rows, sealed]) => ({
    id: `sealed-reads.${name.replaceAll(' ', '-')}`,
    what: `${name}, sealed ledger of ${entries.toLocaleString('en-US')} entries, p50`,
    ours: sealed,
    unit: 'ms',
    peer: { what: 'rows', value: rows },
  }));
  const told = medians.map(([name, rows, sealed]) => `${name} ${rows} to ${sealed} ms`);
  report('sealed-reads', told.join(', '), { entries, sealSeconds, medians }, figures);
} finally {
  await server.stop();
}
