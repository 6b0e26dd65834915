import pLimit from 'p-limit';
import { machineLimits } from '../domain/machines/limits.js';
import { startBare } from './bare.js';
import { cpuSecondsOfTree } from './cpu.js';
import { attack, longestBlockMs, startIdler } from './loop.js';
import { percentile, report, round } from './report.js';
import { insertRichUser, rent, startBenchStack, type BenchStack } from './stack.js';

/**
 * bench:api. The given number of clients, each signed in as a separate user, wait for a machine. Each asks for its
 * rental every 2 seconds, as the specification recommends, and for its balance every tenth second. The same load
 * alternates with a bare Koa handler that runs the same queries and nothing else: no session, no limits, no log. Then hostile requests come,
 * and it tells how long the API's event loop was blocked at the longest.
 */
const clients = Number(process.env['BENCH_CLIENTS'] ?? '200');
const seconds = Number(process.env['BENCH_SECONDS'] ?? '120');
const turns = 4;
/** How long each kind of hostile request is sent. */
const attackSeconds = Math.min(3, seconds);
const pollsPerBalance = 5;

interface Waiting {
  readonly cookie: string;
  readonly rentalId: string;
  readonly userId: string;
}

/** The paths that one side was asked for, and the latencies of its answers in milliseconds. */
interface Polled {
  readonly ms: number[];
  errors: number;
}

/** Makes users whose machines never boot: real rentals, each with its waiting workflow. */
async function createRentals(bench: BenchStack): Promise<Waiting[]> {
  await fetch(`${bench.stack.urls.provider}/lab/faults`, {
    method: 'POST',
    body: JSON.stringify({ bootMs: 3_600_000 }),
  });
  const limit = pLimit(4);
  return Promise.all(
    Array.from({ length: clients }, () =>
      limit(async () => {
        const { cookie, userId } = await insertRichUser(bench.db, 100_000);
        return { cookie, userId, rentalId: await rent(bench, cookie, { familyId: 'rtx-4090', gpuCount: 1 }) };
      }),
    ),
  );
}

/** The bare handler's query for the same path. */
function bareQueryOf(path: string): { sql: string; bindings: string[] } {
  const [, , kind, id = ''] = path.split('/');
  const table = kind === 'rentals' ? 'rentals_now where id = ?' : 'wallets where user_id = ?';
  return { sql: `select * from ${table}`, bindings: [id] };
}

async function ask(url: string, cookie: string, polled: Polled): Promise<void> {
  const began = performance.now();
  try {
    const response = await fetch(url, { headers: { cookie } });
    await response.arrayBuffer();
    if (!response.ok) polled.errors += 1;
  } catch {
    polled.errors += 1;
  }
  polled.ms.push(performance.now() - began);
}

/** Lets all clients poll for the given time; each begins at its own moment, as real ones do. */
async function pollAll(
  waiting: readonly Waiting[],
  urlsOf: (client: Waiting) => { readonly rental: string; readonly balance: string },
  forMs: number,
  polled: Polled,
): Promise<void> {
  const beganMs = performance.now();
  const sleepUntil = (atMs: number) =>
    new Promise((resolve) => setTimeout(resolve, Math.max(0, atMs - performance.now())));
  await Promise.all(
    waiting.map(async (client, index) => {
      const { rental, balance } = urlsOf(client);
      const firstMs = beganMs + (index / waiting.length) * machineLimits.pollMs;
      for (let poll = 0; poll * machineLimits.pollMs < forMs; poll += 1) {
        await sleepUntil(firstMs + poll * machineLimits.pollMs);
        await ask(rental, client.cookie, polled);
        if (poll % pollsPerBalance === index % pollsPerBalance) await ask(balance, client.cookie, polled);
      }
    }),
  );
}

function figures({ ms, errors }: Polled, forSeconds: number): Record<string, number> {
  return {
    requests: ms.length,
    perSecond: round(ms.length / forSeconds, 1),
    errors,
    p50Ms: round(percentile(ms, 0.5), 1),
    p99Ms: round(percentile(ms, 0.99), 1),
    maxMs: round(Math.max(...ms), 1),
  };
}

const bench = await startBenchStack();
try {
  console.error(`${clients} rentals are created …`);
  const waiting = await createRentals(bench);
  const bare = await startBare(bench.db, bareQueryOf);
  const api = bench.stack.urls.api;
  const [ours, floor]: [Polled, Polled] = [
    { ms: [], errors: 0 },
    { ms: [], errors: 0 },
  ];
  let apiCpuSeconds = 0;
  let blockMs = 0;
  const idler = startIdler();
  const turnMs = (seconds * 1_000) / turns;
  for (let turn = 1; turn <= turns; turn += 1) {
    console.error(`turn ${turn} of ${turns}: the API, then the floor, ${turnMs / 1_000} s each …`);
    const before = cpuSecondsOfTree(bench.stack.pid('API') ?? 0);
    await longestBlockMs(bench);
    const urls = ({ rentalId }: Waiting) => ({
      rental: `${api}/v1/rentals/${rentalId}`,
      balance: `${api}/v1/billing/balance`,
    });
    await pollAll(waiting, urls, turnMs, ours);
    blockMs = Math.max(blockMs, await longestBlockMs(bench));
    apiCpuSeconds += cpuSecondsOfTree(bench.stack.pid('API') ?? 0) - before;
    const bareUrls = ({ rentalId, userId }: Waiting) => ({
      rental: `${bare.url}/v1/rentals/${rentalId}`,
      balance: `${bare.url}/v1/wallets/${userId}`,
    });
    await pollAll(waiting, bareUrls, turnMs, floor);
  }
  bare.close();
  const idleMs = round(await idler.longestMs());
  const blockedUnderAttackMs = await attack(bench, waiting[0]?.cookie ?? '', attackSeconds);
  const idleUnderAttackMs = round(await idler.longestMs());
  idler.close();
  const worstMs = Math.max(...Object.values(blockedUnderAttackMs));
  const [oursFigures, floorFigures] = [figures(ours, seconds), figures(floor, seconds)];
  const ratio = round((oursFigures['p99Ms'] ?? 0) / (floorFigures['p99Ms'] ?? 1), 2);
  report(
    'api',
    `${clients} clients for ${seconds} s: ${oursFigures['perSecond']} requests/s, ${oursFigures['errors']} errors, ` +
      `p50 ${oursFigures['p50Ms']} ms, p99 ${oursFigures['p99Ms']} ms; bare p50 ${floorFigures['p50Ms']} ms, ` +
      `p99 ${floorFigures['p99Ms']} ms: ${ratio} times; its event loop blocked for ${round(blockMs)} ms at the longest, ` +
      `under attack for ${worstMs} ms; an idle process ${idleMs} and ${idleUnderAttackMs} ms`,
    {
      clients,
      seconds,
      ours: oursFigures,
      bare: floorFigures,
      p99Ratio: ratio,
      apiCores: round(apiCpuSeconds / seconds, 2),
      ...{ longestBlockMs: round(blockMs), idleMs, idleUnderAttackMs },
      blockedUnderAttackMs,
    },
    [
      {
        id: `api.p99.${clients}`,
        what: `${clients} polling clients, p99`,
        ours: oursFigures['p99Ms'] ?? Number.NaN,
        unit: 'ms',
        peer: { what: 'bare handler', value: floorFigures['p99Ms'] ?? Number.NaN },
      },
      {
        id: `api.errors.${clients}`,
        what: `${clients} polling clients, errors`,
        ours: ours.errors,
        unit: '',
      },
      {
        id: `api.loop.${clients}`,
        what: `${clients} polling clients, the event loop blocked at the longest`,
        ours: round(blockMs),
        unit: 'ms',
        peer: { what: 'an idle process', value: idleMs },
      },
      {
        id: 'api.loop.attack',
        what: 'hostile requests, the event loop blocked at the longest',
        ours: worstMs,
        unit: 'ms',
        peer: { what: 'an idle process', value: idleUnderAttackMs },
      },
    ],
  );
} finally {
  await bench.stop();
}
