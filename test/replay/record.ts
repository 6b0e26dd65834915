/**
 * Records the histories that replay.test.ts replays, from real runs against the lab:
 *
 *   node --import tsx test/replay/record.ts            all of them
 *   node --import tsx test/replay/record.ts rental     those whose file begins so
 *
 * A change to a workflow that may have open runs comes with `patched()`. Keep the old recording beside the new one,
 * under a name of its own, until the old runs have ended.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { confirmDatabase, readWatermark } from '../../adapters/postgres/restore/watermark.js';
import { signalWatermark, readKeptWatermark } from '../../adapters/temporal/watermark.js';
import { newId } from '../../adapters/ids.js';
import type { RentalId } from '../../domain/ids.js';
import { watermarkWorkflowId } from '../../workflows/contracts/watermark.js';
import { taskQueues } from '../../domain/task-queues.js';
import { startService, type TestService } from '../support/service/living-service.js';
import { b200, l40s, Renting } from '../support/story/renting.js';
import { Paying } from '../support/story/paying.js';
import { placeOrder } from '../support/ops/operators.js';
import { stopTestServers } from '../support/servers/started-servers.js';
import { until } from '../support/until.js';
import { webhookStories } from './webhook-stories.js';
import { historiesDir } from './histories.js';
import { ended, paymentStories, type Story } from './payment-stories.js';

/** The stories by file name; each returns the id of the workflow whose history is kept. */
const stories: Record<string, Story> = {
  'rental.stopped': async (service, renting) => {
    const user = await service.signIn(10_000);
    const { id } = await renting.run(user, b200);
    await renting.stop(user, id);
    return closed(service, renting, id);
  },
  'rental.stopped-by-limit': async (service, renting) => {
    const user = await service.signIn(10_000);
    return closed(service, renting, await renting.open(user, b200, { maxSpendCents: 1 }));
  },
  'rental.stopped-while-provisioning': async (service, renting) => {
    await service.gpus.faults({ bootMs: 60_000 });
    const user = await service.signIn(10_000);
    const id = await renting.open(user, b200);
    await renting.stop(user, id);
    return closed(service, renting, id);
  },
  'rental.changed': async (service, renting) => {
    const user = await service.signIn(10_000);
    const { id } = await renting.run(user, b200);
    await user.patch(`/v1/rentals/${id}`, { maxSpendCents: 5_000 });
    await user.patch(`/v1/rentals/${id}`, { maxSpendCents: 1 });
    await user.patch(`/v1/rentals/${id}`, { maxSpendCents: 5_000 });
    return closed(service, renting, id);
  },
  'rental.failed': async (service, renting) => {
    await service.gpus.faults({ bootNever: 1 });
    const user = await service.signIn(10_000);
    return closed(service, renting, await renting.openDirectly(user, b200, { provisionDeadlineMs: 300 }));
  },
  'rental.next-machine': async (service, renting) => {
    const user = await service.signIn(10_000);
    const id = await renting.open(user, b200);
    // The machine says that it is bad before it is up, and no other one is for sale.
    await until('its machine is known', async () => (await renting.row(id)).pod_id !== null);
    const [attempt] = await service.db('allocation_attempts').where({ rental_id: id });
    const body = 'gpu-proof 1 0\nTesla T4, 15360 MiB, 0, 570.133.20, [N/A]\n';
    await service.db('machine_reports').insert({ attempt_id: attempt?.id ?? 0, no: 1, body });
    return closed(service, renting, id);
  },
  'rental.pod-lost': async (service, renting) => {
    const { id, pod_id } = await renting.run(await service.signIn(10_000), b200);
    await service.gpus.crash(pod_id ?? '');
    return closed(service, renting, id);
  },
  'rental.refused': async (service) => {
    const user = await service.signIn();
    await user.post('/v1/rentals', { familyId: 'b200', gpuCount: 8 });
    const { workflow } = service.temporal;
    const query = `WorkflowType = 'rental' AND UserId = '${user.user.id}' AND ExecutionStatus = 'Completed'`;
    return until('the refused run is listed', async () => {
      for await (const { workflowId } of workflow.list({ query })) return workflowId;
      return undefined;
    });
  },
  'rental.looked-for': async (service, renting) => {
    // The pod is not known yet when the workflow takes the rental up: its row is that of a create with a lost answer.
    await service.gpus.faults({ bootMs: 60_000 });
    const user = await service.signIn(10_000);
    const id = await renting.open(user, l40s);
    await service.temporal.workflow.getHandle(id).terminate('recording');
    const { db } = service;
    await db('rentals').where({ id }).update({ pod_id: null });
    await db('allocation_attempts').where({ rental_id: id }).update({ state: 'open', pod_id: null });
    await startAgain(service, id);
    await until('it was found', async () => (await renting.row(id)).pod_id !== null);
    await renting.stop(user, id);
    return closed(service, renting, id);
  },
  ...paymentStories,
  ...webhookStories,
  'meter.running': (service) => loop(service, 'meter', { shard: 0, runMs: 500 }),
  'meter.retired': (service) => once(service, 'meter', { shard: 1 }),
  'providerWatch.running': (service) => loop(service, 'providerWatch', { code: 'lab', runMs: 500 }),
  'providerWatch.not-configured': (service) => once(service, 'providerWatch', { code: 'nobody' }),
  'mailer.running': (service) => loop(service, 'mailer', { runMs: 500 }),
  'webhookWaker.running': (service) => loop(service, 'webhookWaker', { runMs: 500 }),
  'sequencer.running': (service) => loop(service, 'sequencer', { runMs: 500 }),
  'upkeep.running': (service) => loop(service, 'upkeep', { duty: 'redeliver', runMs: 500 }),
  'backfill.done': (service) => once(service, 'backfill'),
  'reconcile.agrees': (service) => once(service, 'reconcile', { scope: 'window' }),
  'reconcile.findings': async (service) => {
    // The wallet holds money without a charge.
    await service.signIn(500);
    return once(service, 'reconcile', { scope: 'full', graceMs: 0, confirmMs: 50 });
  },
  'watermark.raised': async (service) => {
    const { workflow } = service.temporal;
    for (let minute = 1; minute <= 3; minute += 1) {
      await signalWatermark(workflow, minute);
      await until('it is shown', async () => (await readKeptWatermark(workflow)) === minute);
    }
    return watermarkWorkflowId;
  },
  'restore.looked': (service) => once(service, 'restore', {}),
  // These come last: they leave their database behind Temporal's watermark, and mend it.
  'restore.in-rows': async (service) => {
    const { value } = await readWatermark(service.db);
    await signalWatermark(service.temporal.workflow, value + 60);
    await until('it is shown', async () => {
      const kept = await readKeptWatermark(service.temporal.workflow);
      return kept === value + 60;
    });
    await confirmDatabase(service.db, value + 60);
    const action = { kind: 'reconcile_restored', withoutSilentUpstreams: false } as const;
    const operationId = await placeOrder(service.db, action);
    return once(service, 'restore', { reconcile: { operationId, withoutSilentUpstreams: false } });
  },
};

async function closed(service: TestService, renting: Renting, id: RentalId): Promise<string> {
  await renting.awaitClosed(id);
  return ended(service, id);
}

async function startAgain(service: TestService, rentalId: RentalId): Promise<void> {
  await service.temporal.workflow.start('rental', {
    ...{ workflowId: rentalId, taskQueue: taskQueues.rentals, args: [{ rentalId }] },
    workflowIdReusePolicy: 'ALLOW_DUPLICATE',
  });
}

async function once(service: TestService, type: string, input?: object): Promise<string> {
  const workflowId = `${type}-${newId('rent')}`;
  const args = input === undefined ? [] : [input];
  await service.temporal.workflow.execute(type, { workflowId, taskQueue: taskQueues.rentals, args });
  return workflowId;
}

/** Records a loop, which never ends: its history is kept as soon as it has gone round twice. */
async function loop(service: TestService, type: string, input: object): Promise<string> {
  const workflowId = `${type}-${newId('rent')}`;
  const { workflow } = service.temporal;
  const handle = await workflow.start(type, { workflowId, taskQueue: taskQueues.rentals, args: [input] });
  await until(`${type} has gone round twice`, async () => {
    const { events } = await handle.fetchHistory();
    return (events ?? []).filter((event) => event.activityTaskCompletedEventAttributes).length >= 2;
  });
  return workflowId;
}

/** Removes the traces of the recording machine, which no replay needs. */
function withoutTraces(json: string): string {
  const plain: unknown = JSON.parse(json, (key, value: unknown) => {
    if (key === 'stackTrace') return '';
    return typeof value === 'string' ? value.replaceAll(hostname(), 'recorder') : value;
  });
  return `${JSON.stringify(plain, null, 1)}\n`;
}

const wanted = Object.entries(stories).filter(([name]) => name.startsWith(process.argv[2] ?? ''));
mkdirSync(historiesDir, { recursive: true });
try {
  const service = await startService({ autoTopupCooldownMs: 1_000 });
  try {
    const renting = new Renting(service);
    for (const [name, play] of wanted) {
      const workflowId = await play(service, renting, new Paying(service));
      const history = await service.temporal.workflow.getHandle(workflowId).fetchHistory();
      writeFileSync(new URL(`${name}.json`, historiesDir), withoutTraces(historyToJSON(history)));
      process.stdout.write(`${name}: ${history.events?.length ?? 0} events\n`);
      await service.gpus.clearFaults();
      await service.gpus.faults({ bootMs: 100 });
    }
  } finally {
    await service.stop();
  }
} finally {
  await stopTestServers();
}
