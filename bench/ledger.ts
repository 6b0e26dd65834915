import type { Database } from '../adapters/postgres/database.js';
import { readLedger } from '../adapters/postgres/wallets/ledger-reads.js';
import type { UserId } from '../domain/ids.js';
import { percentile, report, round } from './report.js';
import { startBenchServer } from './server.js';

/** bench:ledger. A page of one wallet's ledger must cost the same at a thousand entries and at ten million. */
const sizes = (process.env['BENCH_ENTRIES'] ?? '1000,100000,10000000').split(',').map(Number);
const pages = Number(process.env['BENCH_PAGES'] ?? '400');

/**
 * Makes one wallet with this many entries, as metering would have written them: two rentals in turn, and some top-ups.
 */
async function seedLedger(db: Database, index: number, entries: number): Promise<UserId> {
  const userId: UserId = `usr_${String(index).padStart(26, '0')}`;
  await db('users').insert({ id: userId, email: `bench${index}@example.com` });
  const [wallet] = await db('wallets').insert({ user_id: userId }).returning('id');
  const walletId = wallet?.id ?? 0;
  await db.raw('alter table ledger_entries disable trigger user');
  await db.raw('alter table wallets disable trigger user');
  await db.raw('set statement_timeout = 0');
  await db.raw(
    `insert into ledger_entries (wallet_id, seq, type, amount_cents, balance_after_cents, rental_no, created_at)
     select :walletId, n, case when n % 1000 = 1 then 'processor_topup' else 'rental_charge' end::ledger_entry_type,
            case when n % 1000 = 1 then 1000000 else -1 end, 1000000000, 1 + n % 2,
            clock_ms() - (:entries::bigint - n) * interval '1 second'
       from generate_series(1, :entries::bigint) n`,
    { walletId, entries },
  );
  await db('wallets').where({ id: walletId }).update({ seq: entries, available_cents: 1_000_000_000 });
  await db.raw('alter table ledger_entries enable trigger user');
  await db.raw('alter table wallets enable trigger user');
  return userId;
}

/** Reads random pages all over the ledger, unfiltered and of the rare type. */
async function readPages(db: Database, userId: UserId, entries: number): Promise<Record<string, number>> {
  const ms: { plain: number[]; rare: number[] } = { plain: [], rare: [] };
  for (let page = 0; page < pages; page += 1) {
    const beforeSeq = 1 + Math.floor(Math.random() * entries);
    for (const [kind, type] of [
      ['plain', undefined],
      ['rare', 'processor_topup'],
    ] as const) {
      const started = performance.now();
      await readLedger(db, userId, { beforeSeq, type }, 51);
      ms[kind].push(performance.now() - started);
    }
  }
  return {
    entries,
    p50Ms: round(percentile(ms.plain, 0.5), 2),
    p99Ms: round(percentile(ms.plain, 0.99), 2),
    typeFilterP50Ms: round(percentile(ms.rare, 0.5), 2),
    typeFilterP99Ms: round(percentile(ms.rare, 0.99), 2),
  };
}

const server = await startBenchServer();
try {
  const users: [UserId, number][] = [];
  for (const [index, entries] of sizes.entries())
    users.push([await seedLedger(server.db, index, entries), entries]);
  await server.db.raw('vacuum analyze ledger_entries');
  // One round warms the cache and the connection.
  for (const [userId, entries] of users) await readPages(server.db, userId, entries);
  const results = [];
  for (const [userId, entries] of users) results.push(await readPages(server.db, userId, entries));
  const p50 = results.map((result) => result['p50Ms'] ?? 0);
  const flat = round(Math.max(...p50) / Math.min(...p50), 2);
  report('ledger', `page p50 ${p50.join(', ')} ms at ${sizes.join(', ')} entries: within ${flat} times`, {
    results,
    flatWithin: flat,
  });
} finally {
  await server.stop();
}
