import { fileURLToPath } from 'node:url';
import { Client, Connection, WithStartWorkflowOperation } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import { percentile, report, round } from './report.js';
import { insertRichUser, startBenchStack, type BenchStack } from './stack.js';

/**
 * bench:create. POST /v1/rentals against Temporal's own floor: an update-with-start whose one activity does nothing.
 * Both run in turn on the same server, with the same number of callers at once.
 */
const rounds = Number(process.env['BENCH_ROUNDS'] ?? '6');
const perRound = Number(process.env['BENCH_CREATES'] ?? '40');
const callers = Number(process.env['BENCH_CALLERS'] ?? '4');

interface Series {
  readonly ms: number[];
  seconds: number;
}

/** Calls `once` perRound times, a number of them at a time, and adds the duration of each call. */
async function run(series: Series, once: (index: number) => Promise<void>): Promise<void> {
  const begun = performance.now();
  const next = { index: 0 };
  await Promise.all(
    Array.from({ length: callers }, async () => {
      while (next.index < perRound) {
        const index = next.index++;
        const started = performance.now();
        await once(index);
        series.ms.push(performance.now() - started);
      }
    }),
  );
  series.seconds += (performance.now() - begun) / 1_000;
}

async function createRental(bench: BenchStack, cookie: string): Promise<void> {
  const response = await fetch(`${bench.stack.urls.api}/v1/rentals`, {
    method: 'POST',
    headers: { cookie, 'content-type': 'application/json' },
    body: JSON.stringify({ familyId: 'rtx-4090', gpuCount: 1 }),
  });
  if (response.status !== 200)
    throw new Error(`POST /v1/rentals: ${response.status} ${await response.text()}`);
  await response.text();
}

function figures({ ms, seconds }: Series): Record<string, number> {
  return {
    p50Ms: round(percentile(ms, 0.5), 1),
    p99Ms: round(percentile(ms, 0.99), 1),
    perSecond: round(ms.length / seconds, 1),
  };
}

const bench = await startBenchStack();
try {
  const address = bench.stack.urls.temporal;
  const connection = await NativeConnection.connect({ address });
  const client = new Client({ connection: await Connection.connect({ address }) });
  const worker = await Worker.create({
    connection,
    taskQueue: 'bench',
    workflowsPath: fileURLToPath(new URL('./noop-workflow.ts', import.meta.url)),
    activities: { nothing: () => Promise.resolve() },
  });
  const product: Series = { ms: [], seconds: 0 };
  const floor: Series = { ms: [], seconds: 0 };
  await worker.runUntil(async () => {
    for (let turn = 0; turn <= rounds; turn += 1) {
      // The first turn warms both up and is not counted.
      const [ours, theirs] =
        turn === 0
          ? [
              { ms: [], seconds: 0 },
              { ms: [], seconds: 0 },
            ]
          : [product, floor];
      const users = await Promise.all(
        Array.from({ length: perRound }, () => insertRichUser(bench.db, 100_000)),
      );
      await run(ours, (index) => createRental(bench, users[index]?.cookie ?? ''));
      await run(theirs, async (index) => {
        const start = new WithStartWorkflowOperation('noop', {
          workflowId: `noop-${turn}-${index}`,
          taskQueue: 'bench',
          workflowIdConflictPolicy: 'FAIL',
        });
        await client.workflow.executeUpdateWithStart('done', { startWorkflowOperation: start });
      });
    }
  });
  await Promise.all([connection.close(), client.connection.close()]);
  const [ours, theirs] = [figures(product), figures(floor)];
  const ratio = round((ours['p50Ms'] ?? 0) / (theirs['p50Ms'] ?? 1), 2);
  report(
    'create',
    `POST /v1/rentals p50 ${String(ours['p50Ms'])} ms, p99 ${String(ours['p99Ms'])} ms, ${String(ours['perSecond'])}/s; floor p50 ${String(theirs['p50Ms'])} ms: ${ratio} times the floor`,
    { callers, product: ours, floor: theirs, ratioToFloor: ratio },
  );
} finally {
  await bench.stop();
}
