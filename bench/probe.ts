import { Client, Connection } from '@temporalio/client';
import pLimit from 'p-limit';
import { newId } from '../adapters/ids.js';
import type { Database } from '../adapters/postgres/database.js';
import { createProber } from '../adapters/providers/ssh/prober.js';
import { createShadeformProvider } from '../adapters/providers/shadeform/shadeform.js';
import { machineLimits } from '../domain/machines/limits.js';
import { taskQueues } from '../domain/task-queues.js';
import { readSecrets } from '../lab/stack/secrets.js';
import { cpuSecondsOfTree } from './cpu.js';
import { report, round } from './report.js';
import { insertRichUser, startBenchStack, type BenchStack } from './stack.js';

/**
 * bench:probe. The given number of rentals whose machines are up in the upstream's lists, while their daemons do not
 * answer yet. The worker probes each every 2 seconds. Against the bare prober on the same addresses in this process.
 */
const pods = Number(process.env['BENCH_PODS'] ?? '1000');
const seconds = Number(process.env['BENCH_SECONDS'] ?? '30');

interface Awaited {
  readonly podId: string;
  readonly tag: string;
}

/** Buys machines that never answer: `refused` at once, `silent` after the prober's time limit. */
async function buyPods(bench: BenchStack, ailment: 'sshRefused' | 'sshSilent'): Promise<Awaited[]> {
  const { stack } = bench;
  await fetch(`${stack.urls.provider}/lab/faults`, {
    method: 'POST',
    body: JSON.stringify({ [ailment]: true, bootMs: 50 }),
  });
  const provider = createShadeformProvider({
    code: 'lab',
    url: stack.urls.provider,
    deployment: 'dev',
    apiKey: readSecrets(stack.settings.dataDir).providerKey,
    timeoutMs: 60_000,
  });
  const limit = pLimit(10);
  return Promise.all(
    Array.from({ length: pods }, () =>
      limit(async () => {
        const tag = `dev-${newId('rent')}-1`;
        const request = { offerId: 'vast/RTX4090/texas-usa-1', gpuCount: 1, templateId: 'ubuntu-24-04' };
        const { podId } = await provider.allocate({
          ...request,
          tag,
          maxPricePerHourCents: 40,
          publicKeys: [],
          endBy: null,
        });
        return { podId, tag };
      }),
    ),
  );
}

/** Makes rentals in the state in which the opening leaves them, and starts their workflows as the reviver does. */
async function awaitPods(db: Database, client: Client, awaited: readonly Awaited[]): Promise<void> {
  const { userId } = await insertRichUser(db, 10_000_000);
  const limit = pLimit(20);
  await db('wallets')
    .where({ user_id: userId })
    .update({
      available_cents: db.raw('available_cents - ?', [40 * awaited.length]),
      reserved_cents: 40 * awaited.length,
    });
  const wallet = await db('wallets').where({ user_id: userId }).first();
  const rows = awaited.map(({ podId, tag }) => ({
    id: newId('rent'),
    wallet_id: wallet?.id ?? 0,
    user_id: userId,
    status: 'provisioning' as const,
    family: 'rtx-4090',
    model: 'RTX_4090',
    gpu_count: 1,
    region: 'US, Texas',
    region_code: 'US',
    interconnect: 'pcie',
    template_id: 'ubuntu-24-04',
    ssh_key_ids: [],
    listing_id: newId('lst'),
    provider_code: 'lab',
    tag,
    pod_id: podId,
    price_per_hour_cents: 40,
    hold_cents: 40,
    started_at: db.raw('clock_ms()'),
  }));
  await db.batchInsert('rentals', rows, 200);
  await db.batchInsert(
    'allocation_attempts',
    rows.map((row) => ({
      rental_id: row.id,
      attempt: 1,
      provider_code: 'lab',
      listing_id: row.listing_id,
      offer_id: 'bench',
      tag: row.tag,
      price_per_hour_cents: 40,
      state: 'adopted' as const,
      pod_id: row.pod_id,
    })),
    200,
  );
  await Promise.all(
    rows.map(({ id }) =>
      limit(() =>
        client.workflow.start('rental', {
          workflowId: id,
          taskQueue: taskQueues.rentals,
          args: [{ rentalId: id, durations: { provisionDeadlineMs: 3_600_000 } }],
        }),
      ),
    ),
  );
}

/** Probes the same addresses every 2 seconds and does nothing else: the cost of the probing itself. */
async function bareCores(db: Database): Promise<number> {
  const targets = await db('pods').where({ status: 'active' }).whereNotNull('port').select('host', 'port');
  const prober = createProber(machineLimits.pollMs / 2);
  const [beganMs, began] = [performance.now(), process.cpuUsage()];
  for (let round = 0; round < seconds / 2; round += 1) {
    const nextMs = beganMs + (round + 1) * machineLimits.pollMs;
    await Promise.all(
      targets.map(({ host, port }) =>
        prober.probe({ host: host ?? '', port: port ?? 0, allowPrivate: true }),
      ),
    );
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, nextMs - performance.now())));
  }
  const { user, system } = process.cpuUsage(began);
  return (user + system) / 1_000 / (performance.now() - beganMs);
}

/** Counts the worker's requests to the upstream, by its own budget's counter, which restarts each minute. */
function countRequests(db: Database): { stop(): number } {
  const seen: { points: number | undefined; sum: number } = { points: undefined, sum: 0 };
  const timer = setInterval(() => {
    const query = `select coalesce(sum(points), 0) as points from rate_limits where key like 'upstream-all%'`;
    db.raw<{ rows: { points: number }[] }>(query).then(
      ({ rows }) => {
        const points = rows[0]?.points ?? 0;
        if (seen.points !== undefined) seen.sum += points >= seen.points ? points - seen.points : points;
        seen.points = points;
      },
      () => undefined,
    );
  }, 500);
  return {
    stop() {
      clearInterval(timer);
      return seen.sum;
    },
  };
}

async function measure(ailment: 'sshRefused' | 'sshSilent'): Promise<void> {
  const bench = await startBenchStack();
  const { stack, db } = bench;
  try {
    const connection = await Connection.connect({ address: stack.urls.temporal });
    console.error(`${pods} machines are made …`);
    const awaited = await buyPods(bench, ailment);
    console.error('their rentals are started …');
    await awaitPods(db, new Client({ connection }), awaited);
    await new Promise((resolve) => setTimeout(resolve, 15_000));
    const names = ['worker', 'PostgreSQL', 'Temporal'];
    const cpu = () => names.map((name) => cpuSecondsOfTree(stack.pid(name) ?? 0));
    const requests = countRequests(db);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    const [before, beganMs] = [cpu(), performance.now()];
    await new Promise((resolve) => setTimeout(resolve, seconds * 1_000));
    const took = (performance.now() - beganMs) / 1_000;
    const cores = cpu().map((used, index) => round((used - (before[index] ?? 0)) / took, 3));
    const waiting = await db('rentals')
      .where({ status: 'provisioning' })
      .count<{ count: number }[]>('* as count');
    const perMinute = round((requests.stop() * 60) / took);
    const bare = round(await bareCores(db), 3);
    const [worker = 0, postgres = 0, temporal = 0] = cores;
    report(
      'probe',
      `${pods} machines that are ${ailment === 'sshRefused' ? 'refusing' : 'silent'}: worker ${worker} cores, ` +
        `${round(worker / bare, 1)} times the bare prober (${bare}); Postgres ${postgres}, Temporal ${temporal}; ` +
        `${perMinute} requests a minute to the upstream`,
      {
        pods,
        ailment,
        worker,
        bare,
        postgres,
        temporal,
        perMinute,
        waiting: waiting[0]?.count ?? 0,
      },
      [
        {
          id: `probe.${ailment}.${pods}`,
          what: `worker while ${pods} machines ${ailment === 'sshRefused' ? 'refuse' : 'say nothing'}`,
          ours: worker,
          unit: 'cores',
          peer: { what: 'bare prober', value: bare },
        },
      ],
    );
    await connection.close();
  } finally {
    await bench.stop();
  }
}

await measure('sshRefused');
await measure('sshSilent');
