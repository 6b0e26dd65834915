import assert from 'node:assert/strict';
import { ApplicationFailure } from '@temporalio/activity';
import { defaultPayloadConverter } from '@temporalio/common';
import { NativeConnection, type Worker } from '@temporalio/worker';
import { pino } from 'pino';
import type { Activities } from '../../../activities/index.js';
import { newId } from '../../../adapters/ids.js';
import { rentalLimits } from '../../../domain/rentals/limits.js';
import { lookSignal, processorEventSignal } from '../../../workflows/contracts/signals.js';
import { taskQueues } from '../../../domain/task-queues.js';
import { createWorkers } from '../../../worker/workers.js';
import { createTestNamespace, type TestNamespace } from '../../support/servers/namespace.js';
import { until } from '../../support/until.js';
import { getBundle } from '../../support/service/workers.js';
import { onlyWaits } from '../../support/workflows/only-waits.js';

const waiting = (): Promise<object> =>
  Promise.resolve({ state: 'waiting', status: 'waiting', summary: 'it waits', nextLookMs: 60_000 });
const atOnce = (): Promise<void> => Promise.resolve();
const failing = (): Promise<never> => Promise.reject(ApplicationFailure.nonRetryable('it is broken'));

/** A rental whose row can't be read; every other one runs. */
const brokenRental = newId('rent');
const isBroken = (rentalId: string): boolean => rentalId === brokenRental;

/**
 * Each answers at once and leaves everything to be done again. Loops grow by themselves, all others by their signals.
 */
const stubs = {
  ...{ lookAtTopup: waiting, lookAtAutoTopup: waiting, lookAtInvoice: waiting, lookAtPayment: waiting },
  ...{ lookAtCard: waiting, lookAtRefund: waiting, lookAtDispute: waiting },
  ...{ lookAtWebhook: waiting, wakeWebhooks: atOnce },
  ...{ runMeter: atOnce, runSequencer: atOnce, watchProvider: atOnce, deliverMails: atOnce },
  runUpkeep: atOnce,
  lookAtRental: (rentalId: string) =>
    isBroken(rentalId) ? failing() : Promise.resolve({ phase: 'running', facts: null, summary: 'it runs' }),
  meterRental: () => Promise.resolve({ nextLookMs: 60_000 }),
} as unknown as Activities;

/** Every run that goes on as long as there is something to do, with the input that its next generation must get. */
const runs: readonly { type: string; input: object; signal?: string; of?: string }[] = [
  {
    type: 'rental',
    ...{ input: { rentalId: newId('rent'), durations: { beltMs: 1_234 } }, signal: lookSignal.name },
  },
  {
    ...{ type: 'rental', of: ' that can take no step' },
    ...{ input: { rentalId: brokenRental, durations: { beltMs: 1_234 } }, signal: lookSignal.name },
  },
  ...[
    { type: 'topup', input: { topupId: newId('top'), askAfterMs: [5] } },
    { type: 'autoTopup', input: { userId: newId('usr'), askAfterMs: [5] } },
    { type: 'invoice', input: { invoiceId: newId('inv'), dayMs: 1_000 } },
    ...['payment', 'card', 'refund', 'dispute'].map((type) => ({
      ...{ type, input: { id: `${type}_1`, askAfterMs: [5] } },
    })),
  ].map((run) => ({ ...run, signal: processorEventSignal.name })),
  { type: 'webhook', input: { webhookId: newId('wh') }, signal: lookSignal.name },
  { type: 'meter', input: { shard: 1, runMs: 10 } },
  { type: 'providerWatch', input: { code: 'lab', runMs: 10 } },
  { type: 'mailer', input: { runMs: 10 } },
  { type: 'sequencer', input: { runMs: 10 } },
  { type: 'webhookWaker', input: { runMs: 10 } },
  { type: 'upkeep', input: { duty: 'sweep', runMs: 10 } },
];

/** All defaults that a rental adds are passed on. */
const defaults = {
  ...{ provisionDeadlineMs: rentalLimits.provisionDeadlineMs, unknownFindMs: rentalLimits.unknownFindMs },
};

describe('runs that go on for ever', () => {
  let namespace: TestNamespace;
  let connection: NativeConnection;
  let workers: Worker[];
  let ended: Promise<unknown>;
  /** The loops, which grow by themselves, all at once. */
  let loops: Map<string, Awaited<ReturnType<typeof start>>>;

  before(async () => {
    namespace = await createTestNamespace();
    connection = await NativeConnection.connect({ address: namespace.address });
    workers = await createWorkers({
      ...{ connection, namespace: namespace.name, bundle: await getBundle(), activities: stubs },
      ...{ log: pino({ level: 'silent' }), shutdownGraceMs: 100 },
    });
    ended = Promise.all(workers.map((worker) => worker.run()));
    loops = new Map();
    for (const { type, input, signal } of runs) {
      if (signal === undefined) loops.set(type, await start(type, input));
    }
  });
  after(async () => {
    for (const worker of workers) worker.shutdown();
    await ended;
    await connection.close();
    await namespace.close();
  });

  const start = (type: string, input: object) =>
    namespace.client.workflow.start(type, {
      ...{ workflowId: `${type}-${newId('op')}`, taskQueue: taskQueues.rentals, args: [input] },
    });

  for (const { type, input, signal, of = '' } of runs) {
    it(`${type}${of}: a new one goes on with the same input, long before the server's limits`, async () => {
      const { workflowId, firstExecutionRunId } = loops.get(type) ?? (await start(type, input));
      const first = namespace.client.workflow.getHandle(workflowId, firstExecutionRunId);
      const { historyLength } = await until(
        'it has continued as new',
        async () => {
          const described = await first.describe();
          // It gets no more signals than it needs, however slow the machine is: a signal in its last task keeps it.
          if (signal !== undefined && described.historyLength <= 1_000) await poke(workflowId, signal, 50);
          // What its last task wrote may have taken a run above its limit, and only another task notices.
          else if (signal !== undefined && onlyWaits(described)) await poke(workflowId, signal, 1);
          return described.status.name === 'CONTINUED_AS_NEW' && described;
        },
        // A thousand events take as long as the server takes to write them.
        180_000,
      );
      // A look and its signals end before the run does, so it has somewhat more than 1,000 events.
      assert.ok(historyLength > 1_000 && historyLength < 1_500, `${historyLength} events`);
      const next = namespace.client.workflow.getHandle(workflowId);
      assert.equal((await next.describe()).status.name, 'RUNNING');
      assert.deepEqual(await inputOfNext(workflowId, firstExecutionRunId), toldTo(type, input));
      await next.terminate('seen');
    });
  }

  /** The input of the run after this one. */
  async function inputOfNext(workflowId: string, runId: string): Promise<unknown> {
    const { events } = await namespace.client.workflow.getHandle(workflowId, runId).fetchHistory();
    const continued = events?.at(-1)?.workflowExecutionContinuedAsNewEventAttributes;
    const [payload] = continued?.input?.payloads ?? [];
    return payload ? defaultPayloadConverter.fromPayload(payload) : undefined;
  }

  const toldTo = (type: string, input: object): object =>
    type === 'rental' ? { ...input, durations: { ...defaults, beltMs: 1_234 } } : input;

  async function poke(workflowId: string, signal: string, times: number): Promise<void> {
    const handle = namespace.client.workflow.getHandle(workflowId);
    await Promise.all(Array.from({ length: times }, () => handle.signal(signal)));
  }
});
