import { fileURLToPath } from 'node:url';
import { Client, Connection, WithStartWorkflowOperation } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import type { Knex } from 'knex';
import { ratioOfTurns, toldMedian, type MedianOfTurns } from '../median.js';
import { percentile, report, round, type Figure } from '../report.js';
import { insertRichUser, startBenchStack, type BenchStack } from '../stack.js';
import { startTemporalOverPostgres, type BenchTemporal } from './temporal-over-postgres.js';

/**
 * bench:create. POST /v1/rentals against Temporal's own floor: an update-with-start whose one activity does nothing.
 * Both run turn by turn on the same server, with the same number of callers at once, first on Temporal's dev server and
 * then on a Temporal server over PostgreSQL. Each turn gives one ratio; of them the median counts, with its interval.
 */
const turns = Number(process.env['BENCH_ROUNDS'] ?? '10');
const perTurn = Number(process.env['BENCH_CREATES'] ?? '40');
const callers = Number(process.env['BENCH_CALLERS'] ?? '4');
const servers = (process.env['BENCH_SERVERS'] ?? 'dev,postgres').split(',');

/** One turn of one side: how long each call took, in milliseconds, and all of them together, in seconds. */
interface Turn {
  readonly ms: readonly number[];
  readonly seconds: number;
}

/** Makes `perTurn` calls, a number of them at a time. */
async function play(once: (index: number) => Promise<void>): Promise<Turn> {
  const begun = performance.now();
  const next = { index: 0 };
  const ms: number[] = [];
  await Promise.all(
    Array.from({ length: callers }, async () => {
      while (next.index < perTurn) {
        const index = next.index++;
        const started = performance.now();
        await once(index);
        ms.push(performance.now() - started);
      }
    }),
  );
  return { ms, seconds: (performance.now() - begun) / 1_000 };
}

async function openRental({ stack }: BenchStack, cookie: string): Promise<string> {
  const response = await fetch(`${stack.urls.api}/v1/rentals`, {
    method: 'POST',
    headers: { cookie, 'content-type': 'application/json' },
    body: JSON.stringify({ familyId: 'rtx-4090', gpuCount: 1 }),
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`POST /v1/rentals: ${response.status} ${text}`);
  return (JSON.parse(text) as { id: string }).id;
}

/** Lets all rentals run, ends them and waits until their machines are gone: nothing of a turn is left in the next one. */
async function endAll({ stack, db }: BenchStack, opened: ReadonlyMap<string, string>): Promise<void> {
  await untilNone(db('rentals').where({ status: 'provisioning' }), 'are provisioned');
  for (const [id, cookie] of opened) {
    const url = `${stack.urls.api}/v1/rentals/${id}/stop`;
    await (await fetch(url, { method: 'POST', headers: { cookie } })).text();
  }
  await untilNone(db('rentals').whereNull('closed_at'), 'are not closed');
}

async function untilNone(rows: Knex.QueryBuilder, what: string): Promise<void> {
  const deadline = performance.now() + 180_000;
  while ((await rows.clone().first('id')) !== undefined) {
    if (performance.now() > deadline) throw new Error(`after three minutes rentals still ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
}

interface Side {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly perSecond: number;
}

function sideOf(all: readonly Turn[]): Side {
  const ms = all.flatMap((turn) => turn.ms);
  const seconds = all.reduce((sum, turn) => sum + turn.seconds, 0);
  return {
    p50Ms: round(percentile(ms, 0.5), 1),
    p99Ms: round(percentile(ms, 0.99), 1),
    perSecond: round(ms.length / seconds, 1),
  };
}

interface Measured {
  readonly product: Side;
  readonly floor: Side;
  /** Of the latencies' medians, turn by turn: ours by the floor's. */
  readonly latency: MedianOfTurns;
  /** Of the calls a second, turn by turn: ours by the floor's. */
  readonly rate: MedianOfTurns;
  /** The events in the history of a rental that was opened, ran, and was stopped by its user. */
  readonly events: number;
}

/** Measures on one server. The sides take turns, and take turns at who begins. */
async function measure(bench: BenchStack, client: Client): Promise<Measured> {
  const ours: Turn[] = [];
  const floor: Turn[] = [];
  const events: number[] = [];
  for (let turn = 0; turn <= turns; turn += 1) {
    const users = await Promise.all(Array.from({ length: perTurn }, () => insertRichUser(bench.db, 100_000)));
    const opened = new Map<string, string>();
    const sides = [
      async () => {
        const played = await play(async (index) => {
          const cookie = users[index]?.cookie ?? '';
          opened.set(await openRental(bench, cookie), cookie);
        });
        await endAll(bench, opened);
        return played;
      },
      () =>
        play(async (index) => {
          const start = new WithStartWorkflowOperation('noop', {
            workflowId: `noop-${turn}-${index}`,
            taskQueue: 'bench',
            workflowIdConflictPolicy: 'FAIL',
          });
          await client.workflow.executeUpdateWithStart('done', { startWorkflowOperation: start });
        }),
    ] as const;
    const isFloorFirst = turn % 2 === 1;
    const first = await sides[isFloorFirst ? 1 : 0]();
    const second = await sides[isFloorFirst ? 0 : 1]();
    // The first turn warms both up and is not counted.
    if (turn === 0) continue;
    ours.push(isFloorFirst ? second : first);
    floor.push(isFloorFirst ? first : second);
    const [id = ''] = opened.keys();
    events.push((await client.workflow.getHandle(id).describe()).historyLength);
  }
  return {
    product: sideOf(ours),
    floor: sideOf(floor),
    latency: ratioOfTurns(ours, floor, ({ ms }) => percentile(ms, 0.5)),
    rate: ratioOfTurns(ours, floor, ({ ms, seconds }) => ms.length / seconds),
    events: Math.max(...events),
  };
}

async function measureOn(temporal: BenchTemporal | undefined): Promise<Measured> {
  const bench = await startBenchStack(temporal && { TEMPORAL_ADDRESS: temporal.address });
  try {
    const address = temporal?.address ?? bench.stack.urls.temporal;
    const connection = await NativeConnection.connect({ address });
    const client = new Client({ connection: await Connection.connect({ address }) });
    const worker = await Worker.create({
      connection,
      taskQueue: 'bench',
      workflowsPath: fileURLToPath(new URL('./noop-workflow.ts', import.meta.url)),
      activities: { nothing: () => Promise.resolve() },
    });
    const measured = await worker.runUntil(measure(bench, client));
    await Promise.all([connection.close(), client.connection.close()]);
    return measured;
  } finally {
    await bench.stop();
  }
}

function figuresOf(id: string, on: string, { product, floor, latency, events }: Measured): Figure[] {
  const bare = (value: number) => ({ what: 'bare update-with-start', value });
  return [
    ...(['p50Ms', 'p99Ms'] as const).map((part) => ({
      ...{ id: `${id}.${part}`, what: `POST /v1/rentals, ${part.slice(0, 3)}, ${on}` },
      ...{ ours: product[part], unit: 'ms', peer: bare(floor[part]) },
    })),
    {
      ...{ id: `${id}.perSecond`, what: `rentals opened a second, ${on}` },
      ...{ ours: product.perSecond, unit: '/s', peer: bare(floor.perSecond) },
    },
    {
      id: `${id}.ratio`,
      what: `POST /v1/rentals by the floor, median of turns, ${on}`,
      ours: round(latency.median, 3),
      unit: '',
    },
    { id: `${id}.events`, what: `events of a rental's life, ${on}`, ours: events, unit: '' },
  ];
}

function tell(id: string, on: string, measured: Measured): void {
  const { product, floor, latency, rate, events } = measured;
  report(
    id,
    `${on}: POST /v1/rentals p50 ${product.p50Ms} ms, p99 ${product.p99Ms} ms, ${product.perSecond}/s; floor p50 ` +
      `${floor.p50Ms} ms, ${floor.perSecond}/s; latency by the floor's ${toldMedian(latency)}, rate ${toldMedian(rate)}; ` +
      `${events} events a life`,
    { callers, perTurn, ...measured },
    figuresOf(id, on, measured),
  );
}

if (servers.includes('dev')) tell('create', 'dev server', await measureOn(undefined));
if (servers.includes('postgres')) await measureOverPostgres();

async function measureOverPostgres(): Promise<void> {
  const temporal = await startTemporalOverPostgres((line) => console.error(line)).catch((error: unknown) => {
    console.log(
      `create: not measured over PostgreSQL: ${error instanceof Error ? error.message : String(error)}`,
    );
    return undefined;
  });
  if (temporal === undefined) return;
  try {
    tell('create.postgres', temporal.what, await measureOn(temporal));
  } finally {
    await temporal.stop();
  }
}
