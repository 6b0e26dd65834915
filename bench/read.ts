import autocannon from 'autocannon';
import { startBare } from './bare.js';
import { report, round } from './report.js';
import { insertRichUser, startBenchStack } from './stack.js';

/**
 * bench:read. GET a rental and GET the ledger, against a bare Koa handler that runs the same query and nothing else: no
 * session, no limits, no log, no presenter.
 */
const seconds = Number(process.env['BENCH_SECONDS'] ?? '8');
const connections = 8;

async function shoot(url: string, cookie: string): Promise<number> {
  const result = await autocannon({ url, connections, duration: seconds, headers: { cookie } });
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${url}: ${result.non2xx} refused, ${result.errors} errors`);
  return result.requests.average;
}

const bench = await startBenchStack();
try {
  const { userId, cookie } = await insertRichUser(bench.db, 1_000_000);
  const api = bench.stack.urls.api;
  const created = await fetch(`${api}/v1/rentals`, {
    method: 'POST',
    headers: { cookie, 'content-type': 'application/json' },
    body: JSON.stringify({ familyId: 'b200', gpuCount: 8 }),
  });
  const { id } = (await created.json()) as { id: string };
  const cases = [
    {
      name: 'GET /v1/rentals/:id',
      path: `/v1/rentals/${id}`,
      sql: 'select * from rentals_now where id = ? and user_id = ?',
      bindings: [id, userId],
    },
    {
      name: 'GET /v1/billing/ledger',
      path: '/v1/billing/ledger',
      sql: `select e.*, r.id as rental_id from wallets w join ledger_entries e on e.wallet_id = w.id
              left join rentals r on r.no = e.rental_no where w.user_id = ? order by e.seq desc limit 51`,
      bindings: [userId],
    },
  ];
  for (const { name, path, sql, bindings } of cases) {
    const bare = await startBare(bench.db, () => ({ sql, bindings }));
    await shoot(`${api}${path}`, cookie);
    const ours = await shoot(`${api}${path}`, cookie);
    const floor = await shoot(bare.url, cookie);
    bare.close();
    report(
      'read',
      `${name}: ${round(ours)} requests/s, bare ${round(floor)}: ${round(ours / floor, 2)} of it`,
      {
        name,
        connections,
        requestsPerSecond: round(ours),
        bareRequestsPerSecond: round(floor),
        ratio: round(ours / floor, 2),
      },
    );
  }
} finally {
  await bench.stop();
}
