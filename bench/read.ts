import autocannon from 'autocannon';
import { startBareProcess, type BareProcess, type BareQuery } from './bare-process.js';
import { cpuSecondsOfTree } from './cpu.js';
import { percentile, report, round } from './report.js';
import { spreadOf, type Spread } from './spread.js';
import { insertRichUser, rent, startBenchStack, type BenchStack } from './stack.js';
import { newId } from '../adapters/ids.js';
import { insertApiKey } from '../adapters/postgres/accounts/api-keys.js';
import { balanceAhead } from '../adapters/postgres/wallets/wallet-reads.js';
import type { Database } from '../adapters/postgres/database.js';
import type { UserId } from '../domain/ids.js';
import { until } from '../test/support/until.js';

/**
 * bench:read. GET a rental that runs, a page of the ledger and the balance, by a session and by an API key, in turns
 * with a bare Koa handler in a process of its own that runs the same query and nothing else: no session, no limits, no
 * log, no presenter. Each turn tells requests a second, and the processor time of a request: the handler's and
 * PostgreSQL's. The metering of the rental goes on meanwhile.
 */
const seconds = Number(process.env['BENCH_SECONDS'] ?? '2');
const rounds = Number(process.env['BENCH_ROUNDS'] ?? '7');
const connections = 8;
const pageOfLedger = 51;
const patienceMs = 180_000;

/** One side of one turn. */
interface Turn {
  readonly perSecond: number;
  /** Microseconds of a core for each request: the process that answers, and PostgreSQL. */
  readonly cpuUs: number;
  readonly postgresUs: number;
}

interface Side {
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly pid: number;
}

async function shoot({ url, headers, pid }: Side, postgresPid: number): Promise<Turn> {
  const [cpu, postgres] = [cpuSecondsOfTree(pid), cpuSecondsOfTree(postgresPid)];
  const result = await autocannon({ url, connections, duration: seconds, headers });
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${url}: ${result.non2xx} refused, ${result.errors} errors`);
  const each = (of: number, before: number) =>
    ((cpuSecondsOfTree(of) - before) * 1e6) / result.requests.total;
  return {
    perSecond: result.requests.total / result.duration,
    cpuUs: each(pid, cpu),
    postgresUs: each(postgresPid, postgres),
  };
}

async function insertKey(db: Database, userId: UserId): Promise<string> {
  const scopes = ['read', 'billing'] as const;
  const wanted = {
    name: 'bench',
    scopes,
    ends: 'all' as const,
    allowedCidrs: null,
    expiresAt: null,
    spendCapCents: null,
  };
  const made = await db.transaction((trx) => insertApiKey(trx, { id: newId('key'), userId, ...wanted }));
  if (!made) throw new Error('no key was made');
  return made.token;
}

/** Rents a machine, and waits until it runs and has filled a page of the ledger. @returns its id */
async function rentOne(bench: BenchStack, userId: UserId, cookie: string): Promise<string> {
  const id = await rent(bench, cookie, { familyId: 'b200', gpuCount: 8 });
  const filled = async () => {
    const wallet = await bench.db('wallets').where({ user_id: userId }).first('seq');
    return (wallet?.seq ?? 0) > pageOfLedger;
  };
  await until('the rental has filled a page of the ledger', filled, patienceMs);
  return id;
}

/** The paths, each with the query that answers it. */
function queriesOf(rentalId: string, userId: UserId): Record<string, BareQuery> {
  return {
    [`/v1/rentals/${rentalId}`]: {
      sql: 'select * from rentals_now where id = ? and user_id = ?',
      bindings: [rentalId, userId],
    },
    '/v1/billing/ledger': {
      sql: `select e.*, r.id as rental_id from wallets w join ledger_entries e on e.wallet_id = w.id
              left join rentals r on r.no = e.rental_no where w.user_id = ? order by e.seq desc limit 51`,
      bindings: [userId],
    },
    '/v1/billing/balance': {
      sql: balanceAhead(userId).statement.sql.replace('$1', '?'),
      bindings: [userId],
    },
  };
}

type Sides = Readonly<Record<'session' | 'key' | 'bare', Side>>;

/** Lets the sides take turns; the first round warms them up and is not counted. */
async function compare(sides: Sides, postgresPid: number): Promise<Record<keyof Sides, Turn[]>> {
  const turns: Record<keyof Sides, Turn[]> = { session: [], key: [], bare: [] };
  for (let round = 0; round <= rounds; round += 1) {
    for (const name of ['session', 'key', 'bare'] as const) {
      const turn = await shoot(sides[name], postgresPid);
      if (round > 0) turns[name].push(turn);
    }
  }
  return turns;
}

const totalUs = ({ cpuUs, postgresUs }: Turn): number => cpuUs + postgresUs;

function ratios(ours: readonly Turn[], bare: readonly Turn[]): Record<'ofBare' | 'ofBareByCpu', Spread> {
  return {
    ofBare: spreadOf(ours, bare, (mine, floor) => mine.perSecond / floor.perSecond),
    ofBareByCpu: spreadOf(ours, bare, (mine, floor) => totalUs(floor) / totalUs(mine)),
  };
}

function figures(turns: readonly Turn[]) {
  const middle = (of: (turn: Turn) => number) => round(percentile(turns.map(of), 0.5));
  return {
    requestsPerSecond: middle(({ perSecond }) => perSecond),
    cpuUs: middle(({ cpuUs }) => cpuUs),
    postgresUs: middle(({ postgresUs }) => postgresUs),
  };
}

function tell(name: string, { session, key, bare }: Record<keyof Sides, Turn[]>): void {
  const [bySession, byKey, floor] = [figures(session), figures(key), figures(bare)];
  const [ofSession, ofKey] = [ratios(session, bare), ratios(key, bare)];
  const words = ({ ofBare, ofBareByCpu }: ReturnType<typeof ratios>) =>
    `${ofBare.p50} (${ofBare.least} to ${ofBare.most}) of it, by processor time ${ofBareByCpu.p50}`;
  report(
    'read',
    `${name}: bare ${floor.requestsPerSecond} requests/s; by a session ${bySession.requestsPerSecond}: ` +
      `${words(ofSession)}; by a key ${byKey.requestsPerSecond}: ${words(ofKey)}`,
    {
      ...{ name, connections, seconds, rounds },
      bySession: { ...bySession, ...ofSession },
      byKey: { ...byKey, ...ofKey },
      bare: floor,
    },
    (
      [
        ['session', bySession],
        ['key', byKey],
      ] as const
    ).map(([by, { requestsPerSecond }]) => ({
      id: `read.${name}.${by}`,
      what: `${name} by a ${by}`,
      ours: requestsPerSecond,
      unit: '/s',
      peer: { what: 'bare handler', value: floor.requestsPerSecond },
    })),
  );
}

const bench = await startBenchStack();
const open: { bare?: BareProcess } = {};
try {
  const { userId, cookie } = await insertRichUser(bench.db, 1_000_000);
  const token = await insertKey(bench.db, userId);
  const rentalId = await rentOne(bench, userId, cookie);
  const queries = queriesOf(rentalId, userId);
  const bare = (open.bare = await startBareProcess(bench.stack.urls.database, queries));
  const pid = bench.stack.pid('API') ?? 0;
  const postgresPid = bench.stack.pid('PostgreSQL') ?? 0;
  for (const path of Object.keys(queries)) {
    const url = `${bench.stack.urls.api}${path}`;
    const sides = {
      session: { url, pid, headers: { cookie } },
      key: { url, pid, headers: { authorization: `Bearer ${token}` } },
      bare: { url: `${bare.url}${path}`, pid: bare.pid, headers: {} },
    };
    tell(`GET ${path.replace(rentalId, ':id')}`, await compare(sides, postgresPid));
  }
} finally {
  open.bare?.close();
  await bench.stop();
}
