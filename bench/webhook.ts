import autocannon from 'autocannon';
import Stripe from 'stripe';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { readSecrets } from '../lab/stack/secrets.js';
import { cpuSecondsOfTree } from './cpu.js';
import { percentile, report, round } from './report.js';
import { spreadOf } from './spread.js';
import { insertRichUser, startBenchStack, type BenchStack } from './stack.js';

/**
 * bench:webhook. Measures the time from the payment on the page until the balance shows it, and how many webhooks are
 * accepted in a second, against a bare Koa that reads the same body and does one insert (bare-webhook.ts).
 */
const payments = Number(process.env['BENCH_PAYMENTS'] ?? '100');
const events = Number(process.env['BENCH_EVENTS'] ?? '5000');
const rounds = Number(process.env['BENCH_ROUNDS'] ?? '5');
const connections = 8;
const topupCents = 2_500;
const lookEveryMs = 10;
const creditLimitMs = 30_000;
const card = { cardNumber: '4242424242424242', cardExpiry: '12/34', cardCvc: '123' };

/** Pays one page as a browser does. @returns milliseconds until GET /v1/billing/balance showed the money */
async function payAndWait({ stack, db }: BenchStack): Promise<number> {
  const startCents = 100;
  const { cookie } = await insertRichUser(db, startCents);
  const opened = await fetch(`${stack.urls.api}/v1/billing/checkout`, {
    method: 'POST',
    headers: { cookie, 'content-type': 'application/json' },
    body: JSON.stringify({ amountCents: topupCents }),
  });
  if (opened.status !== 200)
    throw new Error(`POST /v1/billing/checkout: ${opened.status} ${await opened.text()}`);
  const { checkoutUrl } = (await opened.json()) as { checkoutUrl: string };
  const begun = performance.now();
  const paid = await fetch(checkoutUrl, {
    method: 'POST',
    body: new URLSearchParams(card),
    redirect: 'manual',
  });
  await paid.arrayBuffer();
  if (paid.status !== 303) throw new Error(`the payment page answered ${paid.status}`);
  while (performance.now() - begun < creditLimitMs) {
    const balance = await fetch(`${stack.urls.api}/v1/billing/balance`, { headers: { cookie } });
    const { totalCents } = (await balance.json()) as { totalCents: number };
    if (totalCents === startCents + topupCents) return performance.now() - begun;
    await sleep(lookEveryMs);
  }
  throw new Error(`a payment was not credited within ${creditLimitMs} ms`);
}

/** Starts the peer. */
async function startBare(databaseUrl: string): Promise<{ url: string; pid: number; close(): void }> {
  const file = fileURLToPath(new URL('./bare-webhook.ts', import.meta.url));
  const bare = fork(file, [databaseUrl], { execArgv: ['--import', 'tsx'] });
  const [port] = (await once(bare, 'message')) as [number];
  return { url: `http://127.0.0.1:${port}`, pid: bare.pid ?? 0, close: () => bare.disconnect() };
}

interface SignedEvent {
  readonly body: string;
  readonly headers: Record<string, string>;
}

/** Signs events of a kind that has no effect, each with its own id, before the measurement begins. */
function signEvents(name: string, secret: string): SignedEvent[] {
  return Array.from({ length: Math.ceil(events / rounds) }, (_, index) => {
    const payload = JSON.stringify({
      id: `evt_${name}_${index}`,
      object: 'event',
      type: 'customer.updated',
      livemode: false,
      created: Math.floor(Date.now() / 1_000),
      api_version: Stripe.API_VERSION,
      data: { object: { object: 'customer', id: `cus_${index}`, metadata: {}, name: 'x'.repeat(1_000) } },
    });
    return {
      body: payload,
      headers: {
        'content-type': 'application/json; charset=utf-8',
        'stripe-signature': Stripe.webhooks.generateTestHeaderString({ payload, secret }),
      },
    };
  });
}

/** What one side did in one turn. */
interface Turn {
  readonly perSecond: number;
  /** Microseconds of a core for each event: of the process that answers, and of PostgreSQL. */
  readonly cpuUs: number;
}

/** Delivers all of them, a few at a time. @param pids of those whose processor time counts */
async function deliver(url: string, signed: readonly SignedEvent[], pids: readonly number[]): Promise<Turn> {
  const used = () => pids.reduce((sum, pid) => sum + cpuSecondsOfTree(pid), 0);
  const next = { index: 0 };
  const before = used();
  const begun = performance.now();
  const result = await autocannon({
    url,
    connections,
    amount: signed.length,
    requests: [
      {
        method: 'POST',
        setupRequest: (request) => ({ ...request, ...signed[next.index++ % signed.length] }),
      },
    ],
  });
  const seconds = (performance.now() - begun) / 1_000;
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${url}: ${result.non2xx} refused, ${result.errors} errors`);
  return {
    perSecond: signed.length / seconds,
    cpuUs: ((used() - before) * 1e6) / signed.length,
  };
}

/** Lets both sides take turns; the first round warms them up and is not counted. */
async function compare({ stack }: BenchStack): Promise<{ ours: Turn[]; floor: Turn[] }> {
  const { webhookSecret } = readSecrets(stack.settings.dataDir);
  const bare = await startBare(stack.urls.database);
  const postgres = stack.pid('PostgreSQL') ?? 0;
  const turns: { ours: Turn[]; floor: Turn[] } = { ours: [], floor: [] };
  for (let round = 0; round <= rounds; round += 1) {
    const signed = signEvents(`round${round}`, webhookSecret);
    const hook = `${stack.urls.api}/v1/billing/processor/webhook`;
    const ours = await deliver(hook, signed, [stack.pid('API') ?? 0, postgres]);
    const floor = await deliver(bare.url, signed, [bare.pid, postgres]);
    if (round === 0) continue;
    turns.ours.push(ours);
    turns.floor.push(floor);
  }
  bare.close();
  return turns;
}

const bench = await startBenchStack();
try {
  // The first payments warm it up and are not counted.
  for (let turn = 0; turn < 5; turn += 1) await payAndWait(bench);
  const ms: number[] = [];
  for (let turn = 0; turn < payments; turn += 1) ms.push(await payAndWait(bench));
  const [p50, p99] = [round(percentile(ms, 0.5)), round(percentile(ms, 0.99))];

  const turns = await compare(bench);
  const middle = (of: readonly Turn[], key: keyof Turn) =>
    round(
      percentile(
        of.map((turn) => turn[key]),
        0.5,
      ),
    );
  const [accepts, bareAccepts] = [middle(turns.ours, 'perSecond'), middle(turns.floor, 'perSecond')];
  const ofBare = spreadOf(turns.ours, turns.floor, (mine, floor) => mine.perSecond / floor.perSecond);
  const ofBareByCpu = spreadOf(turns.ours, turns.floor, (mine, floor) => floor.cpuUs / mine.cpuUs);
  report(
    'webhook',
    `paid until in the balance p50 ${p50} ms, p99 ${p99} ms; ${accepts} webhooks/s accepted, bare ${bareAccepts}: ` +
      `${ofBare.p50} (${ofBare.least} to ${ofBare.most}) of it, by processor time ${ofBareByCpu.p50}`,
    {
      payments,
      paidToBalanceP50Ms: p50,
      paidToBalanceP99Ms: p99,
      ...{ connections, events, rounds },
      acceptsPerSecond: accepts,
      bareAcceptsPerSecond: bareAccepts,
      cpuUs: middle(turns.ours, 'cpuUs'),
      bareCpuUs: middle(turns.floor, 'cpuUs'),
      ...{ ofBare, ofBareByCpu },
    },
    [
      { id: 'webhook.paid.p99', what: 'paid until in the balance, p99', ours: p99, unit: 'ms' },
      {
        id: 'webhook.accepted',
        what: 'webhooks accepted a second',
        ours: accepts,
        unit: '/s',
        peer: { what: 'bare handler', value: bareAccepts },
      },
    ],
  );
} finally {
  await bench.stop();
}
