import type { Database } from '../adapters/postgres/database.js';
import { readLedger } from '../adapters/postgres/ledger/ledger-reads.js';
import type { UserId } from '../domain/ids.js';
import { seedLedger } from './long-ledger.js';
import { percentile, report, round } from './report.js';
import { startBenchServer } from './server.js';

/** bench:ledger. A page of one wallet's ledger must cost the same at a thousand entries and at ten million. */
const sizes = (process.env['BENCH_ENTRIES'] ?? '1000,100000,10000000').split(',').map(Number);
const pages = Number(process.env['BENCH_PAGES'] ?? '400');

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
  for (const [index, entries] of sizes.entries()) {
    const userId: UserId = `usr_${String(index).padStart(26, '0')}`;
    await seedLedger(server.db, userId, entries);
    users.push([userId, entries]);
  }
  await server.db.raw('vacuum analyze ledger_entries');
  // One round warms the cache and the connection.
  for (const [userId, entries] of users) await readPages(server.db, userId, entries);
  const results = [];
  for (const [userId, entries] of users) results.push(await readPages(server.db, userId, entries));
  const p50 = results.map((result) => result['p50Ms'] ?? 0);
  const flat = round(Math.max(...p50) / Math.min(...p50), 2);
  report(
    'ledger',
    `page p50 ${p50.join(', ')} ms at ${sizes.join(', ')} entries: within ${flat} times`,
    {
      results,
      flatWithin: flat,
    },
    [
      {
        id: `ledger.page.${Math.max(...sizes)}`,
        what: `a page of a ledger of ${Math.max(...sizes).toLocaleString('en-US')} entries, p50`,
        ours: p50.at(-1) ?? Number.NaN,
        unit: 'ms',
        peer: {
          what: `of ${Math.min(...sizes).toLocaleString('en-US')} entries`,
          value: p50[0] ?? Number.NaN,
        },
      },
    ],
  );
} finally {
  await server.stop();
}
