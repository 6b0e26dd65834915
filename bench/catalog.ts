import pg from 'pg';
import { toCursor } from '../api/http/cursor.js';
import { ensureProvider, replaceListings } from '../adapters/postgres/catalog/catalog.js';
import type { Database } from '../adapters/postgres/database.js';
import {
  listLiveListings,
  summarizeFamilies,
  type ListingKey,
} from '../adapters/postgres/catalog/listings.js';
import { findCheapestOffer } from '../adapters/postgres/catalog/offers.js';
import { countriesOf } from '../domain/catalog/regions.js';
import { createDice, makeOffers, reprice } from './offers.js';
import { percentile, report, round } from './report.js';
import { insertRichUser, startBenchStack, type BenchStack } from './stack.js';

/**
 * bench:catalog. Reads pages of a catalog of 100,000 live listings over HTTP with a few callers at a time, against the
 * same SQL alone on one connection. Also measures the pick of an offer for a rental, the families, and a provider's
 * whole sync.
 */
const listings = Number(process.env['BENCH_LISTINGS'] ?? '100000');
const rounds = Number(process.env['BENCH_ROUNDS'] ?? '400');
const callers = Number(process.env['BENCH_CALLERS'] ?? '2');
const providers = ['north', 'south', 'east', 'west'];
const dice = createDice(7);

/** One caller's request: over HTTP, and as the query that the API sends to the database. */
interface Ask {
  readonly path: string;
  query(db: Database): Promise<unknown>;
}

interface Query {
  readonly model?: string;
  readonly minVramGb?: number;
  readonly gpuCount?: number;
  readonly region?: string;
  readonly maxPricePerHourCents?: number;
}

function page(query: Query, after?: ListingKey): Ask {
  const { region, ...filter } = query;
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) params.set(name, String(value));
  if (after) params.set('cursor', toCursor([after.pricePerHourCents, after.id]));
  const regionCodes = region === undefined ? {} : { regionCodes: countriesOf(region) };
  return {
    path: `/v1/catalog/listings?${params.toString()}`,
    query: (db) => listLiveListings(db, { ...filter, ...regionCodes }, after, 51),
  };
}

/** The filters, each with several values that take turns. @param keys places all over the catalog */
function casesOf(keys: readonly ListingKey[]): Record<string, Ask[]> {
  return {
    'no filter': [page({})],
    model: ['RTX_4090', 'L40S', 'H100_SXM_80GB', 'B200', 'H200_NVL_141GB'].map((model) => page({ model })),
    minVramGb: [24, 48, 80, 141, 180].map((minVramGb) => page({ minVramGb })),
    'gpuCount, region': [1, 2, 4, 8].flatMap((gpuCount) =>
      ['us', 'eu', 'apac', 'NO', 'IL'].map((region) => page({ gpuCount, region })),
    ),
    maxPrice: [20, 100, 1_000].map((maxPricePerHourCents) => page({ maxPricePerHourCents })),
    'all filters': ['us', 'eu', 'apac', 'JP'].flatMap((region) => [
      page({ model: 'H100_SXM_80GB', minVramGb: 80, gpuCount: 8, region, maxPricePerHourCents: 2_500 }),
      page({ model: 'RTX_4090', minVramGb: 24, gpuCount: 1, region, maxPricePerHourCents: 60 }),
      page({ model: 'A100_SXM_80GB', minVramGb: 40, gpuCount: 4, region, maxPricePerHourCents: 900 }),
    ]),
    'deep page': keys.map((key) => page({}, key)),
    'deep page, gpuCount 8': keys.map((key) => page({ gpuCount: 8 }, key)),
    'no match': [
      page({ model: 'RTX_9090' }),
      page({ region: 'KP' }),
      page({ minVramGb: 1_000 }),
      page({ model: 'RTX_4090', minVramGb: 80 }),
      page({ minVramGb: 141, maxPricePerHourCents: 200 }),
    ],
    families: [{ path: '/v1/catalog/families', query: summarizeFamilies }],
  };
}

/** Returns the list's elements in turn, over and over. */
function takeTurns<Element>(list: readonly Element[], index: number): Element {
  const element = list[index % list.length];
  if (element === undefined) throw new Error('an empty list has no turns');
  return element;
}

/** Calls `once` the given number of times, a few at a time. @returns the milliseconds of each call */
async function time(
  times: number,
  atOnce: number,
  once: (index: number) => Promise<void>,
): Promise<number[]> {
  const ms: number[] = [];
  const next = { index: 0 };
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      while (next.index < times) {
        const started = performance.now();
        await once(next.index++);
        ms.push(performance.now() - started);
      }
    }),
  );
  return ms;
}

function figures(name: string, ms: readonly number[]): Record<string, number> {
  return {
    [`${name}P50Ms`]: round(percentile(ms, 0.5), 2),
    [`${name}P99Ms`]: round(percentile(ms, 0.99), 2),
  };
}

type Statement = readonly [sql: string, bindings: unknown[]];

/** Records the statement that the product's own function sends. */
async function statementOf(db: Database, run: (db: Database) => Promise<unknown>): Promise<Statement> {
  const sent: Statement[] = [];
  const listen = ({ sql, bindings }: { sql: string; bindings: unknown[] }) => sent.push([sql, bindings]);
  db.on('query', listen);
  await run(db);
  db.removeListener('query', listen);
  const [statement] = sent;
  if (!statement || sent.length > 1) throw new Error(`${sent.length} statements where one was expected`);
  return statement;
}

/** Measures both in turn, after a round that warms them up, so that other load on the machine affects both. */
async function compare(
  { stack, db }: BenchStack,
  bare: pg.Client,
  cookie: string,
  asks: readonly Ask[],
): Promise<Record<string, number>> {
  const statements: Statement[] = [];
  for (const ask of asks) statements.push(await statementOf(db, (on) => ask.query(on)));
  const overHttp = async (index: number) => {
    const { path } = takeTurns(asks, index);
    const response = await fetch(stack.urls.api + path, { headers: { cookie } });
    if (response.status !== 200) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    await response.arrayBuffer();
  };
  const alone = async (index: number) => {
    const [sql, bindings] = takeTurns(statements, index);
    await bare.query(sql, bindings);
  };
  const series: { http: number[]; bare: number[] } = { http: [], bare: [] };
  const turns = 4;
  for (let turn = 0; turn <= turns; turn += 1) {
    const http = await time(rounds / turns, callers, overHttp);
    const floor = await time(rounds / turns, 1, alone);
    if (turn === 0) continue;
    series.http.push(...http);
    series.bare.push(...floor);
  }
  const [http, floor] = [figures('http', series.http), figures('bare', series.bare)];
  return {
    ...http,
    ...floor,
    p50Ratio: round((http['httpP50Ms'] ?? 0) / (floor['bareP50Ms'] ?? 1), 2),
    p99Ratio: round((http['httpP99Ms'] ?? 0) / (floor['bareP99Ms'] ?? 1), 2),
  };
}

/**
 * Measures the pick under a wallet's lock: common and rare families, with and without a region, and one without offers.
 */
async function pickOffers(db: Database): Promise<Record<string, number>> {
  const wanted = ['rtx-4090', 'h100-80gb', 'b200'].flatMap((familyId) =>
    [null, 'eu', 'IL', 'KP'].flatMap((region) =>
      [1, 8].map((gpuCount) => ({ familyId, region, gpuCount, providerCodes: providers })),
    ),
  );
  const ms = await time(rounds, 1, async (index) => {
    await findCheapestOffer(
      db,
      { ...takeTurns(wanted, index), maxPricePerHourCents: null, templateId: 'ubuntu-24-04' },
      [],
    );
  });
  return figures('pick', ms);
}

/** One provider's sync of its whole catalog: nothing changed, one offer in a hundred, every one. */
async function syncWhole(db: Database): Promise<Record<string, number>> {
  const [code = ''] = providers;
  const offers = makeOffers(code, listings / providers.length, 1);
  const took: Record<string, number[]> = {};
  for (let turn = 0; turn < 3; turn += 1) {
    for (const [name, perMille] of [
      ['sync0PercentMs', 0],
      ['sync1PercentMs', 10],
      ['sync100PercentMs', 1_000],
    ] as const) {
      await replaceListings(db, code, offers);
      const changed = reprice(offers, perMille);
      const started = performance.now();
      await replaceListings(db, code, changed);
      (took[name] ??= []).push(performance.now() - started);
    }
  }
  return Object.fromEntries(Object.entries(took).map(([name, ms]) => [name, round(percentile(ms, 0.5))]));
}

/** Fills the catalog by the sync itself. @returns milliseconds of a provider's first sync */
async function seed(db: Database): Promise<number> {
  const ms: number[] = [];
  for (const [index, code] of providers.entries()) {
    await ensureProvider(db, code);
    const offers = makeOffers(code, listings / providers.length, index + 1);
    const started = performance.now();
    await replaceListings(db, code, offers);
    ms.push(performance.now() - started);
  }
  // Nothing syncs these upstreams, so their last sync lies in the future: they stay fresh for the whole benchmark.
  await db('providers')
    .whereIn('code', providers)
    .update({ catalog_synced_at: db.raw(`clock_ms() + interval '1 hour'`) });
  await db.raw('vacuum analyze listings');
  return round(percentile(ms, 0.5));
}

/** Reads places all over the catalog where a page may begin. */
async function readKeys(db: Database): Promise<ListingKey[]> {
  const rows = await db('listings').where('offered', true).select('id', 'price_per_hour_cents');
  return Array.from({ length: 50 }, () => {
    const row = rows[Math.floor(dice() * rows.length)];
    if (!row) throw new Error('the catalog is empty');
    return { id: row.id, pricePerHourCents: row.price_per_hour_cents };
  });
}

const bench = await startBenchStack();
const bare = new pg.Client({ connectionString: bench.stack.urls.database });
try {
  await bare.connect();
  const { cookie } = await insertRichUser(bench.db, 100);
  const firstSyncMs = await seed(bench.db);
  const results: Record<string, Record<string, number>> = {};
  for (const [name, asks] of Object.entries(casesOf(await readKeys(bench.db)))) {
    results[name] = await compare(bench, bare, cookie, asks);
    console.error(`${name}: ${JSON.stringify(results[name])}`);
  }
  const pick = await pickOffers(bench.db);
  const sync = { firstSyncMs, ...(await syncWhole(bench.db)) };
  const worst = (key: string) => Math.max(...Object.values(results).map((result) => result[key] ?? 0));
  report(
    'catalog',
    `${listings} listings: the slowest filter's page p99 ${worst('httpP99Ms')} ms, at most ` +
      `${worst('p99Ratio')} times the bare query's; an offer picked p99 ${String(pick['pickP99Ms'])} ms; ` +
      `a sync of ${listings / providers.length} offers ${JSON.stringify(sync)}`,
    {
      listings,
      callers,
      rounds,
      pages: results,
      pick,
      sync,
    },
    [
      ...Object.entries(results).map(([name, { httpP99Ms, bareP99Ms }]) => ({
        id: `catalog.${name}.p99`,
        what: `GET catalog, ${name}, p99`,
        ours: httpP99Ms ?? Number.NaN,
        unit: 'ms',
        peer: { what: 'bare query', value: bareP99Ms ?? Number.NaN },
      })),
      ...Object.entries(sync).map(([name, ms]) => ({
        id: `catalog.${name}`,
        what: `sync of ${listings / providers.length} offers, ${name.replace(/^sync|Ms$/g, '')}`,
        ours: ms,
        unit: 'ms',
      })),
    ],
  );
} finally {
  await bare.end();
  await bench.stop();
}
