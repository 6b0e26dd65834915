import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import pLimit from 'p-limit';
import { recordEvent } from '../adapters/postgres/events/outbox.js';
import type { UserId } from '../domain/ids.js';
import { cpuSecondsOfTree } from './cpu.js';
import { percentile, report, round } from './report.js';
import { insertRichUser, startBenchStack } from './stack.js';

/**
 * bench:events. From a commit to the client over the stream, while the given number of clients is connected and 50
 * events a second happen; what connected clients cost when nothing happens; and what one client costs by the stream and
 * by polling GET /v1/events each 2 s, side by side, with the same events.
 */
const clients = Number(process.env['BENCH_CLIENTS'] ?? '1000');
const idleClients = Number(process.env['BENCH_IDLE'] ?? '5000');
const seconds = Number(process.env['BENCH_SECONDS'] ?? '30');
const eventsPerSecond = 50;
const pollMs = 2_000;

interface Client {
  readonly userId: UserId;
  readonly cookie: string;
}

const bench = await startBenchStack();
const { stack, db } = bench;
const heardAtMs = new Map<string, number>();
const cpuOfApi = (): number => cpuSecondsOfTree(stack.pid('API') ?? 0);

/** Opens a client's stream, and notes when each event arrives. */
async function connect({ cookie }: Client): Promise<IncomingMessage> {
  const asking = request(`${stack.urls.api}/v1/events/stream`, { agent: false, headers: { cookie } });
  asking.end();
  const [stream] = (await once(asking, 'response')) as [IncomingMessage];
  if (stream.statusCode !== 200) throw new Error(`a stream was refused: ${stream.statusCode}`);
  stream.setEncoding('utf8').on('data', (text: string) => {
    for (const [, marker = ''] of text.matchAll(/"entityId":"(bench-\d+)"/g)) {
      heardAtMs.set(marker, performance.now());
    }
  });
  stream.on('error', () => undefined);
  return stream;
}

async function connectAll(all: readonly Client[]): Promise<IncomingMessage[]> {
  const limit = pLimit(20);
  return Promise.all(all.map((client) => limit(() => connect(client))));
}

let events = 0;

/** Commits 50 events a second, each of another client. @returns when each was committed, by its marker */
async function happen(all: readonly Client[], forMs: number): Promise<Map<string, number>> {
  const committedAtMs = new Map<string, number>();
  const writing: Promise<void>[] = [];
  const beganMs = performance.now();
  for (let index = 0; index < (forMs / 1_000) * eventsPerSecond; index += 1) {
    await sleep(Math.max(0, beganMs + (index * 1_000) / eventsPerSecond - performance.now()));
    events += 1;
    const entityId = `bench-${events}`;
    const { userId } = all[(index * 7) % all.length]!;
    const write = async (): Promise<void> => {
      await recordEvent(db, { type: 'card.removed', userId, entityId, data: { reason: 'user' } });
      committedAtMs.set(entityId, performance.now());
    };
    writing.push(write());
  }
  await Promise.all(writing);
  return committedAtMs;
}

/** Asks for what is new each 2 s, each client at its own moment. */
async function poll(all: readonly Client[], forMs: number): Promise<void> {
  const beganMs = performance.now();
  await Promise.all(
    all.map(async ({ cookie }, index) => {
      let after = 0;
      for (let turn = 0; turn * pollMs < forMs; turn += 1) {
        const atMs = beganMs + (index / all.length + turn) * pollMs;
        await sleep(Math.max(0, atMs - performance.now()));
        const answer = await fetch(`${stack.urls.api}/v1/events?after=${after}`, { headers: { cookie } });
        if (answer.status !== 200) throw new Error(`a poll was refused: ${answer.status}`);
        after = ((await answer.json()) as { lastSeq: number }).lastSeq;
      }
    }),
  );
}

/** The cores that the API process uses while something is done. */
async function coresOf(work: () => Promise<unknown>): Promise<number> {
  const before = cpuOfApi();
  const beganMs = performance.now();
  await work();
  return round(((cpuOfApi() - before) * 1_000) / (performance.now() - beganMs), 4);
}

try {
  console.error(`${Math.max(clients, idleClients)} users are made …`);
  const limit = pLimit(4);
  const all = await Promise.all(
    Array.from({ length: Math.max(clients, idleClients) }, () => limit(() => insertRichUser(db, 1_000))),
  );
  const some = all.slice(0, clients);
  const quiet = await coresOf(() => sleep(seconds * 1_000));

  console.error(`${clients} streams, ${eventsPerSecond} events a second, ${seconds} s …`);
  let streams = await connectAll(some);
  let committedAtMs = new Map<string, number>();
  const streaming = await coresOf(async () => {
    committedAtMs = await happen(some, seconds * 1_000);
  });
  await sleep(2_000);
  const ms = [...committedAtMs].map(([marker, at]) => (heardAtMs.get(marker) ?? Number.NaN) - at);
  const lost = ms.filter((each) => Number.isNaN(each)).length;
  for (const stream of streams) stream.destroy();
  await sleep(2_000);

  console.error(`${clients} clients that poll each 2 s, the same events …`);
  const polling = await coresOf(() =>
    Promise.all([poll(some, seconds * 1_000), happen(some, seconds * 1_000)]),
  );

  console.error(`${idleClients} idle streams …`);
  streams = await connectAll(all.slice(0, idleClients));
  await sleep(3_000);
  const idle = await coresOf(() => sleep(seconds * 1_000));
  for (const stream of streams) stream.destroy();

  const perClient = (cores: number): number => ((cores - quiet) / clients) * 1e6;
  const [byStream, byPolling] = [perClient(streaming), perClient(polling)];
  const heard = ms.filter((each) => !Number.isNaN(each));
  const [p50, p99] = [round(percentile(heard, 0.5)), round(percentile(heard, 0.99))];
  report(
    'events',
    `${clients} streams, ${eventsPerSecond} events/s: commit to client p50 ${p50} ms, p99 ${p99} ms, ${lost} lost; ` +
      `${idleClients} idle streams: ${idle} cores; a client costs ${round(byStream)} µs a second by the stream, ` +
      `${round(byPolling)} by polling each 2 s: ${round(byPolling / byStream, 1)} times`,
    { clients, seconds, p50, p99, lost, idleClients, idle, quiet, streaming, polling },
    [
      {
        id: `events.p99.${clients}`,
        what: `commit to client, ${clients} streams, p99`,
        ours: p99,
        unit: 'ms',
      },
      { id: `events.lost.${clients}`, what: `events lost, ${clients} streams`, ours: lost, unit: '' },
      { id: `events.idle.${idleClients}`, what: `${idleClients} idle streams`, ours: idle, unit: 'cores' },
      {
        id: `events.client.${clients}`,
        what: 'a client by its stream',
        ours: round(byStream, 1),
        unit: 'µs/s',
        peer: { what: 'by polling each 2 s', value: round(byPolling, 1) },
      },
    ],
  );
} finally {
  await bench.stop();
}
