import autocannon from 'autocannon';
import { startBare } from './bare.js';
import { report, round } from './report.js';
import { insertRichUser, startBenchStack } from './stack.js';
import { newId } from '../adapters/ids.js';
import { insertApiKey } from '../adapters/postgres/accounts/api-keys.js';
import type { Database } from '../adapters/postgres/database.js';
import type { UserId } from '../domain/ids.js';

/**
 * bench:read. GET a rental and GET the ledger, by a session and by an API key, against a bare Koa handler that runs the
 * same query and nothing else: no session, no limits, no log, no presenter.
 */
const seconds = Number(process.env['BENCH_SECONDS'] ?? '8');
const connections = 8;

async function shoot(url: string, headers: Record<string, string>): Promise<number> {
  const result = await autocannon({ url, connections, duration: seconds, headers });
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${url}: ${result.non2xx} refused, ${result.errors} errors`);
  return result.requests.average;
}

async function insertKey(db: Database, userId: UserId): Promise<string> {
  const scopes = ['read', 'billing'] as const;
  const wanted = { name: 'bench', scopes, allowedCidrs: null, expiresAt: null, spendCapCents: null };
  const made = await db.transaction((trx) => insertApiKey(trx, { id: newId('key'), userId, ...wanted }));
  if (!made) throw new Error('no key was made');
  return made.token;
}

const bench = await startBenchStack();
try {
  const { userId, cookie } = await insertRichUser(bench.db, 1_000_000);
  const token = await insertKey(bench.db, userId);
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
    await shoot(`${api}${path}`, { cookie });
    const ours = await shoot(`${api}${path}`, { cookie });
    const byKey = await shoot(`${api}${path}`, { authorization: `Bearer ${token}` });
    const floor = await shoot(bare.url, {});
    bare.close();
    report(
      'read',
      `${name}: ${round(ours)} requests/s, by a key ${round(byKey)}, bare ${round(floor)}: ` +
        `${round(ours / floor, 2)} and ${round(byKey / floor, 2)} of it`,
      {
        name,
        connections,
        requestsPerSecond: round(ours),
        byKeyRequestsPerSecond: round(byKey),
        bareRequestsPerSecond: round(floor),
        ratio: round(ours / floor, 2),
        byKeyRatio: round(byKey / floor, 2),
      },
    );
  }
} finally {
  await bench.stop();
}
