import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { captureHostKey } from '../../adapters/providers/ssh/ssh-probe.js';
import { verifyLedger } from '../../adapters/postgres/ledger/verify.js';
import type { RentalId } from '../../domain/ids.js';
import type { FaultsBody } from '../../lab/provider/fault-bodies.js';
import type { SignedIn } from '../support/http/api.js';
import { startService, type TestService } from '../support/service/living-service.js';
import { netCents, Renting } from '../support/story/renting.js';
import { takeChances, type Chances } from '../support/seeded.js';
import { runUpkeepRound } from '../support/service/upkeep-round.js';
import { tellingHistories } from '../support/service/told-histories.js';
import { until } from '../support/until.js';

const rentals = Number(process.env['FAULT_RENTALS'] ?? '60');
/** The number of users who rent at once, each one machine after the other. */
const atOnce = 10;
const startCents = 50_000;

/** Every fault of the lab that may strike around one create. */
const faults: readonly FaultsBody[] = [
  {},
  { noCapacity: 1 },
  { noCapacity: 3 },
  { loseCreateAnswer: 1 },
  { failCreateAfterMake: 1 },
  { failRequest: { times: 1, on: ['create'] } },
  { late404: { times: 1, forMs: 1_500 } },
  { listLag: { times: 1, forMs: 1_500 } },
  { loseCreateAnswer: 1, listLag: { times: 1, forMs: 6_000 } },
  { bootNever: 1 },
  { sshSilent: 1 },
  { sshRefused: 1 },
  { crashAfter: { times: 1, afterMs: 0, mode: 'error' } },
  { crashAfter: { times: 1, afterMs: 700, mode: 'error' } },
  { crashAfter: { times: 1, afterMs: 1_200, mode: 'preempted' } },
  { crashAfter: { times: 1, afterMs: 1_700, mode: 'vanish' } },
  { failDelete: 4 },
  { failRequest: { times: 3, on: ['delete'] } },
  { deleteMs: 2_500 },
  { deleteMs: 20 },
  { rateLimitCreate: 1 },
  { rateLimit: { times: 2, on: ['create', 'delete'], retryAfterSeconds: 1 } },
  { rateLimit: { times: 1, on: ['list'], retryAfterSeconds: 1 } },
  { failRequest: { times: 4, on: ['list', 'offers'] } },
  { priceChange: { times: 1, percent: 25 } },
  { soldTwice: 1 },
  { reuseAddress: { times: 1, forMs: 1_500 } },
];

const machines = [
  { familyId: 'rtx-4090', gpuCount: 1 },
  { familyId: 'a100-80gb', gpuCount: 1 },
  { familyId: 'l40s', gpuCount: 1 },
  { familyId: 'h100-80gb', gpuCount: 1 },
];

interface Plan {
  readonly fault: FaultsBody;
  readonly machine: (typeof machines)[number];
  /** When the renter stops it, in milliseconds after its opening; null leaves it running. */
  readonly stopAfterMs: number | null;
}

function planOf(chances: Chances, index: number): Plan {
  return {
    // Each fault comes at least twice in sixty; the rest is drawn.
    fault: faults[index < 2 * faults.length ? index % faults.length : chances.below(faults.length)] ?? {},
    machine: machines[chances.below(machines.length)] ?? machines[0]!,
    stopAfterMs: chances.below(3) === 0 ? chances.below(4_000) : null,
  };
}

describe(`${rentals} rentals while the upstreams do everything wrong`, function () {
  this.timeout(900_000);
  let service: TestService;
  let renting: Renting;
  const opened: { id: RentalId; user: SignedIn }[] = [];
  before(async () => {
    service = await startService({
      ...{ dialects: ['shadeform', 'runpod'], bootMs: 300 },
      // The failures here are ordered and no user's doing.
      freeMachines: { freeCents: 1_000_000 },
    });
    renting = new Renting(service);
  });
  after(() => service.stop());

  async function rent({ fault, machine, stopAfterMs }: Plan, user: SignedIn): Promise<void> {
    await service.gpus.faults(fault);
    // A refusal for now (no capacity, an upstream that is out): the renter tries again.
    const id = await until(
      'a machine is had',
      async () =>
        renting
          .openDirectly(user, machine, { provisionDeadlineMs: 6_000, unknownFindMs: 4_000 })
          .catch(async () => sleep(500, undefined)),
      120_000,
    );
    opened.push({ id, user });
    if (stopAfterMs === null) return;
    await sleep(stopAfterMs);
    await user.post(`/v1/rentals/${id}/stop`);
  }

  /** Does the work of time: makes all that was left open old enough for the sweeper. */
  async function sweep(): Promise<void> {
    const { db } = service;
    const ago = `- interval '1 hour'`;
    await db('allocation_attempts').update({
      created_at: db.raw(`created_at ${ago}`),
      changed_at: db.raw(`changed_at ${ago}`),
    });
    await db('pods').update({ first_seen_at: db.raw(`first_seen_at ${ago}`), probed_at: null });
    await runUpkeepRound(service, 'sweep');
  }

  const alive = async () => (await service.gpus.state()).pods.filter(({ status }) => status !== 'deleted');

  it('leave no user without their machine or their money, and no machine without a renter', async () => {
    const chances = takeChances('upstreams');
    const plans = Array.from({ length: rentals }, (_, index) => planOf(chances, index));
    const users = await Promise.all(Array.from({ length: atOnce }, () => service.signIn(startCents)));
    await Promise.all(
      users.map(async (user, index) => {
        for (let n = index; n < plans.length; n += atOnce) await rent(plans[n]!, user);
      }),
    );
    await service.gpus.clearFaults();
    await service.gpus.faults({ deleteMs: 20 });
    assert.equal(opened.length, rentals);

    const unfinished = () =>
      service.db('rentals').whereNull('closed_at').whereNot({ status: 'running' }).select('id');
    await tellingHistories(service.db, () =>
      until('every rental runs, or is closed', async () => (await unfinished()).length === 0, 120_000).catch(
        async (error: unknown) => {
          throw new Error(`${String(error)}: ${JSON.stringify(await unfinished())}`, { cause: error });
        },
      ),
    );
    await until(
      'the upstreams have the running machines and no other',
      async () => {
        await sweep();
        await sleep(1_000);
        const running = await service.db('rentals').where({ status: 'running' });
        const wanted = running.map(({ pod_id }) => pod_id).sort();
        const unasked = await service
          .db('pods')
          .whereIn('pod_id', wanted as string[])
          .whereNull('probed_at');
        if (unasked.length > 0) return false;
        return JSON.stringify((await alive()).map(({ id }) => id).sort()) === JSON.stringify(wanted);
      },
      60_000,
    );
    await tellingHistories(service.db, assertSettled);
    await stopAll();
    assert.deepEqual(await alive(), []);
    assert.deepEqual(await verifyLedger(service.db), []);
  });

  async function assertSettled(): Promise<void> {
    const rows = await service.db('rentals_now');
    const outcomes = new Map<string, number>();
    for (const row of rows) {
      outcomes.set(row.status, (outcomes.get(row.status) ?? 0) + 1);
      if (row.status === 'running') {
        const target = { host: row.host!, port: row.port!, allowPrivate: true, timeoutMs: 2_000 };
        assert.equal(await captureHostKey(target), row.host_key_fingerprint, `${row.id} answers`);
      } else {
        assert.equal(row.hold_cents, 0, `${row.id} holds nothing`);
        if (row.status === 'failed') assert.equal(netCents(row), 0, `${row.id} cost nothing`);
      }
    }
    process.stdout.write(`    ${JSON.stringify(Object.fromEntries(outcomes))}\n`);
    assert.deepEqual(await verifyLedger(service.db), []);
  }

  async function stopAll(): Promise<void> {
    for (const { id, user } of opened) await user.post(`/v1/rentals/${id}/stop`);
    await until(
      'all is closed',
      async () => (await service.db('rentals').whereNull('closed_at')).length === 0,
      60_000,
    );
    await until('no machine is left', async () => (await alive()).length === 0, 30_000);
  }
});
